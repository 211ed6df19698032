"""Launches as they are recorded, and as JSON."""

import linecache
import sys
import threading
import time
from dataclasses import dataclass, field

from .. import _core, knobs
from ..runtime import hooks
from ..sanitizer import _report
from ..sanitizer._arrays import arrays
from ..sanitizer._session import KINDS, order_mask
from . import _gpu, _twin
from ._reuse import reuse

RECORD = 16  # besides the sanitizers' kinds (WatchedLaunch.h)
LANES = 200_000  # lanes that are kept of a launch; more are summed up only
SITE = ("name", "file", "line", "column", "accesses", "lanes", "enabled", "bytes", "cache_lines", "first_touches", "reused", "reuse_distance")
UNFINISHED = "not shown: it ended with an error"
VALUES = 4096  # elements of an array whose values are kept


@dataclass
class Launch:
    """A launch: its kernel, its arrays before and after, what its programs accessed."""

    kernel: str
    grid: tuple
    launched_at: str
    file: str
    first_line: int
    source: list
    constants: dict
    arrays: list
    seconds: float = 0.0
    record: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)
    gpu: dict | None = None  # what a simulated GPU did (_gpu.py)
    device: str = ""  # what it ran on, where its record is that of a twin (_twin.py)
    note: str = ""  # why there is no record, or not all of it

    def document(self):
        """What the page is made from: plain values only."""
        record = self.record
        reused = reuse(record.get("accesses", []))
        sites = [dict(zip(SITE, (*row, *reused.get(number, (0, 0, None))))) for number, row in enumerate(record.get("sites", []))]
        values = [{"program": program, "name": name, "file": file, "line": line, "column": column, "accesses_before": before,
                   "tiles": [{"shape": list(shape), "first": [_short(number) for number in first]} for shape, first in tiles]}
                  for program, name, file, line, column, before, tiles in record.get("values", [])]  # fmt: skip
        return {
            "kernel": self.kernel, "grid": list(self.grid), "launched_at": self.launched_at, "file": self.file, "first_line": self.first_line,
            "source": self.source, "constants": {name: repr(value) for name, value in self.constants.items()}, "seconds": self.seconds,
            "arrays": self.arrays, "step": record.get("step", 1), "left_out": record.get("left_out", 0), "order": record.get("order", []),
            "programs": [list(row) for row in record.get("programs", [])],
            "sites": sites, "accesses": [self._access(row) for row in record.get("accesses", [])], "values": values,
            "elsewhere": self._elsewhere([*sites, *values, *self.findings, *(self.gpu or {}).get("lines", [])]),
            "findings": self.findings, "gpu": self.gpu, "device": self.device, "note": self.note,
        }  # fmt: skip

    def _elsewhere(self, places):
        """{file: {line: text}} of the places outside of the kernel's own text: functions that it calls."""
        own = range(self.first_line, self.first_line + len(self.source))
        found = {}
        for file, line in sorted({(place["file"], place["line"]) for place in places if place["file"]}):
            if file != self.file or line not in own:
                found.setdefault(file, {})[line] = linecache.getline(file, line).rstrip("\n")
        return found

    def _access(self, row):
        program, name, effects, size, array, site, shape, addresses, lanes = row
        facts = {"program": program, "name": name, "effects": effects, "size": size, "array": array, "site": site, "shape": list(shape)}
        if array >= 0:
            origin = self.arrays[array]["origin"]
            facts["elements"] = _compressed([(address - origin) // size for address in addresses])
        if lanes:
            facts["lanes"] = _compressed(lanes)
        return facts


def _compressed(numbers):
    """Runs of numbers that grow by one step: [first, step, count, first, step, count, ...]."""
    runs = []
    i = 0
    while i < len(numbers):
        step = numbers[i + 1] - numbers[i] if i + 1 < len(numbers) else 0
        count = 1
        while i + count < len(numbers) and numbers[i + count] - numbers[i + count - 1] == step:
            count += 1
        runs += [numbers[i], step, count]
        i += count
    return runs


def _short(number):
    """A number in few digits; whole ones as they are."""
    if isinstance(number, int) or (number.is_integer() and abs(number) < 2**53):
        return int(number)
    return float(f"{number:.6g}")


def _values(value):
    """The first elements of an array as floats; None where they cannot be read."""
    base = getattr(value, "base", value) if not hasattr(value, "shape") else value
    try:
        flat = base.reshape(-1)[:VALUES]
        if hasattr(flat, "detach"):
            flat = flat.detach().to("cpu")
            flat = flat.double() if flat.dtype.is_floating_point else flat
        elif flat.dtype.kind not in "biu":
            import numpy  # the array is its own; recording torch tensors needs none

            with numpy.errstate(invalid="ignore"):  # an array that is not written yet may hold signalling NaN
                flat = flat.astype(float)
        return [_short(number) for number in flat.tolist()]
    except (AttributeError, TypeError, RuntimeError, ValueError):
        return None


class Recording:
    """The tool that records (python/core/launching/WatchedLaunch.h)."""

    def __init__(self, kernel=None, lanes=LANES, kinds=("asan",), gpu=False):
        self.launches = []
        self.gpu = gpu
        self.kinds = kinds
        self.kernel = kernel
        self.lanes = lanes
        self.others = {}  # names of kernels that were launched and not asked for, in order
        self._open = []
        self._twin = threading.local()  # .compiled: the code of the launch whose twin this thread runs

    def _wants(self, kernel):
        if hooks.is_timed():
            return False
        if self.kernel is None or kernel is self.kernel or kernel.__name__ == self.kernel:
            return True
        self.others[kernel.__name__] = True
        return False

    def before(self, compiled, kernel, grid, arguments):
        """Of every launch, before it (runtime/hooks.py): where its code tells nothing, its twin is recorded."""
        if not _twin.is_needed(compiled) or not self._wants(kernel):
            return None
        values = [arguments[param.name] for param in kernel.params]
        options = {name: arguments[name] for name in ("num_warps", "num_stages") if name in arguments}
        recorded, opened, note = len(self.launches), len(self._open), ""
        self._twin.compiled = compiled
        try:
            _twin.run(kernel, grid, _twin.Copies(kernel, values, compiled).values, options)
        except Exception as error:  # the launch itself will say what is wrong with it
            note = f"not shown: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        finally:
            self._twin.compiled = None
        del self._open[opened:]  # one that was not run to its end
        if len(self.launches) == recorded:
            self.launches.append(self._described(kernel, values, grid)[0])
        launch = self.launches[-1]
        launch.device, launch.note = f"{compiled.metadata.target.backend}:{compiled.metadata.target.arch}", note
        return kernel, values, launch

    def after(self, token):
        """The arrays as the device left them."""
        if token is None:
            return
        kernel, values, launch = token
        try:
            values = _twin.Copies(kernel, values).values
        except _twin.CannotCopy:
            return
        except RuntimeError as error:  # of the device: whoever waits for it next is told as well
            launch.note = f"after the launch its arrays cannot be read: {str(error).splitlines()[0]}"
            return
        by_name = {param.name: value for param, value in zip(kernel.params, values)}
        for array in launch.arrays:
            if array["name"] in by_name:
                array["after"] = _values(by_name[array["name"]])

    def _described(self, kernel, values, grid):
        """(the launch without its record, {argument: its array}, rows of the arrays, whether these are all)"""
        rows, is_complete = arrays(kernel, values)
        shown = []
        by_address = {}
        for param, value in zip(kernel.params, values):
            if hasattr(value, "data_ptr") or hasattr(value, "__array_interface__"):
                by_address[param.name] = value
        for begin, end, origin, _, name, type, shape, strides, size in rows:
            shown.append({
                "name": name, "type": type, "shape": list(shape), "strides": [stride // size for stride in strides], "size": size,
                "origin": origin, "first": (begin - origin) // size, "last": (end - origin) // size - 1,
                "before": _values(by_address[name]) if name in by_address else None, "after": None,
            })  # fmt: skip
        code = kernel.fn.__code__
        lines = kernel.src.splitlines() if getattr(kernel, "src", None) else []
        first = linecache.getline(code.co_filename, code.co_firstlineno) and code.co_firstlineno
        if first:
            import inspect

            try:
                text, first = inspect.getsourcelines(kernel.fn)
                lines = [line.rstrip("\n") for line in text]
            except OSError:
                pass
        constants = {
            param.name: getattr(value, "value", value) for param, value in zip(kernel.params, values)
            if param.is_constexpr or isinstance(value, (bool, int, float, str))
        }  # fmt: skip
        launch = Launch(kernel.__name__, grid, _report._caller(), kernel._filename, first or 1, lines, constants, shown)
        return launch, by_address, rows, is_complete

    def begin(self, kernel, values, grid, compiled, slots):
        if not self._wants(kernel):
            return None
        launch, by_address, rows, is_complete = self._described(kernel, values, grid)
        device_code = getattr(self._twin, "compiled", None)
        simulated = _gpu.prepare(device_code or compiled, kernel, values) if self.gpu or device_code else None
        launch.note = UNFINISHED  # until its end
        self.launches.append(launch)
        self._open.append((launch, by_address, rows, simulated, time.perf_counter()))
        kinds = RECORD | sum(KINDS[kind] for kind in self.kinds) | order_mask(self.kinds, compiled)
        return kinds, self.lanes, rows, is_complete

    def end(self, kernel, grid, record):
        launch, by_address, rows, simulated, began = self._open.pop()
        launch.seconds = time.perf_counter() - began
        launch.note = ""
        launch.findings = [_report.describe(raw, kernel.__name__, grid, rows) for raw in record.pop("findings")]
        for rows_of_programs in (record["accesses"], record["values"]):  # which thread came first does not show
            rows_of_programs.sort(key=lambda row: row[0])
        launch.record = record
        names = {kernel.fn.__code__.co_filename: kernel._filename}  # as Python has it, which may be relative, and from the root
        record["sites"] = [(name, names.get(file, file), *place) for name, file, *place in record["sites"]]
        record["values"] = [(program, name, names.get(file, file), *rest) for program, name, file, *rest in record["values"]]
        for finding in launch.findings:
            finding["file"] = names.get(finding["file"], finding["file"])
        for array in launch.arrays:
            array["after"] = _values(by_address[array["name"]]) if array["name"] in by_address else None
        if simulated:
            launch.gpu = simulated(grid)


_recording = None


def start(kernel=None, lanes=LANES, kinds=("asan",), gpu=False):
    """Records every launch from now on, or those of one kernel. `kinds`: the sanitizers that look at them too; a program that leaves its
    arrays is always ended there. `gpu`: each launch is also run on a simulated GPU, which counts by line."""
    global _recording
    if _recording is not None:
        raise RuntimeError("launches are recorded already; stop() first")
    _recording = Recording(kernel, lanes, kinds, gpu)
    knobs.compilation.watch = "accesses,values"
    _core.set_launch_tool(_recording)
    _recording.recorder = hooks.add_recorder(_recording.before, _recording.after)
    return _recording


def stop():
    """Ends it, and gives the launches."""
    global _recording
    ended, _recording = _recording, None
    _core.set_launch_tool(None)
    if ended:
        hooks.remove_recorder(ended.recorder)
    del knobs.compilation.watch
    return ended.launches if ended else []


def document(launches):
    """The launches as JSON has them."""
    return {"version": 1, "python": sys.version.split()[0], "launches": [launch.document() for launch in launches]}
