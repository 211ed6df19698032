"""The `nacre` command: run scripts under the alias, and show what this installation is."""

import os
import signal
import sys

from ._terminal import misused

USAGE = """usage: nacre run script.py [args...]      run a script with `import triton` meaning nacre (nacre run --help)
       nacre info                        versions, the machine, GPUs, the cache (nacre info --knobs: the settings)
       nacre compile file.py ...         compile a kernel to a file (nacre compile --help)
       nacre simulate kernel.ptx ...     run PTX without a GPU, checked and counted (nacre simulate --help)
       nacre tune list|show|clear|...    the autotuner's results (nacre tune --help)
       nacre bench file.py ...           run a file's benchmarks, compare with an earlier run (nacre bench --help)
       nacre cache stats|clear|verify    the compiled kernels on disk (nacre cache --help)
       nacre warmup file.py              compile kernels ahead of their first launch (nacre warmup --help)
       nacre explain script.py ...       run a script and print the reason for each compile
       nacre sanitize asan python x.py   find bounds errors, races, uninitialized reads, overflow (nacre sanitize --help)
       nacre profile script.py ...       measure the kernels of a script (nacre profile --help)
       nacre viz -o page.html script.py  show what kernels access, as a page, text or JSON (nacre viz --help)
       nacre completion bash|zsh|fish    completion of these commands for a shell
       nacre --version

Put options of a command before the script; arguments after the script are the script's own.
"""
INFO_USAGE = """usage: nacre info [--knobs | --markdown]

  --knobs       also the settings: values, environment variables, meanings
  --markdown    only the settings, as the table of docs/knobs.md
"""


def run(arguments):
    from ._run import run

    return run(arguments)


def knob_table():
    """The knobs as a table of Markdown (docs/knobs.md)."""
    from . import _core

    lines = [
        "# Knobs",
        "",
        "Each is an environment variable (either name) and an attribute of `nacre.knobs`; the table in `runtime/Knobs.def` makes",
        "both, and this page (`nacre info --markdown`). Knobs marked in the last column are part of the cache key: a kernel compiled",
        "under another value is another kernel.",
        "",
        "| attribute | variables | default | meaning | key |",
        "|---|---|---|---|---|",
    ]
    for group, attribute, kind, variable, other, default, in_key, help in _core.knobs():
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{group}.{attribute}` ({kind}) | `{variable}`, `{other}` | {shown} | {help} | {'yes' if in_key else ''} |")
    return "\n".join(lines) + "\n"


def info(arguments):
    if any(argument in ("-h", "--help") for argument in arguments):
        print(INFO_USAGE, end="")
        return 0
    if arguments == ["--markdown"]:
        print(knob_table(), end="")
        return 0
    if arguments not in ([], ["--knobs"]):
        return misused("nacre info", f"there is no option {arguments[-1]}", ["--knobs", "--markdown"])
    from . import _core
    from ._version import language_version, version

    facts = _core.info()
    print(f"nacre {version} (language {language_version}), build {facts['build_id'][:16] or 'unknown'}")
    print(f"Python {sys.version.split()[0]} at {sys.executable}")
    host, *others = _core.TARGETS
    print(f"targets: {host} ({facts['processor']}, {facts['cores']} cores, {_core.threads()} threads){''.join(f', {name}' for name in others)}")
    for line in _surroundings():
        print(line)
    print(f"cache: {_core.directories()['cache']}")
    if arguments:
        _print_knobs()
    else:
        print("knobs: nacre info --knobs")
    return 0


def _surroundings():
    """What else kernels meet on this machine: GPUs and their driver, ptxas, torch."""
    import importlib.metadata

    from . import _core

    for driver, count, why in _core.devices():
        if driver == "cuda":
            names = [_core.device_properties(driver, index).get("name", "unknown") for index in range(count)]
            yield f"GPU: {', '.join(names)}" if names else f"GPU: none ({why}); NACRE_DEVICE=simulate runs its code without one"
    yield f"ptxas: {_ptxas()}"
    try:
        yield f"torch: {importlib.metadata.version('torch')}"
    except importlib.metadata.PackageNotFoundError:
        yield "torch: not installed"


def _ptxas():
    from . import knobs

    tool = knobs.nvidia.knob_descriptors["ptxas"].found()
    if tool is None:
        return "not found (TRITON_PTXAS_PATH names it)"
    if tool == "driver":
        return "not found (TRITON_PTXAS_PATH names it); the GPU's driver assembles kernels itself"
    return f"{tool.version} at {tool.path}" if tool.version else f"{tool.path} cannot be run"


def _print_knobs():
    from . import _core, knobs

    print("knobs:")
    for group, attribute, kind, variable, other, default, in_key, help in _core.knobs():
        value = getattr(knobs, group).knobs[attribute]
        print(f"  {group}.{attribute} = {value!r}  ({variable}, {other}; {kind}{'' if not in_key else ', part of the cache key'})")
        print(f"      {help}")


def _native(arguments):
    """A command in C++: Ctrl-C ends it as it ends any program, not when Python is asked next."""
    from . import _core

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(arguments)


def compile(arguments):
    return _native(["compile", *arguments])


def simulate(arguments):
    return _native(["simulate", *arguments])


def tune(arguments):
    from ._tune_command import main

    return main(arguments)


def bench(arguments):
    from . import activate
    from .testing.regressions import main

    activate()
    return main(arguments)


def cache(arguments):
    from ._cache_command import cache

    return cache(arguments)


def warmup(arguments):
    from ._cache_command import warmup

    return warmup(arguments)


EXPLAIN_USAGE = """usage: nacre explain script.py [args...]

Runs a script like `nacre run`, and prints the reason for each compile on stderr (NACRE_EXPLAIN=1 does the same).
"""


def explain(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(EXPLAIN_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    from . import knobs

    knobs.runtime.explain = True
    return run(arguments)


def sanitize(arguments):
    from .sanitizer._program import sanitize

    return sanitize(arguments)


def profile(arguments):
    from .profiler.proton import main

    return main(arguments, "nacre profile")


def viz(arguments):
    from .viz._program import main

    return main(arguments)


def completion(arguments):
    from ._completion import completion

    return completion(arguments)


COMMANDS = {
    "run": run, "info": info, "compile": compile, "simulate": simulate, "tune": tune, "bench": bench, "cache": cache, "warmup": warmup,
    "explain": explain, "sanitize": sanitize, "profile": profile, "viz": viz, "completion": completion,
}  # fmt: skip


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        print(USAGE, end="", file=sys.stderr)
        return 2
    if arguments[0] == "run":  # what the program prints, and what that meets, is its own
        return run(arguments[1:])
    try:
        status = _main(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `nacre info | head`: whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _main(arguments):
    if arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if arguments[0] == "--version":
        from ._version import version

        print(f"nacre {version}")
        return 0
    command = COMMANDS.get(arguments[0])
    if command is None:
        kind = "option" if arguments[0].startswith("-") else "command"
        return misused("nacre", f"there is no {kind} {arguments[0]}", [*COMMANDS, "--version", "--help"])
    return command(arguments[1:])
