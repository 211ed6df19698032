"""Helpers for looking into kernels that Python runs (TRITON_INTERPRET=1 and its like).

    from nacre.tools.debug import breakpoint_if, print_if

    @triton.jit
    def kernel(x_ptr, ...):
        breakpoint_if("=0,>1")          # pdb, in programs whose first id is 0 and whose second is above 1
        print_if(f"{x = }", "=3")       # a line, in programs whose first id is 3

A condition is a text with one comparison an axis, separated by commas, each of =, !=, <, <=, >, >= and a number; an empty one
always holds. It may also be a tuple of ids (None: any), or a function of the three ids.
"""

import operator
import os
import sys

_COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip


def program_ids():
    """The ids of the running program, as three ints."""
    from ..language import program_id

    return tuple(int(program_id(axis)) for axis in range(3))


def holds(condition, ids):
    """Whether a condition holds for program ids."""
    if callable(condition):
        return bool(condition(*ids))
    if isinstance(condition, int):
        condition = (condition,)
    if isinstance(condition, (tuple, list)):
        return all(wanted is None or wanted == found for wanted, found in zip(condition, ids))
    parts = [part.strip() for part in condition.split(",")]
    if len(parts) > len(ids):
        raise ValueError(f"{condition!r}: a program has three ids, found {len(parts)} comparisons")
    return all(_compare(condition, part, found) for part, found in zip(parts, ids) if part)


def _compare(condition, part, found):
    for sign, compare in _COMPARISONS.items():
        if part.startswith(sign):
            try:
                return compare(found, int(part[len(sign) :]))
            except ValueError:
                break
    raise ValueError(f"{condition!r}: {part!r} is not a comparison; write =0, !=1, <2, <=3, >4 or >=5")


def _ids(pid_0, pid_1, pid_2):
    running = (None, None, None) if None not in (pid_0, pid_1, pid_2) else program_ids()
    return tuple(found if given is None else int(given[0]) for given, found in zip((pid_0, pid_1, pid_2), running))


def breakpoint_if(condition, pid_0=None, pid_1=None, pid_2=None):
    """Stops in pdb, at the line that calls this, where the condition on the program's ids holds. PYTHONBREAKPOINT=0 turns it off.

    pid_0, pid_1, pid_2: ids to look at instead of the running program's.
    """
    if os.environ.get("PYTHONBREAKPOINT") != "0" and holds(condition, _ids(pid_0, pid_1, pid_2)):
        import pdb

        pdb.Pdb().set_trace(sys._getframe(1))


def print_if(text, condition, pid_0=None, pid_1=None, pid_2=None):
    """Prints a text, or anything else, where the condition on the program's ids holds.

    pid_0, pid_1, pid_2: ids to look at instead of the running program's.
    """
    if holds(condition, _ids(pid_0, pid_1, pid_2)):
        print(text)


def check_tensors_ready(*tensors, device=None):
    """Raises a ValueError unless all tensors and arrays can be handed to a kernel as they are: contiguous, and on one device.

    device: the kind of device they must be on, "cpu" or "cuda"; left out, the first one's.
    """
    for position, tensor in enumerate(tensors):
        where = f"tensor {position} of {len(tensors)}"
        if not (hasattr(tensor, "data_ptr") or hasattr(tensor, "__array_interface__")):
            raise ValueError(f"{where} is a {type(tensor).__name__}, not a tensor")
        contiguous = tensor.is_contiguous() if hasattr(tensor, "is_contiguous") else tensor.flags.c_contiguous
        if not contiguous:
            raise ValueError(f"{where}, of shape {tuple(tensor.shape)}, is not contiguous: call .contiguous(), or pass its strides")
        found = getattr(getattr(tensor, "device", None), "type", "cpu")
        if device is None:
            device = found
        if found != device:
            raise ValueError(f"{where} is on {found}, where {device} is needed: kernels take tensors of one device")


def check_tensors_gpu_ready(*tensors):
    """The same on the device that kernels run on now: a GPU where one is in use, the CPU otherwise."""
    from ..runtime import driver

    backend = driver.active.get_current_target().backend
    check_tensors_ready(*tensors, device="cuda" if backend == "cuda" else None)
