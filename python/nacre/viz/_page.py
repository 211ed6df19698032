"""The page: one file, which opens from a disk."""

import json
import os

MOST_BYTES = 4_500_000


def _script(data):
    return json.dumps(data, separators=(",", ":")).replace("</", "<\\/")


def page(launches):
    """The launches as a page. What would make it too large is left out, and the page says so."""
    from ._record import document

    data = document(launches)
    text = _script(data)
    while len(text) > MOST_BYTES:  # the accesses of fewer programs
        largest = max(data["launches"], key=lambda launch: len(launch["accesses"]) + len(launch["values"]))
        kept = {row["program"] for rows in (largest["accesses"], largest["values"]) for row in rows}
        if not kept:
            break
        kept = set(sorted(kept)[: len(kept) // 2])
        for name in ("accesses", "values"):
            largest["left_out"] += sum(row["program"] not in kept for row in largest[name])
            largest[name] = [row for row in largest[name] if row["program"] in kept]
        text = _script(data)
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "page.html")) as file:
        template = file.read()
    with open(os.path.join(folder, "page.js")) as file:
        script = file.read()
    return template.replace("/*SCRIPT*/", script).replace("/*DATA*/", f"const DATA = {text};")
