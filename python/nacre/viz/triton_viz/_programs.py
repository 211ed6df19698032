"""The programs of triton-viz, each with `nacre-` before its name: nacre-triton-sanitizer, nacre-triton-race-detector and nacre-triton-profiler run
a command with every kernel of it looked at, nacre-triton-visualizer makes a page of a .tvz file."""

import os
import sys

# Set in what these programs run: trace() refuses to look at a kernel twice.
UNDER_PROGRAM = "NACRE_TRITON_VIZ_PROGRAM"


def _usage(program, what):
    return f"usage: {program} SCRIPT [args...] | pytest [args...]\n\n{what}\n"


def _command(program, what):
    """What is to be run; None after the usage was shown, with the status that it means."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_usage(program, what), end="", file=sys.stdout if arguments else sys.stderr)
        return None, 0 if arguments else 1
    os.environ[UNDER_PROGRAM] = program
    return arguments, 0


def _sanitize(program, kind, what):
    from ...sanitizer._program import main

    command, status = _command(program, what)
    return status if command is None else main([kind, *command])


def sanitizer():
    return _sanitize("nacre-triton-sanitizer", "asan", "Finds accesses out of bounds, in every kernel (as triton-san asan).")


def race_detector():
    return _sanitize("nacre-triton-race-detector", "tsan", "Finds races between programs, in every kernel (as triton-san tsan).")


def profiler():
    from .._program import main

    command, status = _command("nacre-triton-profiler", "Shows what every launch loads and stores, and the lanes masked off (as nacre viz --text).")
    if command is None:
        return status
    return main(["--text", *(["-m", *command] if os.path.basename(command[0]) == "pytest" else command)])


VISUALIZER = """usage: nacre-triton-visualizer FILE.tvz [-o PAGE] [--port N] [--share] [--no-block]

Makes a page of the launches that triton_viz.save() wrote: PAGE, or FILE.html. It is one file and needs no server, so that the other options
mean nothing.
"""


def visualizer():
    arguments, files, page = sys.argv[1:], [], None
    if not arguments or arguments[0] in ("-h", "--help"):
        print(VISUALIZER, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 1
    while arguments:
        argument, *arguments = arguments
        if argument in ("--port", "-o"):
            if not arguments:
                return _fail(f"{argument} needs a value")
            value, *arguments = arguments
            page = value if argument == "-o" else page
        elif argument.startswith("-") and argument.partition("=")[0] not in ("--port", "--share", "--no-block"):
            return _fail(f"there is no option {argument}")
        elif not argument.startswith("-"):
            files.append(argument)
    if len(files) != 1:
        return _fail("one .tvz file is to be given")
    from .core import trace

    try:
        trace.load(files[0])
    except (OSError, ValueError, KeyError, trace.zipfile.BadZipFile) as error:
        return _fail(f"{files[0]}: {error}")
    page = page or os.path.splitext(files[0])[0] + ".html"
    trace.launch(path=page)
    print(page)
    return 0


def _fail(text):
    print(f"nacre-triton-visualizer: {text}\n{VISUALIZER}", end="", file=sys.stderr)
    return 2
