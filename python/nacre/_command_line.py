"""The `nacre` command: run scripts under the alias, and show what this installation is."""

import os
import sys

USAGE = """usage: nacre run script.py [args...]       run a script with `import triton` meaning nacre
       nacre run -m module [args...]      the same for a module (nacre run -m pytest)
       nacre info                         versions, the machine, the cache, the knobs
       nacre compile ...                  compile a kernel to a file (nacre compile --help)
"""


def run(arguments):
    import runpy

    from . import activate

    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments else 2
    activate()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        sys.argv = [arguments[1], *arguments[2:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        script = arguments[0]
        if not os.path.exists(script):
            print(f"nacre run: there is no file {script}", file=sys.stderr)
            return 2
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
        runpy.run_path(script, run_name="__main__")
    return 0


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
    if arguments == ["--markdown"]:
        print(knob_table(), end="")
        return 0
    from . import _core, knobs
    from ._version import language_version, version

    facts = _core.info()
    print(f"nacre {version} (language {language_version}), build {facts['build_id'][:16] or 'unknown'}")
    print(f"Python {sys.version.split()[0]} at {sys.executable}")
    print(f"targets: cpu ({facts['cpu']}, {facts['cores']} cores, {_core.threads()} threads)")
    print(f"cache: {_core.directories()['cache']}")
    print("knobs:")
    for group, attribute, kind, variable, other, default, in_key, help in _core.knobs():
        value = getattr(getattr(knobs, group), attribute)
        print(f"  {group}.{attribute} = {value!r}  ({variable}, {other}; {kind}{'' if not in_key else ', part of the cache key'})")
        print(f"      {help}")
    return 0


def compile(arguments):
    from . import _core

    return _core.command(["compile", *arguments])


COMMANDS = {"run": run, "info": info, "compile": compile}


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from ._version import version

        print(f"nacre {version}")
        return 0
    command = COMMANDS.get(arguments[0])
    if command is None:
        print(f"nacre: there is no command {arguments[0]!r}\n{USAGE}", file=sys.stderr)
        return 2
    return command(arguments[1:])
