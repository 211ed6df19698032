"""The text twin of the page, for terminals."""

import os

SHADES = " ░▒▓█"


def _shade(value, most):
    return SHADES[min(len(SHADES) - 1, int(value / most * (len(SHADES) - 1) + 0.999))] if most else SHADES[0]


def _grid_map(launch, width=64):
    """The grid, a letter for a program (or for several), shaded by the bytes it moves."""
    programs = launch["programs"]
    columns, rows = launch["grid"][0], max(1, len(programs) // max(1, launch["grid"][0]))
    group = max(1, -(-columns // width))
    lines = []
    most = max((row[0] + row[1] for row in programs), default=0)
    for row in range(min(rows, 32)):
        cells = programs[row * columns : (row + 1) * columns]
        parts = [cells[i : i + group] for i in range(0, len(cells), group)]
        lines.append("  " + "".join(_shade(sum(cell[0] + cell[1] for cell in part) / len(part), most) for part in parts))
    return lines


def _share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _number(value):
    return str(value) if isinstance(value, int) else f"{value:g}"


def _tile(tile):
    shape = " x ".join(map(str, tile["shape"])) or "scalar"
    more = ", ..." if len(tile["first"]) > 6 else ""
    return f"{shape} [{', '.join(map(_number, tile['first'][:6]))}{more}]"


def _shown_values(launch, most=40):
    """What the operations of the first program gave."""
    first = [value for value in launch["values"] if value["program"] == 0]
    lines = [f"  {value['line']:>5} {value['name']}: {', '.join(map(_tile, value['tiles']))}" for value in first[:most]]
    if len(first) > most:
        lines.append(f"        and {len(first) - most} more")
    return ["  values of program (0, 0, 0):", *lines] if lines else []


def _shown_gpu(gpu):
    """What a simulated GPU counted by line."""
    if not gpu:
        return []
    if "why_not" in gpu:
        return [f"  {gpu['architecture']}: not simulated: {gpu['why_not']}"]
    lines = [f"  {gpu['architecture']}, simulated, grid {' x '.join(map(str, gpu['grid']))}, {gpu['warps']} warps:"]
    for row in gpu["lines"]:
        sectors = f"{row['global_sectors']} sectors, {_share(row['ideal_sectors'], row['global_sectors'])} of them needed" if row["global_sectors"] else ""
        shared = f"{row['shared_accesses']} accesses of shared memory, {row['bank_conflicts']} bank conflicts" if row["shared_accesses"] else ""
        place = f"{os.path.basename(row['file'])}:{', '.join(map(str, [row['line'], *row['more_lines']]))}"
        lines.append(f"  {place} {'; '.join(filter(None, [sectors, shared]))}")
    lines += [f"        layout {layout['text']} ({', '.join(layout['used_by'][:6])})" for layout in gpu["layouts"]]
    return lines


def _shown_device(launch):
    if not launch["device"]:
        return f"; {launch['note']}" if launch["note"] else ""
    return f"; ran on {launch['device']}" + (f"; {launch['note']}" if launch["note"] else ", recorded on the CPU")


def text(launches, source=True):
    """Launches, the grid as a map, and the kernel's lines with what each moves."""
    from ._record import document

    lines = []
    for number, launch in enumerate(document(launches)["launches"]):
        grid = " x ".join(map(str, launch["grid"]))
        loaded, stored = sum(row[0] for row in launch["programs"]), sum(row[1] for row in launch["programs"])
        lanes, enabled = sum(row[2] for row in launch["programs"]), sum(row[3] for row in launch["programs"])
        constants = ", ".join(f"{name}={value}" for name, value in launch["constants"].items())
        lines += [
            f"launch {number}: {launch['kernel']}, grid {grid}, {launch['seconds'] * 1e3:.3f} ms watched, at {launch['launched_at']}{_shown_device(launch)}",
            f"  {constants}" if constants else "",
            f"  {loaded} bytes loaded, {stored} bytes stored, {_share(lanes - enabled, lanes)} of the lanes masked off",
        ]  # fmt: skip
        for array in launch["arrays"]:
            lines.append(f"  {array['name']}: {array['type']} {tuple(array['shape'])}")
        if len(launch["programs"]) > 1:
            lines += ["  bytes by program:", *_grid_map(launch)]
        sites = {}
        for site in launch["sites"]:
            sites.setdefault((site["file"], site["line"]), []).append(site)
        for i, line in enumerate(launch["source"]) if source else ():
            at = sites.get((launch["file"], launch["first_line"] + i), [])
            moved = sum(site["bytes"] for site in at)
            note = ""
            if at:
                wanted, touched = moved, sum(site["cache_lines"] for site in at) * 64
                masked = sum(site["lanes"] - site["enabled"] for site in at)
                note = f"{moved:>12} B {_share(masked, sum(site['lanes'] for site in at)):>6} masked {_share(wanted, touched):>7} of lines used"
                distances = [site["reuse_distance"] for site in at if site["reuse_distance"] is not None]
                note += f", touched again after {max(distances)} others" if distances else ""
            lines.append(f"  {launch['first_line'] + i:>5} {line:<80} {note}".rstrip())
        lines += [*_shown_values(launch), *_shown_gpu(launch["gpu"])]
        for finding in launch["findings"]:
            lines.append(f"  found: {finding['message']} at {finding['file']}:{finding['line']}")
        if launch["left_out"]:
            lines.append(f"  {launch['left_out']} accesses were summed up and not kept")
        lines.append("")
    return "\n".join(line for line in lines if line is not None)
