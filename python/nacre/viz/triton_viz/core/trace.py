"""trace, launch, save, load: kernels whose launches are recorded, and what is done with these."""

import io
import json
import os
import zipfile

from ....compiler.errors import UnsupportedLanguageConstruct
from ....runtime.autotuner import Autotuner, Heuristics
from ....runtime.jit import JITFunction
from ... import _record
from ..._page import page
from ..._text import text
from .._programs import UNDER_PROGRAM
from ..clients import client_of
from .data import Dot, Grid, Launch, Load, Reduce, ReduceMax, ReduceMin, ReduceSum, Store

launches = []


class Traced:
    """A kernel that records its launches; called as the kernel is."""

    def __init__(self, kernel, clients):
        self.kernel = kernel
        self.clients = list(clients)

    def __getattr__(self, name):
        return getattr(self.kernel, name)

    @property
    def __nacre_kernel__(self):
        """What it is where another kernel calls it."""
        if not isinstance(self.kernel, JITFunction):
            raise AttributeError("__nacre_kernel__")
        return self.kernel

    def __call__(self, *args, **kwargs):
        return self.kernel(*args, **kwargs)

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self._launch(lambda: self.kernel[grid](*args, **kwargs))

    def run(self, *args, **kwargs):
        return self._launch(lambda: self.kernel.run(*args, **kwargs))

    def _run(self, launch):
        """What only Python understands, such as a lambda, Python runs: interpreter mode, from then on."""
        try:
            return launch()
        except UnsupportedLanguageConstruct:
            kernel = self.kernel
            while not isinstance(kernel, JITFunction):  # tuned, with heuristics
                kernel = kernel.fn
            kernel._set_interpreted(True)
            return launch()

    def _launch(self, launch):
        kinds = tuple(dict.fromkeys(["asan", *(kind for client in self.clients for kind in client.kinds)]))
        _record.start(kinds=kinds)
        try:
            result = self._run(launch)
        finally:
            found = [_launch_of(recorded) for recorded in _record.stop()]
            launches.extend(found)
        findings = [finding for one in found for finding in one.recorded.findings]
        for client in self.clients:
            mine = [finding for finding in findings if finding["kind"] in client.kinds]
            if mine and getattr(client, "abort_on_error", False):
                from ....sanitizer import SanitizerError

                raise SanitizerError(mine[0]["message"], mine[0])
            if client.NAME == "profiler":
                print(text([one.recorded for one in found]))
        return result


REDUCTIONS = {"sum": ReduceSum, "max": ReduceMax, "min": ReduceMin, "reduce": Reduce}


def _value_record(value):
    """The record of a value, or None for those that have none."""
    _, name, file, line, _, _, tiles = value
    shapes = [tuple(shape) for shape, _ in tiles]
    if name == "dot" and len(tiles) == 3:
        return Dot(*shapes, *(list(first) for _, first in tiles), call_path=[f"{file}:{line}"])
    word, _, axis = name.partition(" axis ")
    if word in REDUCTIONS and axis:
        return REDUCTIONS[word](shapes[0], int(axis), len(shapes[-1]) == len(shapes[0]), shapes[-1], call_path=[f"{file}:{line}"])
    return None


def _launch_of(recorded):
    """A launch with the records that these versions have, program by program."""
    rows = {}  # program -> [(accesses before it, whether it is an access, row)]
    counts = {}
    for row in recorded.record.get("accesses", []):
        before = counts[row[0]] = counts.get(row[0], -1) + 1
        rows.setdefault(row[0], []).append((before, True, row))
    for row in recorded.record.get("values", []):
        rows.setdefault(row[0], []).append((row[5], False, row))
    records = []
    for program in sorted(rows):
        x, y, _ = recorded.grid
        records.append(Grid((program % x, program // x % y, program // x // y)))
        for _, is_access, row in sorted(rows[program], key=lambda entry: entry[:2]):
            record = _access_record(recorded, row) if is_access else _value_record(row)
            if record is not None:
                records.append(record)
    return Launch(recorded.grid, recorded.arrays, records, recorded)


def _access_record(recorded, row):
    _, name, effects, size, array, site, shape, addresses, lanes = row
    count = 1
    for extent in shape:
        count *= extent
    masks = [True] * count
    if lanes:
        enabled = set(lanes)
        masks = [lane in enabled for lane in range(count)]
    where = recorded.record["sites"][site]
    origin = recorded.arrays[array]["origin"] if array >= 0 else 0
    kind = Store if effects & 1 and not effects & 2 else Load
    return kind(origin, [address - origin for address in addresses], masks, len(addresses) * size, call_path=[f"{where[1]}:{where[2]}"])


def trace(client=None, frontend="triton", *, clients=None):
    """A decorator of kernels. 3.0: trace("tracer"); 2.0: trace(clients=...); 1.1.1: trace(kernel)."""
    if program := os.environ.get(UNDER_PROGRAM):
        raise RuntimeError(f"{program} looks at every kernel by itself: run a script that uses triton_viz.trace without it")
    if isinstance(client, (JITFunction, Autotuner, Heuristics, Traced)):
        return trace()(client)
    if frontend != "triton":
        raise ValueError(f"triton_viz: there is no frontend {frontend!r} here; kernels are Triton's (frontend='triton')")
    given = client if clients is None else clients
    chosen = [client_of(one) for one in (given if isinstance(given, (list, tuple)) else ["tracer" if given is None else given])]

    def decorate(kernel):
        if isinstance(kernel, Traced):  # stacked
            kernel.clients += chosen
            return kernel
        if not hasattr(kernel, "run"):
            raise TypeError(f"triton_viz.trace decorates kernels, not {type(kernel).__name__}; put it above @triton.jit")
        return Traced(kernel, chosen)

    return decorate


def clear():
    """Forgets the launches."""
    launches.clear()


def invalid_accesses():
    """{program: [message]} of accesses out of bounds, empty when there is none."""
    found = {}
    for one in launches:
        for finding in one.recorded.findings:
            if finding["kind"] == "asan":
                found.setdefault(tuple(finding["program"]), []).append(finding["message"])
    return found


def launch(share=False, port=None, block=None, path="triton_viz.html", **ignored):
    """Writes the page of all launches, and shows it in a notebook. Gives the accesses out of bounds by program: nothing is false, as 1.1.1's
    callers expect. There is no server; share and port mean nothing here."""
    content = page([one.recorded for one in launches])
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    try:
        from IPython import get_ipython
        from IPython.display import IFrame, display

        if get_ipython() is not None:
            display(IFrame(path, "100%", 800))
    except ImportError:
        pass
    return invalid_accesses()


def save(path):
    """A .tvz file: a zip of manifest.json and tensors.npz."""
    import numpy as np

    documents = [one.recorded.document() for one in launches]
    tensors = io.BytesIO()
    values = {f"{i}_{array['name']}": np.array(array["after"] or []) for i, one in enumerate(documents) for array in one["arrays"]}
    np.savez(tensors, **values)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        rows = [{"launch": document, "record": {**one.recorded.record}} for document, one in zip(documents, launches)]
        file.writestr("manifest.json", json.dumps({"format": "triton_viz_trace", "version": 1, "launches": rows}))
        file.writestr("tensors.npz", tensors.getvalue())


def load(path, append=False):
    """The launches of a .tvz file, in the place of those that are there, or after them."""
    with zipfile.ZipFile(path) as file:
        manifest = json.loads(file.read("manifest.json"))
    if manifest.get("format") != "triton_viz_trace" or manifest.get("version") != 1:
        raise ValueError(f"{os.path.basename(path)} is no trace of version 1")
    if not append:
        clear()
    for row in manifest["launches"]:
        facts = row["launch"]
        names = ("kernel", "grid", "launched_at", "file", "first_line", "source", "constants", "arrays")
        recorded = _record.Launch(
            **{name: facts[name] for name in names}, seconds=facts["seconds"], record=row["record"], findings=facts["findings"], gpu=facts.get("gpu"),
            device=facts.get("device", ""), note=facts.get("note", ""),
        )  # fmt: skip
        launches.append(_launch_of(recorded))
    return launches
