"""Timing in a child process: whatever a candidate writes or breaks is the child's alone.

Each candidate has a child of its own, a fork: it has every argument as the caller passed it, without a copy; the system copies only the
pages that are written, and memory that is shared with other processes is made the child's own first (private_memory.py). A candidate
that ends the child, takes too long or writes more than the budget is skipped with that as its reason. A child does not outlive the
thread that forked it.
"""

import ctypes
import gc
import json
import os
import pickle
import select
import signal
import sys
import time
import warnings

from . import private_memory

_STUCK_SECONDS = 15.0  # a child that has used no processor for so long waits for a lock that nobody holds any more
_OWN_BYTES = 64 << 20  # what Python itself writes of its memory in a child
_PARENT_DIED = 1  # PR_SET_PDEATHSIG


class CannotIsolate(Exception):
    """A child process cannot time this candidate, for reasons that are not the candidate's."""


class OverBudget(Exception):
    """A candidate that writes more memory than it may."""


def can_isolate():
    """Why a child process cannot time on the active device; None: it can."""
    from ..driver import driver

    if not driver.active.is_host:
        return f"a child process cannot share the memory of {driver.active.get_current_target().backend}"
    if not hasattr(os, "fork") or not os.path.exists(private_memory.MAPS):
        return "this system does not tell what memory a child process shares with others"
    return None


def measure(time_one, candidate, seconds=0.0, budget=None, written=()):
    """(times or None, reason) of time_one(candidate), which runs in a child. The reason is the exception that it raised, or a text.

    seconds: the most it may take; 0: no limit. budget: bytes that it may write; None: no limit. written: memory
    that it will write, [(begin, end)], where that is known. Raises CannotIsolate and OverBudget.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks with threads; the runtime makes its own anew
        try:
            child = os.fork()
        except OSError as error:  # no memory for its tables, too many processes
            os.close(reading)
            os.close(writing)
            raise CannotIsolate(f"no child process can be made: {error}") from None
    if child == 0:
        _time_in_child(parent, time_one, candidate, written, reading, writing)
    os.close(writing)
    is_over = False
    try:
        answer = _answer(reading, child, seconds, budget)
        is_over = True
    except TimeoutError:
        return None, f"it took longer than {seconds:.3g} seconds (NACRE_AUTOTUNE_SECONDS)"
    finally:
        os.close(reading)
        if not is_over:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if answer is None:
        return None, _ending(status)
    times, error, reason, closed = answer
    if error is not None:
        reason = _decoded(error, reason)
    if times is None and closed:
        raise CannotIsolate(f"memory that is shared with other processes cannot be made the child's own: {', '.join(closed)}")
    return times, reason


def _answer(reading, child, seconds, budget):
    """What the child writes, or None when it ends without an answer."""
    watch = _Watch(child, seconds, budget)
    data = b""
    while True:
        if select.select([reading], [], [], 0.2)[0]:
            more = os.read(reading, 65536)
            if not more:
                return tuple(json.loads(data)) if data.endswith(b"\n") else None
            data += more
        else:
            watch.look()


class _Watch:
    """Looks after a child that has not answered yet."""

    def __init__(self, child, seconds, budget):
        self.child = child
        self.seconds = seconds
        self.budget = budget
        self.started = self.moved = time.monotonic()
        self.used = -1

    def look(self):
        now = time.monotonic()
        if self.seconds and now - self.started > self.seconds:
            raise TimeoutError
        used = _processor_ticks(self.child)
        if used != self.used:
            self.used, self.moved = used, now
        elif now - self.moved > _STUCK_SECONDS:
            raise CannotIsolate("the child process waits for ever, for what another thread held when it was forked")
        if self.budget is not None and _written_bytes(self.child) > self.budget + _OWN_BYTES:
            raise OverBudget


def _processor_ticks(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return -2


def _written_bytes(process):
    """Memory that is a process's own: what a fork has written."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return 1024 * sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty"))
    except (OSError, ValueError, IndexError):
        return 0


def _time_in_child(parent, time_one, candidate, written, reading, writing):
    """Never returns."""
    status, closed = 1, []
    try:
        os.close(reading)
        _prepare_child(parent)
        try:
            closed = private_memory.unshare()
            private_memory.copy_ahead(written)
            answer = [list(map(float, _as_list(time_one(candidate)))), None, None]
        except Exception as error:
            answer = [None, _encoded(error, candidate), f"{type(error).__name__}: {error}"]
        _write_all(writing, (json.dumps([*answer, closed]) + "\n").encode())
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def _prepare_child(parent):
    gc.disable()  # nothing of the parent's is finalized here
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    libc.prctl(_PARENT_DIED, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # without memory the child goes, not the program
            file.write("1000")
    except OSError:
        pass


def _encoded(error, candidate):
    """An exception as text for the parent; None where it cannot be sent."""
    import traceback

    from ...errors import TritonError

    if not isinstance(error, (TritonError, MemoryError)):  # the parent's traceback ends where it forked
        error.add_note(f"in the child process that timed {candidate}:\n{''.join(traceback.format_tb(error.__traceback__))}")
    try:
        return pickle.dumps(error).hex()
    except Exception:  # whatever an exception of the user's holds
        return None


def _decoded(error, text):
    try:
        return pickle.loads(bytes.fromhex(error))
    except Exception:
        return text


def _as_list(times):
    return times if isinstance(times, (list, tuple)) else [times]


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


def _ending(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"the process that timed it was ended by {signal.Signals(number).name}"
    return f"the process that timed it ended with status {os.waitstatus_to_exitcode(status)}"
