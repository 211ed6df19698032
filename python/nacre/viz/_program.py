"""`nacre viz`: the launches of a script as a page, as text or as JSON."""

import json
import math
import sys

from .._run import check, run, tell_misplaced
from .._completion import WORDS
from .._terminal import check_writable, misused, show_all_letters

USAGE = """usage: nacre viz [options] script.py [args...]

  -o FILE         the page (default: viz.html), or with --json the JSON; with --text: standard output
  --text          as text, for terminals
  --json          as JSON
  --kernel NAME   only launches of this kernel
  --gpu           also run each launch on a simulated GPU: sectors and bank conflicts by line, layouts of tiles
  --lanes N       keep at most N lanes of a launch (default 200000); the others are only counted

Put options of nacre viz before the script; arguments after the script are the script's own.
"""
PROGRAMS = ("-", "-m", "-c")  # of nacre run: from here on the words are the program's


def _parse(arguments):
    options = {"form": "html", "output": None, "kernel": None, "lanes": None, "gpu": False}
    given = set()
    while arguments and arguments[0].startswith("-") and arguments[0] not in PROGRAMS:
        option, *arguments = arguments
        given.add(option.partition("=")[0])
        if option in ("--text", "--json"):
            options["form"] = option[2:]
            continue
        if option == "--gpu":
            options["gpu"] = True
            continue
        names = {"-o": "output", "--kernel": "kernel", "--lanes": "lanes"}
        name, equals, value = option.partition("=")
        if name not in names:
            raise ValueError(f"there is no option {option}")
        if not equals:
            if not arguments:
                raise ValueError(f"{option} needs a value")
            value, *arguments = arguments
        options[names[name]] = value
    check(arguments)
    tell_misplaced("nacre viz", set(WORDS["viz"]) - given, arguments)
    if options["lanes"] is not None:
        if not options["lanes"].isdigit() or options["lanes"] == "0":
            raise ValueError(f"--lanes needs a number, not {options['lanes']!r}")
        options["lanes"] = int(options["lanes"])
    if options["output"]:
        check_writable("-o", options["output"])
    return options, arguments


def _strict(value):
    """The document with texts for the numbers that JSON does not have: "nan", "inf"."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _strict(held) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(held) for held in value]
    return value


def main(arguments):
    from . import _record

    if arguments and arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    try:
        options, rest = _parse(arguments)
    except ValueError as error:
        return misused("nacre viz", str(error), WORDS["viz"])
    recording = _record.start(options["kernel"], options["lanes"] or _record.LANES, gpu=options["gpu"])
    try:
        status = run(rest) or 0
    except BaseException as error:  # what it launched before may tell why
        written = _write(options, _record.stop(), recording.others)
        if isinstance(error, SystemExit) and not error.code:
            return written
        raise
    return status or _write(options, _record.stop(), recording.others)


def _write(options, launches, others):
    """Writes the launches; the status. Where there is nothing to show, what was written before stays."""
    from . import _record
    from ._page import page
    from ._text import text

    if not launches:
        wanted = f"no kernel named {options['kernel']}" if options["kernel"] else "no kernel"
        print(f"nacre viz: nothing to show: the script launched {wanted}{_but(others)}", file=sys.stderr)
        return 1
    if options["form"] == "html":
        output, content = options["output"] or "viz.html", page(launches)
    elif options["form"] == "json":
        output, content = options["output"], json.dumps(_strict(_record.document(launches)), allow_nan=False)
    else:
        output, content = options["output"], text(launches)
    if output is None:
        show_all_letters()
        print(content)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(content)
        print(f"{output}: {len(launches)} {'launch' if len(launches) == 1 else 'launches'}", file=sys.stderr)
    return 0


def _but(others):
    shown = [*others][:8]
    return f", but {', '.join(shown)}{', ...' if len(others) > len(shown) else ''}" if shown else ""
