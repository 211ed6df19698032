"""The page: one file, which opens from a disk."""

import os

from .. import pages

MOST_BYTES = 4_500_000


def page(launches):
    """The launches as a page. What would make it too large is left out, and the page says so."""
    from ._record import document

    data = document(launches)
    text = pages.script(data)
    while len(text) > MOST_BYTES:  # the accesses of fewer programs
        largest = max(data["launches"], key=lambda launch: len(launch["accesses"]) + len(launch["values"]))
        kept = {row["program"] for rows in (largest["accesses"], largest["values"]) for row in rows}
        if not kept:
            break
        kept = set(sorted(kept)[: len(kept) // 2])
        for name in ("accesses", "values"):
            largest["left_out"] += sum(row["program"] not in kept for row in largest[name])
            largest[name] = [row for row in largest[name] if row["program"] in kept]
        text = pages.script(data)
    return pages.fill(os.path.dirname(os.path.abspath(__file__)), text)
