"""`triton-san` and `nacre sanitize`: a command whose kernels are looked at."""

import glob
import json
import os
import re
import shutil
import sys

from .. import _terminal
from .._completion import WORDS
from .._terminal import check_writable

USAGE = """usage: triton-san asan|tsan|msan|ub|all [options] COMMAND...

  asan    accesses out of bounds of a tensor or view      tsan   races between programs
  msan    reads of elements never written                 ub     overflow, shifts, division
  all     everything; several kinds: asan,ub

  --json FILE    also write the findings as JSON
  --continue     continue after an access out of bounds; only its program ends
  --max N        report the first N findings
  --kernel RE    only kernels whose names match
  --llvm         use LLVM's own AddressSanitizer, which also checks users' libraries in LLVM IR and memory of no tensor

COMMAND is a program (python script.py, pytest) or a script (script.py). Exit status: the command's own; 66 after data races
alone, 1 after other findings.
"""
SANITIZE_USAGE = (
    USAGE.replace("triton-san", "nacre sanitize")
    + """
       nacre sanitize --static [--for-all CONDITIONS] [--json FILE] [--kernel RE] script.py [args...]

  --static       prove accesses of every launch of the script: each is proved, has a witness, or is unknown
  --for-all      for all launches that meet the conditions, of every kernel that the script launches:
                 'grid[0] == cdiv(n, BLOCK); x.numel == n; n <= 2**30'

       nacre sanitize --gpu [--tool NAME] [--simulate] [--json FILE] COMMAND...

  --gpu          check the GPU's own code, under compute-sanitizer or, without a GPU, in the simulator
"""
)


def _options(arguments):
    """(options of the session, what is left) of the arguments from the first option on."""
    options = {}
    while arguments and arguments[0].startswith("-"):
        option = arguments[0]
        name, equals, value = option.partition("=")
        if name in ("--continue", "--llvm"):
            options["goes_on" if name == "--continue" else "llvm"] = True
            arguments = arguments[1:]
            continue
        if name not in ("--json", "--max", "--kernel"):
            raise ValueError(f"there is no option {option}")
        if not equals:
            if len(arguments) < 2:
                raise ValueError(f"{name} needs a value")
            value = arguments[1]
        arguments = arguments[1 if equals else 2 :]
        if name == "--max":
            if not value.isdigit():
                raise ValueError(f"--max needs a number, not {value!r}")
            options["most"] = int(value)
        elif name == "--json":
            options["json"] = os.path.abspath(value)
            check_writable("--json", value)
        else:
            options["kernel"] = value
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"--kernel {value!r} is no expression: {error}") from None
    return options, arguments


def command_line(command):
    """The command with our Python, and with `import triton` meaning this package in it."""
    first = os.path.basename(command[0])
    if command[0].endswith(".py"):
        return [sys.executable, "-m", "nacre", "run", *command]
    if first.startswith("python") and len(command) > 1 and (command[1] in ("-m", "-c", "-") or not command[1].startswith("-")):
        return [shutil.which(command[0]) or command[0], "-m", "nacre", "run", *command[1:]]
    if first == "pytest":
        return [sys.executable, "-m", "nacre", "run", "-m", "pytest", *command[1:]]
    return command


def command_environment(variables):
    """The variables of a command in which `import triton` means this package."""
    from .. import _alias

    _alias._tell_children()
    environment = {**os.environ, **variables}
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if root not in path:
        environment["PYTHONPATH"] = os.pathsep.join([*path, root])
    return environment


def _replace_process(command, variables):
    environment = command_environment(variables)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"triton-san: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


def _llvm_variables(kinds, options):
    """The process starts with LLVM's runtime; kernels are compiled with its checks."""
    if kinds != ("asan",) or options:
        raise ValueError("--llvm is asan alone, and takes no other option")
    found = sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-x86_64.so"))
    if not found:
        raise ValueError("--llvm needs LLVM's runtime, libclang_rt.asan-x86_64.so (Debian: libclang-rt-22-dev)")
    # A vector is looked at by its first and its last byte: what lies between two blocks is wider than one.
    settings = [
        "detect_leaks=0",
        "detect_odr_violation=0",
        "allocator_may_return_null=1",
        "redzone=2048",
        "max_redzone=2048",
        os.environ.get("ASAN_OPTIONS", ""),
    ]
    return {
        "LD_PRELOAD": ":".join(filter(None, [found[-1], os.environ.get("LD_PRELOAD")])), "NACRE_WATCH": "llvm", "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": ":".join(filter(None, settings)),
    }  # fmt: skip


def main(arguments=None, usage=USAGE, program="triton-san", misused=1):
    """`misused`: the status of a command line that makes no sense."""
    from ._session import parse_kinds

    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else misused
    try:
        before, arguments = _options(arguments)
        if not arguments:
            raise ValueError("no kind is named")
        try:
            kinds = parse_kinds(arguments[0], program)
        except ValueError as error:  # as the first triton-san did: an error and the usage
            print(f"{error}\n{usage}", end="", file=sys.stderr)
            return misused
        after, command = _options(arguments[1:])
        if not command:
            raise ValueError("no command is given")
        options = {**before, **after}
        # The command is this process, soon: it says so where no kernel was launched, and its children do not.
        variables = {"NACRE_SANITIZE": ",".join(kinds), "NACRE_SANITIZE_OPTIONS": json.dumps(options), "NACRE_SANITIZE_PROCESS": str(os.getpid())}
        if options.pop("llvm", False):
            variables = _llvm_variables(kinds, options)
    except ValueError as error:
        return _terminal.misused(program, str(error).removeprefix(f"{program}: "), WORDS["sanitize"], misused)
    sys.stdout.flush()
    return _replace_process(command_line(command), variables)


def sanitize(arguments):
    if arguments and arguments[0] == "--gpu":
        from ._gpu_program import main as gpu

        return gpu(arguments[1:])
    if arguments and arguments[0] == "--static":
        from ._static_program import main as static

        return static(arguments[1:])
    return main(arguments, SANITIZE_USAGE, "nacre sanitize", misused=2)
