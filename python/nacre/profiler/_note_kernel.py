"""The kernel that notes a metric's value at a replay of a CUDA graph (_graph_metrics.py)."""

import nacre
import nacre.language as tl


@nacre.jit(do_not_specialize=["number", "capacity"])
def note(value, values, numbers, count, number, capacity):
    place = tl.atomic_add(count, 1) % capacity
    tl.store(values + place, tl.load(value))
    tl.store(numbers + place, number.to(tl.int64))
