"""Timing in a child process: whatever a candidate writes or breaks is the child's alone.

The child is a fork: it has every argument as it is, without a copy; the system copies only the pages that are written. A candidate that
ends the child (an illegal access, no memory) is skipped with that as its reason, and the rest are timed in another child.
"""

import json
import os
import select
import signal
import sys
import warnings

_PATIENCE = 600.0  # seconds for one candidate; a fork may wait for ever for a lock that nobody holds any more


def can_isolate():
    """Why a child process cannot time on the active device; None: it can."""
    from ..driver import driver

    backend = driver.active.get_current_target().backend
    return None if backend == "cpu" and hasattr(os, "fork") else f"a child process cannot share the memory of {backend}"


def measure(candidates, time_one, on_start=lambda index: None):
    """{index: (times or None, reason)} of candidates 0, 1, ...: time_one(candidate) runs in a child, and raises what speaks against it."""
    results = {}
    while len(results) < len(candidates):
        first = len(results)
        on_start(first)
        status = _run_child(candidates, first, time_one, results, on_start)
        if len(results) < len(candidates):  # the child ended in the middle of one
            results[len(results)] = None, _ending(status)
    return results


def _run_child(candidates, first, time_one, results, on_start):
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks with threads; the runtime makes its own anew
        child = os.fork()
    if child == 0:
        _time_in_child(candidates, first, time_one, reading, writing)
    os.close(writing)
    try:
        for line in _lines(reading):
            index, times, reason = json.loads(line)
            results[index] = times, reason
            if index + 1 < len(candidates):
                on_start(index + 1)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    return status


def _lines(descriptor):
    """The lines that a child writes, as they come. Raises TimeoutError when none comes for too long."""
    pending = b""
    while True:
        if not select.select([descriptor], [], [], _PATIENCE)[0]:
            raise TimeoutError
        data = os.read(descriptor, 65536)
        if not data:
            return
        *lines, pending = (pending + data).split(b"\n")
        yield from lines


def _time_in_child(candidates, first, time_one, reading, writing):
    """Never returns."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reading)
        for index in range(first, len(candidates)):
            try:
                times, reason = list(map(float, time_one(candidates[index]))), None
            except Exception as error:
                times, reason = None, f"{type(error).__name__}: {error}"
            os.write(writing, (json.dumps([index, times, reason]) + "\n").encode())
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def _ending(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"the process that timed it was ended by {signal.Signals(number).name}"
    return f"the process that timed it ended with status {os.waitstatus_to_exitcode(status)}"
