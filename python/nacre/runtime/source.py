"""The text of functions. The file is read when a kernel is decorated, so that what is compiled later is what ran then."""

import os

from .. import _core

_files = {}  # name -> ((time, size), text)


class NoSource(ValueError):
    """A function whose text cannot be read."""


def file_text(filename, names=None):
    """The text of a source file, as it is now. `names`: the module's globals, whose loader may have it (a zip file's)."""
    try:
        status = os.stat(filename)
    except (OSError, ValueError):
        import linecache  # notebooks and doctests keep their text there

        lines = linecache.getlines(filename, names)
        if not lines:
            raise NoSource(
                f"the source of {filename} cannot be read: a kernel must be defined in a file or a notebook; "
                "text for exec() must stand in linecache.cache, under the file name that it is compiled with"
            ) from None
        return "".join(lines)
    stamp = (status.st_mtime_ns, status.st_size)
    known = _files.get(filename)
    if known is not None and known[0] == stamp:
        return known[1]
    with open(filename, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        import tokenize

        with tokenize.open(filename) as file:
            text = file.read()
    text = text.replace("\r\n", "\n")
    _files[filename] = (stamp, text)
    return text


def function_block(text, line):
    """(text from `def` on, its line, columns taken away) of the function that begins at `line`."""
    return _core.function_block(text, line)
