"""Tests that compare a kernel's IR with the lines of LLVM's FileCheck in its source. The IR is Nacre's own: tile IR."""

import functools
import inspect

from .compiler.compiler import compile
from .runtime.jit import JITFunction

stub_target = None  # the active driver's


class MatchError(ValueError):
    """A text that is not as expected; `module_str` is the text."""

    def __init__(self, message, module_str):
        super().__init__(message)
        self.module_str = module_str

    def __str__(self):
        return f"{super().__str__()}\n{self.module_str}"


def _program():
    import glob
    import shutil

    found = shutil.which("FileCheck") or next(iter(sorted(glob.glob("/usr/lib/llvm-*/bin/FileCheck"), reverse=True)), None)
    if found is None:
        raise RuntimeError("FileCheck is not there: install LLVM's tools, and put their folder on the PATH")
    return found


def run_filecheck(name, module_str, check_template):
    """An error, with what FileCheck says, where the text is not as the template's lines ask."""
    import os
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        expected = os.path.join(folder, "expected")
        with open(expected, "w") as file:
            file.write(check_template)
        command = [_program(), expected, "--dump-input-context=50"]
        ended = subprocess.run(command, input=module_str, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode != 0:
        raise MatchError(ended.stdout, module_str)


class ParsedModule:
    """The IR of a kernel."""

    def __init__(self, text):
        self._text = text

    def str_nodebug(self):
        """Without the places in the source."""
        return self._text

    __str__ = str_nodebug


def run_parser(kernel_fn, args=(), kwargs={}, target=stub_target):  # noqa: B006  (it is read alone)
    """The tile IR of a kernel for such arguments."""
    compiled = kernel_fn.warmup(*args, grid=(1,), **kwargs)
    if target is not None and target != compiled.metadata.target:
        compiled = compile(compiled.src, target=target)
    return ParsedModule(compiled.asm["tile"])


def run_filecheck_test(kernel_fn, args=(), kwargs={}, target=stub_target):  # noqa: B006
    if not isinstance(kernel_fn, JITFunction):
        raise AssertionError(f"expected a kernel, found {type(kernel_fn).__name__}")
    run_filecheck("kernel", run_parser(kernel_fn, args, kwargs, target).str_nodebug(), inspect.getsource(kernel_fn.fn))


def filecheck_test(fn):
    """Makes a test of a kernel without arguments."""

    @functools.wraps(fn)
    def test():
        run_filecheck_test(fn)

    return test
