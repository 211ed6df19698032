"""What a GPU's code would do in a launch: the kernel compiled for the CUDA target and run in the simulator, on copies of the arrays."""

import re

from .. import knobs

MOST_PROGRAMS = 256  # that are simulated; a launch of more is cut
_LAYOUT = re.compile(r'^#(\w+) = #gpu\.layout<"([^"]+)">', re.MULTILINE)
_USE = re.compile(r"^\s*(?:%\S+ = )?(?:tile|gpu)\.(\w+)\b.*", re.MULTILINE)


def copies(kernel, values):
    """The arguments as the simulator takes them: arrays as they are now, one copy for one that is passed several times."""
    import numpy

    known, found = {}, []

    def add(value):
        if isinstance(value, tuple):
            for item in value:
                add(item)
            return
        if hasattr(value, "untyped_storage"):
            value = value.detach().cpu().numpy()  # shares memory: copied below
        if isinstance(value, numpy.ndarray):
            key = value.__array_interface__["data"][0], value.nbytes
            value = known.setdefault(key, value.copy())
        found.append(value)

    for param, value in zip(kernel.params, values):
        if not param.is_constexpr:
            add(value)
    return found


def _architecture(compiled):
    """The one that the code is for, or the newest that the simulator knows."""
    known = 90
    arch = str(compiled.metadata.target.arch) if compiled is not None else ""
    return min(int(arch), known) if arch.isdigit() else known


def simulate(compiled, arguments, grid):
    """Counters by line and the layouts of tiles, as JSON has them; with `why_not` where the launch cannot be simulated."""
    from ..backends.compiler import GPUTarget
    from ..compiler import compile
    from ..simulator import Module

    architecture = _architecture(compiled)
    result = {"architecture": f"sm_{architecture}"}
    if compiled is None:
        return {**result, "why_not": "Python runs the kernel: nothing was compiled"}
    watch, knobs.compilation.watch = knobs.compilation.watch, ""
    try:
        options = {"num_warps": compiled.metadata.num_warps, "num_stages": compiled.metadata.num_stages}
        code = compile(compiled.src, target=GPUTarget("cuda", architecture, 32), options=options)
        module = Module(code.asm["ptx"])
        ((name, facts),) = module.kernels.items()
        if len(facts["parameters"]) != len(arguments):  # numbers that are equal to 1 are none
            types = [type for part in compiled.src.signature.values() for type in (part if isinstance(part, tuple) else (part,))]
            arguments = [value for value, type in zip(arguments, types) if type != "constexpr"]
        report = module.run(name, _cut(grid), facts["threads"], arguments, shared=code.metadata.shared)
    except (ValueError, TypeError, RuntimeError, KeyError, NotImplementedError) as error:
        return {**result, "why_not": str(error).splitlines()[0]}
    finally:
        knobs.compilation.watch = watch
    counted = ("global_accesses", "global_sectors", "ideal_sectors", "shared_accesses", "shared_wavefronts", "bank_conflicts")
    lines = {}
    for row in report.lines:
        if any(row[name] for name in counted):
            total = lines.setdefault((row["place"]["file"], row["place"]["line"]), dict.fromkeys(counted, 0))
            for name in counted:
                total[name] += row[name]
    return {
        **result, "grid": list(_cut(grid)), "warps": code.metadata.num_warps, "layouts": layouts(code.asm["gpu"]),
        "lines": [{"file": file, "line": line, **total} for (file, line), total in sorted(lines.items())],
        "findings": [{"kind": finding.kind, "line": finding.line, "message": finding.message} for finding in report.findings],
    }  # fmt: skip


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
