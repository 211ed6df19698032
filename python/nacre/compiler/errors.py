"""Errors found while compiling a kernel. Each knows its place and shows the kernel's own line."""

from ..errors import TritonError


class CompilationError(TritonError):
    """A kernel that cannot be compiled.

    message: what is wrong; hint: what to do about it, or "".
    filename, line, column: where; line counts from 1, column from 0. source_line: that line.
    str() of it is the whole: the place, the message, the line with a caret, the hint, the calls that led there.
    """

    kind = "internal"

    def __init__(self, text="", message="", hint="", filename="", line=0, column=0, source_line="", kind=None):
        super().__init__(text)
        self.message = message or text
        self.hint = hint
        self.filename = filename
        self.line = line
        self.column = column
        self.source_line = source_line
        self._inner = None
        if kind is not None:
            self.kind = kind

    @property
    def __cause__(self):
        """What Triton's own error is raised from: of an error in a builtin the ValueError or TypeError, of one in a function that the
        kernel calls the error there. It says nothing new, and Python's own display of errors leaves it out."""
        return BaseException.__cause__.__get__(self) or self._inner

    @__cause__.setter
    def __cause__(self, error):
        BaseException.__cause__.__set__(self, error)

    @property
    def error_message(self):
        return self.message

    def __reduce__(self):
        return type(self), (str(self), self.message, self.hint, self.filename, self.line, self.column, self.source_line, self.kind)


class CompileTimeAssertionFailure(CompilationError):
    """A static_assert that does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that kernels cannot use."""


_CLASSES = {"static_assert": CompileTimeAssertionFailure, "unsupported": UnsupportedLanguageConstruct}


_INNER = {"type": TypeError, "value": ValueError, "argument": TypeError}  # of an error in a builtin


def _from_diagnostic(kind, text, message, hint, filename, line, column, source_line, calls):
    def make():
        return _CLASSES.get(kind, CompilationError)(text, message, hint, filename, line, column, source_line, kind)

    error = make()
    if kind in _INNER and message.startswith("tl."):
        error._inner = _INNER[kind](message)
    for _ in range(calls):
        outer = make()
        outer._inner = error
        error = outer
    return error
