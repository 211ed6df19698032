"""Beside an installed Triton: it stays the triton of the program and of torch's own backend. What is compiled with backend="nacre" names this
package in the text of its kernels; kernels of both packages in a user's model are taken by their source.
"""

import functools
import re
import threading
import types


from ._inductor import rebind
from ._runtime import our_name

_IMPORT = re.compile(r"^(\s*)(import|from) (triton|torch\._inductor\.runtime)\b(.*)$", re.M)


_here = threading.local()  # is_kernel: whether dynamo looks at a user's kernel


def is_compiling():
    """Whether this thread compiles a graph for this backend."""
    from torch._inductor.virtualized import V

    from ._blocks import CpuChoices

    return isinstance(V.choices, CpuChoices)


def renamed(text):
    """The text of a kernel, with this package for its Triton."""
    return _IMPORT.sub(_renamed_line, text)


def _renamed_line(line):
    indent, word, package, rest = line.groups()
    if word == "import":
        name, _, alias = (package + rest).partition(" as ")
        name, comment, note = name.partition("#")
        return f"{indent}import {our_name(name.strip())} as {alias or name.strip().partition('.')[0]}{comment}{note}"
    module, _, names = (package + rest).partition(" import ")
    if module == "torch._inductor.runtime" and all(our_name(f"{module}.{name.strip()}") != f"{module}.{name.strip()}" for name in names.split(",")):
        return f"{indent}from {__package__}._runtime import {names}"
    return f"{indent}from {our_name(module)} import {names}"


def prepare(triton):
    """Once for the process: torch asks, wherever text of a kernel is made, whose compile it is."""
    from torch._dynamo.device_interface import CpuInterface
    from torch._inductor import select_algorithm
    from torch._inductor.codegen import triton as codegen
    from torch._inductor.codegen import wrapper
    from torch.utils import _triton as questions

    imports = codegen.TritonKernel.gen_common_triton_imports.__func__
    codegen.TritonKernel.gen_common_triton_imports = classmethod(lambda cls: renamed(imports(cls)) if is_compiling() else imports(cls))
    _answer(wrapper, "user_defined_triton_kernel_transitive_closure_source_code", _source_with_modules)
    # Templates keep the texts they have made: those of this backend under keys of their own.
    _answer(getattr(select_algorithm, "GeneratedCodeCache", None), "make_key", _own_key)
    _answer(questions, "triton_hash_with_backend", lambda torchs: _our_hash)
    _answer(questions, "triton_backend", lambda torchs: _our_backend)
    if "raise_if_triton_unavailable" in vars(CpuInterface):
        _answer(CpuInterface, "raise_if_triton_unavailable", lambda torchs: lambda device=None: None, staticmethod)


def _answer(owner, name, make, kind=lambda function: function, when=is_compiling):
    """Has the owner's function answer as `make(function)` does while this backend compiles, or `when`."""
    torchs = getattr(owner, name, None)
    if torchs is None:  # a torch that does not ask
        return
    ours = make(torchs)

    @functools.wraps(torchs)
    def answer(*arguments, **keywords):
        return (ours if when() else torchs)(*arguments, **keywords)

    setattr(owner, name, kind(answer))
    rebind(name, torchs, answer)


def _source_with_modules(torchs):
    """The user's kernel and all it calls. torch knows the language as `tl` alone: it is called so here, and its other modules are imported under
    the names they have in the user's program."""

    def source(kernel, *others, **keywords):
        function, text = kernel.fn, torchs(kernel, *others, **keywords)
        for name, value in function.__globals__.items():
            if not isinstance(value, types.ModuleType) or not re.search(rf"\b{name}\.", text):
                continue
            if value.__name__ == "triton.language":
                text = re.sub(rf"(?<![\w.]){name}\.", "tl.", text)
            elif value.__name__.startswith("triton."):
                text += f"\nimport {value.__name__} as {name}\n"
        return renamed(text)

    return source


def _own_key(torchs):
    def key(*arguments, **keywords):
        made = torchs(*arguments, **keywords)
        return None if made is None else "nacre " + made

    return key


def _our_backend():
    from ..compiler.compiler import make_backend
    from ..runtime.driver import driver

    return make_backend(driver.active.get_current_target())


def _our_hash():
    import hashlib

    from ..runtime.cache import triton_key

    return hashlib.sha256(f"{triton_key()}-{_our_backend().hash()}".encode()).hexdigest().upper()


def take_kernels(triton):
    """Has dynamo see the user's kernels of this package: each stands as one of the installed Triton, made of the same source, which is what
    goes into a graph."""
    from torch._dynamo.variables.builder import VariableBuilder
    from torch.utils import _triton as questions

    from ..runtime.autotuner import Autotuner, Heuristics
    from ..runtime.jit import JITFunction

    wrap, twins, kernels = VariableBuilder._wrap, {}, (JITFunction, Autotuner, Heuristics)

    def twin(value):
        if not isinstance(value, kernels):
            return value
        if id(value) not in twins:
            twins[id(value)] = value, _twin(value)  # the value is kept, and with it its number
        return twins[id(value)][1]

    def _twin(value):
        if isinstance(value, Heuristics):
            return triton.heuristics(value.values)(twin(value.fn))
        if isinstance(value, Autotuner):
            configs = [triton.Config(dict(one.kwargs), num_warps=one.num_warps, num_stages=one.num_stages, num_ctas=one.num_ctas, maxnreg=one.maxnreg,
                                     pre_hook=one.pre_hook) for one in value.configs]  # fmt: skip
            return triton.autotune(configs, list(value.keys), restore_value=list(value.restore_value or ()) or None,
                                   reset_to_zero=list(value.reset_to_zero or ()) or None)(twin(value.fn))  # fmt: skip
        function = value.fn
        known = {name: seen(one) for name, one in function.__globals__.items() if name in function.__code__.co_names or isinstance(one, types.ModuleType)}
        same = types.FunctionType(function.__code__, {**function.__globals__, **known}, function.__name__, function.__defaults__, function.__closure__)
        same.__kwdefaults__, same.__annotations__ = function.__kwdefaults__, {name: seen(one) for name, one in function.__annotations__.items()}
        same.__module__, same.__qualname__ = function.__module__, function.__qualname__
        return triton.jit(same, do_not_specialize=[p.name for p in value.params if p.do_not_specialize],
                          do_not_specialize_on_alignment=[p.name for p in value.params if p.do_not_specialize_on_alignment])  # fmt: skip

    def seen(value):
        """What a kernel refers to, of the other package."""
        from .. import language

        if isinstance(value, language.constexpr):
            return triton.language.constexpr(value.value)
        if value is language.constexpr:
            return triton.language.constexpr
        if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == __name__.partition(".")[0]:
            import importlib

            return importlib.import_module("triton" + value.__name__[value.__name__.index(".") :] if "." in value.__name__ else "triton")
        return twin(value)

    def wrap_here(self, value):
        if not isinstance(value, (*kernels, triton.JITFunction, triton.runtime.Autotuner)):
            return wrap(self, value)
        before, _here.is_kernel = getattr(_here, "is_kernel", False), True
        try:
            return wrap(self, twin(value))
        finally:
            _here.is_kernel = before

    VariableBuilder._wrap = wrap_here
    # Without a GPU an installed Triton runs nothing: torch then takes its kernels for any other object.
    _answer(questions, "has_triton", lambda torchs: lambda: True, when=lambda: getattr(_here, "is_kernel", False) or is_compiling())
