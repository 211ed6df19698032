"""What a GPU's code would do in a launch: the kernel compiled for the CUDA target and run in the simulator, on copies of the arrays."""

import os
import re

from .. import _core, knobs
from ..sanitizer._arrays import _array, arrays
from ..tools.tensor_descriptor import TensorDescriptor
from . import _twin

MOST_PROGRAMS = 256  # that are simulated; a launch of more is cut
_LAYOUT = re.compile(r'^#(\w+) = #simt\.layout<"([^"]+)">', re.MULTILINE)
_LIBRARY = "nacre/language/"
_NODE = re.compile(r"^(!\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): ("[^"]*"|!?\w+)')
_USE = re.compile(r"^\s*(?:%\S+ = )?(?:tile|gpu)\.(\w+)\b.*", re.MULTILINE)


def prepare(compiled, kernel, values):
    """A function of the grid that simulates the launch on the arrays as they are now."""
    try:
        copied = _twin.Copies(kernel, values)
        arguments = _flat(kernel, copied.values)
    except (_twin.CannotCopy, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        return lambda grid: {"architecture": f"sm_{_architecture(compiled)}", "why_not": reason}
    memory = [(begin, end - begin, name, True) for begin, end, _, _, name, *_ in arrays(kernel, copied.values)[0]]
    return lambda grid: simulate(compiled, arguments, memory, grid, copied)


def _flat(kernel, values):
    """The arguments one by one: addresses of arrays as bytes, numbers as they are."""
    found = []

    def add(value):
        if isinstance(value, tuple):
            for item in value:
                add(item)
            return
        if isinstance(value, TensorDescriptor):
            raise ValueError("it takes a descriptor that was made on the host; NACRE_DEVICE=simulate runs such a kernel")
        row = () if value is None or isinstance(value, (bool, int, float, str)) else _array("", value)
        found.append(row[2].to_bytes(8, "little") if row else value)

    for param, value in zip(kernel.params, values):
        if not param.is_constexpr:
            add(value)
    return found


def _architecture(compiled):
    """The one that the code is for, or the newest that the simulator knows."""
    known = 90
    arch = str(compiled.metadata.target.arch) if compiled is not None else ""
    return min(int(arch), known) if arch.isdigit() else known


def simulate(compiled, arguments, memory, grid, copied):
    """Counters by line and the layouts of tiles, as JSON has them; with `why_not` where the launch cannot be simulated. `copied` holds the memory
    that the arguments are in."""
    from ..backends.compiler import GPUTarget
    from ..compiler import compile
    from ..simulator import Module, Report, _scalar_bytes

    architecture = _architecture(compiled)
    result = {"architecture": f"sm_{architecture}"}
    if compiled is None:
        return {**result, "why_not": "Python runs the kernel: nothing was compiled"}
    if 0 in grid:
        return {**result, "why_not": "the grid is empty"}
    watch, knobs.compilation.watch = knobs.compilation.watch, ""
    try:
        options = {"num_warps": compiled.metadata.num_warps, "num_stages": compiled.metadata.num_stages}
        code = compile(compiled.src, target=GPUTarget("cuda", architecture, _core.warp_size("cuda", str(architecture))), options=options)
        module = Module(code.asm["ptx"])
        ((name, facts),) = module.kernels.items()
        if len(facts["parameters"]) != len(arguments):  # numbers that are equal to 1 are none
            types = [type for part in compiled.src.signature.values() for type in (part if isinstance(part, tuple) else (part,))]
            arguments = [value for value, type in zip(arguments, types) if type != "constexpr"]
        if len(facts["parameters"]) != len(arguments):
            return {**result, "why_not": f"the kernel takes {len(facts['parameters'])} arguments, not {len(arguments)}"}
        data = [
            value if isinstance(value, bytes) else _scalar_bytes(value, label, kind, size)
            for value, (label, kind, size, _) in zip(arguments, facts["parameters"])
        ]
        flags = False, 0, True, True, 0, 0, 100, False  # in order, all checks, counters, all cores
        report = Report(*_core.simulator_run(module._module, name, _cut(grid), facts["threads"], (0, 0, 0), code.metadata.shared, data, memory, flags))
    except (ValueError, TypeError, RuntimeError, KeyError, NotImplementedError) as error:
        return {**result, "why_not": str(error).splitlines()[0]}
    finally:
        knobs.compilation.watch = watch
    counted = ("global_accesses", "global_sectors", "ideal_sectors", "shared_accesses", "shared_wavefronts", "bank_conflicts")
    callers = callers_of_library(code.asm["llir"])
    lines = {}
    for row in report.lines:
        if any(row[name] for name in counted):
            place = row["place"]["file"], row["place"]["line"]
            total = lines.setdefault(tuple(callers.get(place, [place])), dict.fromkeys(counted, 0))
            for name in counted:
                total[name] += row[name]
    return {
        **result, "grid": list(_cut(grid)), "warps": code.metadata.num_warps, "layouts": layouts(code.asm["gpu"]),
        "lines": [{"file": first[0], "line": first[1], "more_lines": [line for _, line in others], **total} for (first, *others), total in sorted(lines.items())],
        "findings": [
            {"kind": finding.kind, "file": file, "line": line, "message": finding.message}
            for finding in report.findings for file, line in callers.get((finding.file, finding.line), [(finding.file, finding.line)])[:1]
        ],
    }  # fmt: skip


def callers_of_library(text):
    """{place in the language's own library: [places of the user's that call it]} of a module's LLVM IR, places as (file, line): PTX names the
    library's line alone."""
    nodes = {match[1]: (match[2], dict(_FIELD.findall(match[3]))) for match in _NODE.finditer(text)}

    def file_of(node):
        kind, fields = nodes[node]
        return (
            file_of(fields["file" if "file" in fields else "scope"])
            if kind != "DIFile"
            else os.path.join(fields["directory"].strip('"'), fields["filename"].strip('"'))
        )

    found = {}
    for kind, fields in list(nodes.values()):
        if kind != "DILocation" or "inlinedAt" not in fields:
            continue
        place = file_of(fields["scope"]), int(fields["line"])
        outer = fields
        while file_of(outer["scope"]).startswith(_LIBRARY) and "inlinedAt" in outer:
            outer = nodes[outer["inlinedAt"]][1]
        if place[0].startswith(_LIBRARY):
            found.setdefault(place, set()).add((file_of(outer["scope"]), int(outer["line"])))
    return {place: sorted(callers) for place, callers in found.items()}


def _cut(grid):
    kept, room = [], MOST_PROGRAMS
    for extent in grid:
        kept.append(min(extent, max(1, room)))
        room //= kept[-1]
    return tuple(kept)


def layouts(text):
    """Of the IR in which tiles have layouts: each with its text and the operations whose tiles have it, first those that are accessed or
    computed with."""
    last = {"arange", "expand_dims", "splat", "broadcast", "addptr", "convert_layout", "permute"}
    found = []
    for name, layout in _LAYOUT.findall(text):
        used = re.compile(rf"#{name}\b")
        operations = [match[1] for match in _USE.finditer(text) if used.search(match[0])]
        found.append({"text": layout, "used_by": list(dict.fromkeys(operations))})
    return sorted(found, key=lambda layout: last.issuperset(layout["used_by"]))
