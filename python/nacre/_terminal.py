"""What the console programs share: errors as one line, pipes that are closed, terminals that cannot show every letter."""

import os
import signal
import sys
import threading


def program(name, main, arguments=None):
    """Runs `main`; the status of the program. A file or an option that is wrong is said in one line."""
    show_all_letters()
    try:
        status = _deeply(main, arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `nacre-proton-viewer ... | head`: whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (OSError, ValueError) as error:
        text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename is not None else str(error)
        print(f"{name}: {text}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def misused(program, text, known=(), status=2):
    """Says in a line what is wrong with a command line, with the word of `known` that is near to the one that there is not, and where the help is.
    The status."""
    import difflib
    import re

    wrong = re.search(r"there is no (?:option|command|shell) [`']?([^\s`']+)", text)
    near = difflib.get_close_matches(wrong[1].partition("=")[0], known, 1) if wrong else []
    print(f"{program}: {text}{f'; did you mean {near[0]}?' if near else ''}\n{program} --help shows what there is", file=sys.stderr)
    return status


def check_writable(option, path):
    """ValueError where the file cannot be written, before a long run ends with that. Leaves the file as it is, and makes none."""
    is_new = not os.path.exists(path)
    try:
        with open(path, "a"):
            pass
        if is_new:
            os.unlink(path)
    except OSError as error:
        raise ValueError(f"{option} {path}: {error.strerror}") from None


def _deeply(function, argument):
    """Calls it with room for deep recursion: profiles are as deep as the calls that they are about."""
    results = []

    def call():
        try:
            results.append((function(argument), None))
        except BaseException as error:
            results.append((None, error))

    limit, size = sys.getrecursionlimit(), threading.stack_size(512 << 20)
    sys.setrecursionlimit(200_000)
    try:
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    value, error = results[0]
    if error is not None:
        raise error
    return value


def show_all_letters():
    """Letters that the terminal does not have are question marks from now on, and no errors."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def can_show(text):
    """Whether standard output has these letters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        return False
    return True
