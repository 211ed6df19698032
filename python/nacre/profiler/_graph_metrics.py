"""Metrics that are tensors of a GPU, given while a CUDA graph is captured: they have a value at each replay.

A small kernel is captured beside what the metric belongs to. At each replay it appends the tensor's value, and the metric's number, to a
buffer on the GPU, which is read when the profile is: the n-th value of a number is of the n-th replay of that kernel, which CUPTI tells.
"""

import sys

from .. import _core, knobs

_buffers = {}  # device -> _Buffer
_metrics = {}  # number -> (name, how its value is made of a float: as tolist() gives it)
_problem = None  # why there is no buffer


def is_capturing():
    """Whether the current stream of a GPU is captured."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


class _Buffer:
    def __init__(self, torch, device):
        self.capacity = max(1, knobs.proton.profile_metric_buffer_size // 16)
        self.values = torch.zeros(self.capacity, dtype=torch.float64, device=device)
        self.numbers = torch.zeros(self.capacity, dtype=torch.int64, device=device)
        self.count = torch.zeros(1, dtype=torch.int64, device=device)
        self.read = 0

    def append(self, value, number):
        from ._note_kernel import note

        note[(1,)](value, self.values, self.numbers, self.count, number, self.capacity)

    def take(self):
        """[(number, value)] since it was last read, and how many were written over."""
        count = int(self.count.item())
        first = max(self.read, count - self.capacity)
        lost, self.read = first - self.read, count
        if first == count:
            return [], lost
        begin, length = first % self.capacity, count - first
        parts = [(begin, min(begin + length, self.capacity)), (0, begin + length - self.capacity)]  # the second: from the start again
        return [pair for low, high in parts if low < high for pair in zip(self.numbers[low:high].tolist(), self.values[low:high].tolist())], lost


def prepare():
    """Makes the kernel and its buffer ready: while a graph is captured nothing can be loaded. Only where torch uses a GPU already."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized() or is_capturing():
        return
    global _problem
    device = torch.cuda.current_device()
    if device in _buffers:
        return
    try:
        buffer = _Buffer(torch, device)
        buffer.append(torch.zeros(1, dtype=torch.float64, device=device), 0)  # nobody's number
        torch.cuda.synchronize(device)
    except RuntimeError as error:  # no memory for it: said where a metric needs it
        _problem = error
        return
    buffer.read = 1
    _buffers[device] = buffer


def capture(metrics, frame=""):
    """The metrics without those that are tensors of a GPU, whose values are read at each replay; `frame`: whose they are, or "": the open
    scope's."""
    found = {name: value for name, value in (metrics or {}).items() if getattr(value, "is_cuda", False)}
    if not found or not is_capturing():
        return metrics
    torch = sys.modules["torch"]
    from .state import metadata_state

    for name, value in found.items():
        buffer = _buffers.get(value.device.index)
        if buffer is None:
            why = _problem or "that GPU was not in use when the session started: start it after the first operation there"
            raise RuntimeError(f"the metric {name!r} is a tensor of a GPU, and cannot be noted at a graph's replays: {why}")
        if value.numel() != 1:
            raise RuntimeError(f"the metric {name!r} is a tensor of {value.numel()} elements: of those that are read at a graph's replays one can be noted")
        number = len(_metrics) + 1
        kind = float if value.dtype.is_floating_point else int
        _metrics[number] = name, (lambda noted, kind=kind: [kind(noted)]) if value.dim() else kind
        with metadata_state():  # viewers hide it
            value = value.detach().reshape(1).to(torch.float64)
        _core.profiler_capture_metric(number, frame)
        buffer.append(value, number)
    return {name: value for name, value in metrics.items() if name not in found}


def collect():
    """Adds the values of the replays that have ended to their frames; what was lost, in words, or ""."""
    lost = 0
    for buffer in _buffers.values():
        if is_capturing():
            break
        records, over = buffer.take()
        lost += over
        for number, value in records:
            if number in _metrics:
                name, made = _metrics[number]
                _core.profiler_replayed_metric(number, {name: made(value)})
    return f"{lost} values of metrics of CUDA graphs were written over before they were read" if lost else ""
