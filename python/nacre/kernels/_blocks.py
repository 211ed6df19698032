"""Block sizes: functions of where a kernel runs and of the sizes alone. Nothing is timed.

On the host a program is a loop over vectors of one thread: blocks are large, and `num_warps` means nothing. On a GPU a block is spread over the
threads of its warps, 8 to 32 elements each.
"""

from ..backends.host_memory import HostMemoryDriver
from ..runtime.driver import driver
from ._arrays import is_numpy

# The longest row that a program keeps as a whole; a longer one is walked in steps of _STEP.
_LONGEST_ROW = {True: 16384, False: 16384}
_STEP = {True: 4096, False: 4096}
# Elements that one program of elementwise work takes.
_ELEMENTS = {True: 4096, False: 1024}
# Programs among which sums over many rows are divided: each leaves one partial sum.
_PARTS = {True: 64, False: 256}


def runs_on_host(x):
    """Whether a kernel that is given x runs on this machine's own cores. Arrays in host memory do, unless a GPU is simulated."""
    if not is_numpy(x) and x.is_cuda:
        return False
    active = driver.active
    return active.is_host or not isinstance(active, HostMemoryDriver)


def power_of_two(value):
    """The smallest one that is not below the value."""
    return 1 << max(int(value) - 1, 0).bit_length()


def cdiv(value, divisor):
    return -(-value // divisor)


def _warps(block):
    """Of 32 threads, with up to 16 elements each."""
    return min(max(block // 512, 1), 16)


def row_block(x, columns):
    """{BLOCK, num_warps} for a program that takes one row: BLOCK covers the row where it is kept as a whole."""
    host = runs_on_host(x)
    block = power_of_two(columns)
    if block > _LONGEST_ROW[host]:
        block = _STEP[host]
    return {"BLOCK": block, "num_warps": _warps(block)}


def elements_block(x, count, host=None):
    """{BLOCK, num_warps} for elementwise work on `count` elements. `host`: runs_on_host(x), where it is known."""
    block = min(_ELEMENTS[runs_on_host(x) if host is None else host], max(power_of_two(count), 16))
    return {"BLOCK": block, "num_warps": _warps(block)}


def rows_of_a_part(x, rows, least=8):
    """How many rows a program takes where each leaves a partial sum over its rows."""
    return max(least, cdiv(rows, _PARTS[runs_on_host(x)]))


def columns_block(x, columns):
    """{BLOCK, num_warps} for a program that walks down a block of columns."""
    block = min(max(power_of_two(columns), 16), 1024 if runs_on_host(x) else 128)
    return {"BLOCK": block, "num_warps": _warps(block)}


def planes_block(x, channels, places):
    """{CHANNELS, PLACES, num_warps} for tiles of some channels by some places, where places lie side by side. Wide tiles would leave more of the
    last one of a row unused."""
    along = min(power_of_two(places), 256)
    across = min(power_of_two(channels), max(1, 2048 // along))
    return {"CHANNELS": across, "PLACES": along, "num_warps": _warps(along * across)}
