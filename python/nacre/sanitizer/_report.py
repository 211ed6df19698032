"""Findings as dictionaries, and as text in the words of LLVM's sanitizers."""

import linecache
import os
import sys

LANES = 4
NAMES = {"asan": "AddressSanitizer", "tsan": "ThreadSanitizer", "msan": "MemorySanitizer", "ub": "UndefinedBehaviorSanitizer"}
RACES = {"read after write": "RAW", "write after write": "WAW", "write after read": "WAR"}
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def describe(raw, kernel, grid, rows):
    """A finding as it is kept and written as JSON."""
    party, other = raw["party"], raw["other"]
    finding = {
        "kind": raw["kind"],
        "what": raw["what"],
        "kernel": kernel,
        "grid": list(grid),
        **_place(party),
        "size": raw["size"],
        "type": raw["type"],
        "address": raw["address"],
        "tile": list(raw["shape"]),
        "lanes": [_lane(raw["shape"], lane) for lane in raw["lanes"]],
        "lane_count": raw["lane_count"],
        "masked": raw["masked"],
        "repeats": raw["repeats"],
        "launched_at": _caller(),
    }
    if other is not None:
        finding["race"] = RACES[raw["what"]]
        finding["other"] = _place(other)
    if raw["detail"]:
        finding["detail"] = raw["detail"]
    if raw["array"] is not None:
        finding.update(_where(raw, rows[raw["array"]]))
    finding["message"] = _message(finding)
    return finding


def is_same(one, other):
    """Whether two findings are one: the same fault at the same place of the same kernel."""
    key = ("kind", "what", "kernel", "file", "line", "column")
    places = [finding.get("other", {}).get(part) for finding in (one, other) for part in ("file", "line", "column")]
    return all(one[part] == other[part] for part in key) and places[:3] == places[3:]


def _place(party):
    return {name: party[name] for name in ("file", "line", "column", "access", "writes", "atomic")} | {"program": list(party["program"])}


def _lane(shape, position):
    index = []
    for extent in reversed(shape):
        index.insert(0, position % extent)
        position //= extent
    return index


def _where(raw, row):
    begin, end, origin, _, name, type, shape, strides, size = row
    element = raw["size"] or size
    offset = raw["address"] - origin
    facts = {"argument": name, "begin": begin, "end": end, "argument_type": type, "argument_shape": list(shape)}
    if offset % element == 0:
        facts["element"] = offset // element
        facts["valid"] = [(begin - origin) // element, (end - origin) // element - 1]
    index = _index(offset, shape, strides)
    if index is not None:
        facts["index"] = index
    return facts


def _index(offset, shape, strides):
    """The index of an element of the array, where it is one."""
    if not shape or any(stride <= 0 for stride in strides):
        return None
    index = [0] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda axis: -strides[axis]):
        index[axis], offset = divmod(offset, strides[axis])
        if not 0 <= index[axis] < shape[axis]:
            return None
    return index if offset == 0 else None


def _caller():
    """file:line of whoever launched the kernel."""
    frame = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((OURS, "<frozen")):
            return f"{name}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


def _program(program):
    return "(" + ", ".join(map(str, program)) + ")"


def _element(finding):
    if "argument" not in finding:
        return f"address {finding['address']:#x}"
    text = f"element {finding['element']}" if "element" in finding else f"byte {finding['address'] - finding['begin']}"
    text += f" of '{finding['argument']}'"
    if "index" in finding and len(finding["index"]) > 1:
        text += f", index {_program(finding['index'])},"
    if "valid" in finding and finding["kind"] == "asan":
        low, high = finding["valid"]
        text += f" (valid: {low} to {high})" if low <= high else " (it has none)"
    return text


def _lanes(finding):
    if not finding["tile"] or not finding["lanes"]:
        return ""
    count = 1
    for extent in finding["tile"]:
        count *= extent
    return f"; {finding['lane_count']} of {count} lanes, first {', '.join(_program(lane) for lane in finding['lanes'])}"


def _message(finding):
    program = f"program {_program(finding['program'])}"
    if finding["kind"] == "ub":
        return f"{_arithmetic(finding)}, {program}{_lanes(finding)}"
    if finding["kind"] == "tsan":
        other = f"program {_program(finding['other']['program'])}"
        return f"{finding['what']} ({finding['race']}) of {_element(finding)} by {program} and {other}{_lanes(finding)}"
    if finding["kind"] == "msan":
        return f"{program}: {finding['access']} of {_element(finding)}, which nobody wrote{_lanes(finding)}"
    what = "to a read-only array: " if finding["what"] == "read-only" else "out of bounds: "
    return f"{program}: {finding['access']} of {finding['type']} {what}{_element(finding)}{_lanes(finding)}"


def _arithmetic(finding):
    what, kind = finding["what"], finding["type"]
    bits = "".join(letter for letter in kind if letter.isdigit())
    amount = finding["detail"].split()[-1]
    if what == "signed integer overflow":
        return f"signed integer overflow: {finding['detail']} cannot be represented in type '{kind}'"
    if what == "shift exponent too large":
        return f"shift exponent {amount} is too large for {bits}-bit type '{kind}'"
    if what == "negative shift":
        return f"shift exponent {amount} is negative"
    return f"division by zero: {finding['detail']} in type '{kind}'"


def place(finding):
    return f"{finding['file']}:{finding['line']}:{finding['column']}"


def shown(finding):
    """The kernel's line, and a caret under the column."""
    text = linecache.getline(finding["file"], finding["line"]).rstrip()
    if not text:
        return []
    start = finding["column"] - 1 if finding["column"] else len(text) - len(text.lstrip())
    return [f"      {text}", "      " + "".join("\t" if letter == "\t" else " " for letter in text[:start]) + "^"]


def _access(finding):
    word = "WRITE" if finding["writes"] else "READ"
    return f"atomic {word.lower()}" if finding["atomic"] else word


def _region(finding):
    if "argument" not in finding:
        return []
    address, begin, end, size = finding["address"], finding["begin"], finding["end"], finding["size"]
    if address >= end:
        where = f"{address - end} bytes after"
    elif address < begin:
        where = f"{begin - address} bytes before"
    else:
        where = f"{address - begin} bytes inside of"
    shape = _program(finding["argument_shape"])
    return (
        [
            f"{address:#x} is located {where} {end - begin}-byte region [{begin:#x},{end:#x})",
            f"allocated by the caller: argument '{finding['argument']}', {finding['argument_type']} of shape {shape}",
        ]
        if size
        else []
    )


def _summary(finding, word):
    return f"SUMMARY: {NAMES[finding['kind']]}: {word} {place(finding)} in {finding['kernel']}"


def _frames(finding, side):
    lines = [f"    #0 in {finding['kernel']} {place(side)}", *shown(side)]
    if finding["launched_at"]:
        lines.append(f"    #1 launched at {finding['launched_at']}")
    return lines


def text(finding):
    """The report."""
    process, program = os.getpid(), _program(finding["program"])
    address = f"{finding['address']:#x}"
    more = [f"  the same was found {finding['repeats']} more times"] if finding["repeats"] else []
    hint = []
    if finding["kind"] == "asan":
        is_wild = "argument" not in finding
        word = "SEGV on unknown address" if is_wild else "write-to-read-only" if finding["what"] == "read-only" else "heap-buffer-overflow"
        if finding["what"] == "out of bounds" and not is_wild:
            hint = ["hint: the mask lets these lanes through" if finding["masked"] else "hint: a mask keeps lanes out of memory that is not the array's"]
        lines = [
            "=" * 65,
            f"=={process}==ERROR: AddressSanitizer: {word} on address {address}",
            f"{_access(finding)} of size {finding['size']} at {address} by program {program}",
            *_frames(finding, finding),
            *_region(finding),
            f"  {finding['message']}",
        ]
    elif finding["kind"] == "tsan":
        other, word = finding["other"], "data race"
        lines = [
            "=" * 18,
            f"WARNING: ThreadSanitizer: data race (pid={process}): {finding['what']} ({finding['race']})",
            f"  {_access(finding).capitalize()} of size {finding['size']} at {address} by program {program}:",
            *_frames(finding, finding),
            f"  Previous {_access(other).lower()} of size {finding['size']} at {address} by program {_program(other['program'])}:",
            *_frames(finding, other),
            *(f"  {line}" for line in _region(finding)),
            f"  Programs {program} and {_program(other['program'])} of grid {_program(finding['grid'])} run in no order",
            f"  {finding['message']}",
        ]
    elif finding["kind"] == "msan":
        word = "use-of-uninitialized-value"
        lines = [
            f"=={process}==WARNING: MemorySanitizer: {word}",
            f"READ of size {finding['size']} at {address} by program {program}",
            *_frames(finding, finding),
            *_region(finding),
            f"  {finding['message']}",
        ]
    else:
        word = "undefined-behavior"
        lines = [f"{place(finding)}: runtime error: {_message(finding)}", *_frames(finding, finding)]
    return "\n".join([*lines, *more, *hint, _summary(finding, word), ""])


def write(finding, stream):
    stream.write(text(finding))
    stream.flush()
