"""Profiles read from files: frames with their metrics, inclusive and exclusive."""

import json
import struct
import sys

from ._query import condition
from ._table import table

RESERVED = "__proton_launch_metadata"
# Own values of a frame, never sums of those below.
TEXTS = ("device_id", "device_type")


class Frame:
    """A frame of the tree. `own` are its metrics as recorded; `total` their sums over all below it."""

    def __init__(self, name, own, children):
        self.name = name
        self.own = own
        self.children = children
        self.total = {}
        self.columns = {}

    def walk(self, depth=0):
        yield self, depth
        for child in self.children:
            yield from child.walk(depth + 1)

    def to_json(self):
        return {
            "frame": {"name": self.name, "type": "function"}, "metrics": self.own, "children": [child.to_json() for child in self.children],
        }  # fmt: skip


class Graph:
    """A tree of frames. `dataframe` has a row for each, with its metrics as recorded and the columns made of them."""

    def __init__(self, root):
        self.root = root
        self.inc_metrics, self.exc_metrics = [], []  # the names of the columns that were made

    def update_inclusive_columns(self):
        """Sums over all below a frame are there already."""

    @property
    def roots(self):
        return self.root.children

    def frames(self):
        return [frame for frame, _ in self.root.walk()]

    def filter(self, query, squash=True):
        """The graph of the frames that a query chooses (_query.py), or for which a function of a frame's row is true; those above them
        that are not chosen are left out."""
        if callable(query):
            rows = self.dataframe
            row_of = {id(frame): {name: rows[name].values[i] for name in rows.columns} for i, frame in enumerate(self.frames())}
            chosen = [frame for frame in self.frames() if query(row_of[id(frame)])]
        else:
            holds = condition(query)
            chosen = [frame for frame in self.frames() if holds(frame)]
        return Selection(self.root, chosen)

    @property
    def dataframe(self):
        frames = self.frames()
        nothing = float("nan")
        recorded, made = (dict.fromkeys(name for frame in frames for name in getattr(frame, kind)) for kind in ("own", "columns"))
        return table({
            "name": [frame.name for frame in frames],
            **{name: [frame.own.get(name, nothing) for frame in frames] for name in recorded if name not in made},
            **{name: [frame.columns.get(name, nothing) for frame in frames] for name in made},
        })  # fmt: skip


class Selection(Graph):
    """Frames of a graph, in its order."""

    def __init__(self, root, chosen):
        super().__init__(root)
        self.chosen = chosen

    def frames(self):
        return self.chosen


def _unpack(data):
    """msgpack as it is read: numbers, texts, lists, maps."""
    place = 0

    def take(form):
        nonlocal place
        size = struct.calcsize(form)
        value = struct.unpack(form, data[place : place + size])[0]
        place += size
        return value

    def text(length):
        nonlocal place
        value = data[place : place + length].decode()
        place += length
        return value

    def one():
        tag = take(">B")
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 256
        if tag < 0x90:
            return dict((one(), one()) for _ in range(tag & 15))
        if tag < 0xA0:
            return [one() for _ in range(tag & 15)]
        if tag < 0xC0:
            return text(tag & 31)
        simple = {0xC0: None, 0xC2: False, 0xC3: True}
        if tag in simple:
            return simple[tag]
        numbers = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
        if tag in numbers:
            return take(numbers[tag])
        lengths = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}
        if tag not in lengths:
            raise ValueError(f"msgpack: there is no meaning of the byte {tag:#x}")
        length = take(lengths[tag])
        if tag <= 0xDB:
            return text(length)
        if tag <= 0xDD:
            return [one() for _ in range(length)]
        return dict((one(), one()) for _ in range(length))

    return one()


def load(filename):
    """[root, devices] of a file."""
    if filename == "-":
        data = sys.stdin.read()
    else:
        with open(filename, "rb") as file:
            data = file.read()
    try:
        return _unpack(data) if str(filename).endswith("msgpack") else json.loads(data)
    except (ValueError, IndexError, TypeError, struct.error) as error:
        raise ValueError(f"{filename} is no profile: {error}") from None
    except RecursionError:
        raise ValueError(f"{filename}: its frames are nested more deeply than Python reads; nacre-proton-viewer does") from None


def _frame(node):
    """A frame and all below it; None for what viewers hide."""
    name = node["frame"]["name"]
    metrics = {key: value for key, value in node["metrics"].items() if value is not None}  # null: no number
    for key, value in metrics.items():
        if isinstance(value, list):
            metrics[key] = [float("nan") if element is None else element for element in value]
    if not isinstance(name, str) or not all(isinstance(value, (int, float, str, list)) for value in metrics.values()):
        raise ValueError(f"a frame {name!r} with metrics {metrics}")
    if name == RESERVED or name.startswith(RESERVED + ":"):
        return None
    children = [child for child in map(_frame, node["children"]) if child is not None]
    if not children and not metrics and name != "ROOT":
        return None
    return Frame(name, metrics, children)


def _sum_up(frame, names):
    totals = {name: frame.own[name] for name in names if isinstance(frame.own.get(name), (int, float, list))}
    for child in frame.children:
        for name, value in _sum_up(child, names).items():
            old = totals.get(name)
            if isinstance(value, list):
                totals[name] = value if not isinstance(old, list) else [a + b for a, b in zip(old, value)]
            else:
                totals[name] = value + (old if isinstance(old, (int, float)) else 0)
    frame.total = totals
    return totals


def read(filename):
    """(graph, inclusive metrics, exclusive metrics, devices) of a file, or of what it holds. Inclusive are those that the root has."""
    document = filename if isinstance(filename, list) else load(filename)
    filename = "the document" if isinstance(filename, list) else filename
    if isinstance(document, dict) and "traceEvents" in document:
        raise ValueError(f"{filename} is a trace, not a profile: `nacre-proton-viewer --html PAGE {filename}` shows it, and so does ui.perfetto.dev")
    if not isinstance(document, list) or len(document) != 2 or not all(isinstance(part, dict) for part in document) or "frame" not in document[0]:
        raise ValueError(f"{filename} is no profile: expected [root, devices]")
    try:
        root = _frame(document[0]) or Frame("ROOT", {}, [])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{filename} is no profile: {error}") from None
    names = dict.fromkeys(name for frame, _ in root.walk() for name in frame.own)
    inclusive = [name for name in names if name in root.own]
    exclusive = [name for name in names if name not in root.own and name not in TEXTS]
    _sum_up(root, inclusive)
    return Graph(root), inclusive, exclusive, document[1]
