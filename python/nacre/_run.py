"""`nacre run`: a script, a module, text or standard input, with `import triton` meaning this package.

What runs sees the arguments, the search path and the tracebacks that Python itself would give it.
"""

import os
import sys

USAGE = """usage: nacre run script.py [args...]       run a script, a folder or a zip file (.pyz) with a __main__.py
       nacre run -m module [args...]      run a module (nacre run -m pytest)
       nacre run -c text [args...]        run a program given as text
       nacre run - [args...]              run a program read from standard input

In it `import triton` imports nacre, even where Triton is installed. Arguments after the program's name are the program's own.
"""


def _fail(message, status):
    print(f"nacre run: {message}", file=sys.stderr)
    return status


def check(arguments):
    """ValueError where these words name no program to run. Tools ask before they open their files."""
    if not arguments:
        raise ValueError("no script is given")
    what = arguments[0]
    if what in ("-m", "-c"):
        if len(arguments) == 1:
            raise ValueError(f"{what} needs {'the name of a module' if what == '-m' else 'the text of a program'}")
    elif what != "-" and what.startswith("-"):
        raise ValueError(f"there is no option {what}")
    elif what != "-" and not os.path.exists(what):
        raise ValueError(f"there is no file {what}")


def tell_misplaced(command, words, arguments):
    """Says which of these options of a command stand among the program's own arguments: the program gets them."""
    own = arguments[2:] if arguments[0] in ("-m", "-c") else arguments[1:]
    misplaced = [word for word in own if word.startswith("-") and word != "--help" and word.partition("=")[0] in words]
    if misplaced:
        print(f"{command}: {', '.join(misplaced)} went to the program; put it before the program if {command} is meant", file=sys.stderr)


def run(arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if not arguments:
        print(USAGE, end="", file=sys.stderr)
        return 2
    try:
        check(arguments)
    except ValueError as error:
        if "there is no option" not in str(error):
            return _fail(str(error), 2)
        from ._terminal import misused

        return misused("nacre run", str(error), ["-m", "-c", "--help"])
    what, rest = arguments[0], arguments[1:]
    if what in ("-m", "-c"):
        first, rest = rest[0], rest[1:]

    from . import activate

    activate()
    show_only_the_program()
    if what == "-m":
        return _run_module(first, rest)
    if what == "-c":
        return _run_text(first, "<string>", ["-c", *rest])
    if what == "-":
        return _run_text(sys.stdin.read(), "<stdin>", ["-", *rest])
    return _run_path(what, rest)


def _run_module(name, arguments):
    import runpy

    sys.argv = [name, *arguments]
    sys.path.insert(0, os.getcwd())
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except ImportError as error:
        if not _is_ours(_innermost(error.__traceback__)):
            raise
        return _fail(str(error), 1)  # runpy did not find it
    return 0


def _run_path(path, arguments):
    import pkgutil
    import runpy

    sys.argv = [path, *arguments]
    if pkgutil.get_importer(path) is None:  # neither a folder nor a zip file
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        runpy.run_path(path, run_name="__main__")
    except ImportError as error:
        if not _is_ours(_innermost(error.__traceback__)):
            raise
        return _fail(str(error), 1)  # a folder or a zip file without __main__
    return 0


def _run_text(text, name, argv):
    """Runs a program that is in no file. Its text is kept where tracebacks and kernels find it."""
    import linecache
    import types

    sys.argv = argv
    sys.path.insert(0, "")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    exec(compile(text, name, "exec", dont_inherit=True), main.__dict__)
    return 0


# Tracebacks ---------------------------------------------------------------------------------------------------------------


def _is_ours(frame_of):
    """Whether a part of a traceback belongs to what runs the program, not to the program."""
    name = frame_of.tb_frame.f_code.co_filename
    return name.startswith("<frozen ") or name in _OURS


def _innermost(traceback):
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _of_the_program(traceback):
    """The traceback from the program's first frame on; all of it where the program has none."""
    inner = traceback
    while inner is not None and _is_ours(inner):
        inner = inner.tb_next
    return inner


def _hook_without_our_frames(hook):
    def show(kind, error, traceback):
        hook(kind, error.with_traceback(_of_the_program(traceback)), error.__traceback__)

    return show


def show_only_the_program():
    """From here on tracebacks begin in the program, not in what runs it."""
    sys.excepthook = _hook_without_our_frames(sys.excepthook)


def _our_files():
    import runpy

    folder = os.path.dirname(os.path.abspath(__file__))
    started = os.path.abspath(sys.argv[0]) if sys.argv else ""  # the program `nacre` itself
    ours = ("__main__.py", "_command_line.py", "_cache_command.py", os.path.join("testing", "regressions.py"), os.path.join("testing", "reports.py"))
    return {runpy.__file__, __file__, started, *(os.path.join(folder, name) for name in ours)}


_OURS = _our_files()
