"""The page: one file, which opens from a disk, and stays small: what it leaves out it says."""

import os

from .. import pages

MOST_BYTES = 4_500_000
MOST_LAUNCHES = 1000
MOST_ROWS = 50_000  # programs of a launch with sums of their own
MOST_ORDER = 10_000  # programs that can be played


def page(launches):
    """The launches as a page."""
    from ._record import document

    data = document(launches[:MOST_LAUNCHES])
    texts = {}
    for launch in data["launches"]:  # what is launched often has its text once
        launch["source"] = texts.setdefault(tuple(launch["source"]), len(texts))
        launch["totals"] = [sum(row[i] for row in launch["programs"]) for i in range(4)]
        _keep_rows(launch, MOST_ROWS)
        launch["order"] = launch["order"][:MOST_ORDER]
    data["sources"] = [list(text) for text in texts]
    sizes = [_size(launch) for launch in data["launches"]]
    room = MOST_BYTES - _size(data["sources"])
    limit = _limit(sizes, room)
    for i, launch in enumerate(data["launches"]):
        if sizes[i] > limit:
            _cut(launch, limit)
            sizes[i] = _size(launch)
    while len(sizes) > 1 and sum(sizes) > room:
        sizes.pop()
    data["launches"] = data["launches"][: len(sizes)]
    data["launches_left_out"] = len(launches) - len(sizes)
    return pages.fill(os.path.dirname(os.path.abspath(__file__)), pages.script(data))


def _size(part):
    return len(pages.script(part))


def _limit(sizes, room):
    """The most that one may have so that all together have room; the small ones leave theirs to the others."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return room // left
        room -= size
        left -= 1
    return max(sizes, default=0)


def _keep_rows(launch, most):
    step = -(-len(launch["programs"]) // max(most, 1))
    if step > 1:
        launch["programs"] = launch["programs"][::step]
        launch["rows_step"] = launch.get("rows_step", 1) * step


def _cut(launch, room):
    """Leaves out what a launch has too much of: first accesses and values of programs, the last ones first, then values of arrays and sums of programs."""
    lists = {"accesses": launch["accesses"], "values": launch["values"]}
    launch["accesses"] = launch["values"] = []
    rest = _size(launch)
    for array in launch["arrays"]:
        for name in ("before", "after"):
            if array[name] and rest > room // 2:
                array[name] = array[name][: len(array[name]) * room // (2 * rest)]
    rows = _size(launch["programs"])
    if rows > room // 4:
        _keep_rows(launch, len(launch["programs"]) * room // (4 * rows))
    launch["order"] = launch["order"][: room // 40]
    left = room - _size(launch)
    costs = {}
    for rows in lists.values():
        for row in rows:
            costs[row["program"]] = costs.get(row["program"], 0) + _size(row) + 1
    kept = set()
    for program in sorted(costs):
        left -= costs[program]
        if left < 0:
            break
        kept.add(program)
    for name, rows in lists.items():
        launch[name] = [row for row in rows if row["program"] in kept]
        launch["left_out"] += len(rows) - len(launch[name])
