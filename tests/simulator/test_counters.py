"""The kernels whose counters bench/gpu/simulator.py compares with a GPU's: what is known of them without one."""

import copy
import csv
import importlib.util
import io
from pathlib import Path

import numpy as np
import pack


def load(path):
    """The module, without its folder on sys.path: others would find bench/gpu/kernels.py where they ask for a package of that name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comparison = load(Path(__file__).resolve().parents[2] / "bench/gpu/simulator.py")


def test_counters_that_follow_from_the_addresses():
    counted = comparison.counted()
    assert len(counted) == len(comparison.kernels())
    warps = comparison.WARPS
    sectors = {"words_stride_1": 4, "words_stride_2": 8, "words_stride_8": 32, "words_stride_32": 32, "bytes_stride_1": 1, "halves_stride_1": 2,
               "quads_stride_1": 16, "words_stride_0": 1, "words_off_by_one": 5, "words_low_lanes": 2}  # fmt: skip
    conflicts = {"words_stride_2": 1, "words_stride_32": 31, "words_stride_33": 0, "quads_stride_1": 0, "quads_stride_8": 28, "pairs_stride_1": 0,
                 "pairs_stride_2": 2, "matrices_4_apart": 28, "matrices_4_padded": 0}  # fmt: skip
    conflicts_of_loads = {"pairs_even_lanes": 1, "quads_even_lanes": 2, "quads_quarter_lanes": 2}
    for name, expected in conflicts_of_loads.items():
        assert counted[f"load_shared_{name}"]["conflicts"] == warps * expected and counted[f"store_shared_{name}"]["conflicts"] == 0, name
    # Of 8 and 16 bytes, two neighbours that load the same are served as one lane; stores are not.
    around = comparison.TILE_WORDS // 32
    for name, expected in {"pairs_stride_0": 1, "pairs_twice": 1, "quads_twice": 2, "quads_stride_0": 2, "quads_twice_across": 2, "quads_rows_of_4": 4}.items():
        assert counted[f"load_shared_{name}"]["wavefronts"] == warps * (around + expected), name
        size = 2 if name.startswith("pairs") else 4
        assert counted[f"store_shared_{name}"]["wavefronts"] == warps * (around + size + 1), name  # and a load of what was stored
    for verb in ("load", "store"):
        around = 2 * 4  # offsets are loaded, results are stored
        for name, expected in sectors.items():
            assert counted[f"{verb}_global_{name}"]["sectors"] == warps * (expected + around), name
        for name, expected in conflicts.items():
            kernel = f"{verb}_{name}" if name.startswith("matrices") else f"{verb}_shared_{name}"
            assert counted[kernel]["conflicts"] == warps * expected, name


def test_measured_counters_are_read_and_compared():
    """As `ncu --csv --page raw` writes them, with its own lines before."""
    names = ["ID", "Kernel Name", *(metric for group in comparison.METRICS.values() for metric in group)]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerow(["", "", *["sector"] * 2, *[""] * 4])
    counted = comparison.counted()
    for number, (kernel, values) in enumerate(counted.items()):
        writer.writerow([number, f"{kernel}(unsigned long)", f"{values['sectors'] - 16:,}", "16", str(values["wavefronts"]), "0", str(values["conflicts"]), "0"])
    measured = comparison.parse_measured("==PROF== Connected to process 1\n" + out.getvalue())
    assert measured == counted and comparison.table(counted, measured)[1]
    measured = copy.deepcopy(measured)
    measured["load_shared_quads_stride_1"]["conflicts"] += 2
    lines, equal = comparison.table(counted, measured)
    assert not equal and [line for line in lines if line.endswith("differs")][0].startswith("load_shared_quads_stride_1 ")
    assert len(comparison.table(counted, measured, differing_only=True)[0]) == 2


def test_programs_recorded_anew_take_the_place_of_the_old(tmp_path):
    target, first, second = tmp_path / "recorded.npz", tmp_path / "first.npz", tmp_path / "second.npz"
    names = [program.name for program in pack.programs() if program.group != "approx"][:3]
    np.savez(first, **{name: np.full(4, i, np.uint8) for i, name in enumerate(names)})
    np.savez(second, **{names[1]: np.full(4, 77, np.uint8)})
    pack.main(first, target)
    pack.main(second, target)
    with np.load(target) as packed:
        digests = dict(zip(packed["names"].tolist(), packed["digests"]))
    assert list(digests) == names
    for name, value in zip(names, (0, 77, 2)):
        assert (digests[name] == pack.digest(np.full(4, value, np.uint8))).all()
