"""Errors of launches."""

from ..errors import TritonError


class InterpreterError(TritonError):
    """An error inside a kernel that Python runs."""


class OutOfBoundsError(InterpreterError, IndexError):
    """A load or store outside of every array that a kernel was given. `program` is the id of the program."""

    def __init__(self, text, message="", filename="", line=0, program=(0, 0, 0)):
        super().__init__(text)
        self.message = message or text
        self.filename = filename
        self.line = line
        self.program = program

    def __reduce__(self):
        return type(self), (str(self), self.message, self.filename, self.line, self.program)


def _out_of_bounds(message, hint, filename, line, column, program):
    """What a compiled kernel says that checks its accesses; columns count from 1."""
    place = f"{filename}:{line}:{column}: " if line else ""
    text = f"{place}error: {message}{_shown(filename, line, column)}" + (f"\nhint: {hint}" if hint else "")
    return OutOfBoundsError(text, message, filename, line, program)


class KernelFaultError(TritonError):
    """A compiled kernel did what the machine forbids, mostly an access out of bounds. `address` is what it accessed, or None; `line` is 0
    where it is not known. What the kernel had written before stays written."""

    def __init__(self, summary, kernel, address=None, filename="", line=0, where=""):
        text = summary + (f"; the address is {where}" if where else "") + (_shown(filename, line, 0) if line else "")
        super().__init__(text + "\nhint: TRITON_INTERPRET=1 or debug=True tells which array, element and program it was")
        self.summary = summary
        self.kernel = kernel
        self.address = address
        self.filename = filename
        self.line = line
        self.where = where

    def __reduce__(self):
        return type(self), (self.summary, self.kernel, self.address, self.filename, self.line, self.where)


class OutOfResources(TritonError):
    """A kernel that needs more of something than the device has."""

    _WHAT_TO_DO = {
        "threads": "a smaller num_warps may help",
        "programs that run at the same time": "a cooperative grid must fit on the device at once: launch fewer programs",
    }

    def __init__(self, required, limit, name):
        what_to_do = self._WHAT_TO_DO.get(name, "smaller blocks or fewer stages may help")
        super().__init__(f"out of resource: {name}, required: {required}, limit: {limit}; {what_to_do}")
        self.required = required
        self.limit = limit
        self.name = name

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name)


class PTXASError(TritonError):
    """The assembler refused a kernel."""


class AutotunerError(TritonError):
    """A kernel that cannot be tuned."""


class UnexpectedCompileError(TritonError):
    """A launch that would compile, where NACRE_JIT=error forbids it."""


class DeviceAssertError(TritonError, AssertionError, RuntimeError):
    """A device_assert that did not hold, or an overflow that was looked for. `program` is the id of the program it failed in. torch says
    RuntimeError of an assertion that failed on its device."""

    def __init__(self, message, filename, line, program, column=0):
        place = f"{filename}:{line}: device_assert failed in program {program}"
        super().__init__((f"{place}: {message}" if message else place) + _shown(filename, line, column))
        self.message = message
        self.filename = filename
        self.line = line
        self.program = program
        self.column = column

    def __reduce__(self):
        return type(self), (self.message, self.filename, self.line, self.program, self.column)


def _shown(filename, line, column):
    """The line's text and a caret under its column, which counts from 1."""
    import linecache

    text = linecache.getline(filename, line).rstrip()
    if not text:
        return ""
    start = column - 1 if column > 0 else len(text) - len(text.lstrip())
    return f"\n{text}\n" + "".join("\t" if letter == "\t" else " " for letter in text[:start]) + "^"
