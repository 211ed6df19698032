"""Random typed programs: every engine there is must leave the same bits in memory.

NACRE_RANDOM_PROGRAMS=N runs N programs (500 otherwise), NACRE_RANDOM_SEED=S starts at seed S. A difference is shown with the
shortest program that still has it.
"""

import contextlib
import importlib.util
import multiprocessing
import os

import engines as engine_list
import numpy as np
import pytest
from scalar_types import TYPES, decode, encode
from typed_program import TypedProgram

COUNT = int(os.environ.get("NACRE_RANDOM_PROGRAMS", 500))
FIRST = int(os.environ.get("NACRE_RANDOM_SEED", 0))
BATCH = 25
ENGINES = engine_list.find(os.environ.get("NACRE_TEST_ENGINE") or None)[0]


def contents(array, seed):
    """Random numbers and corners of a type, as bits."""
    rng = np.random.default_rng(seed)
    t = TYPES[array.type]
    size = int(np.prod(array.shape))
    if t.is_integer:
        low, high = np.iinfo(t.numpy).min, np.iinfo(t.numpy).max
        values = rng.integers(low, high, size, dtype=t.numpy, endpoint=True)
        corners = np.array([0, 1, high, low, high - 1], dtype=t.numpy)
    else:
        values = encode(rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size), array.type)
        corners = encode(np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-7, 240.0]), array.type)
    chosen = np.where(rng.random(size) < 0.15, corners[rng.integers(0, len(corners), size)], values)
    return chosen.astype(t.numpy).reshape(array.shape)


def load_kernel(text, folder, name):
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def run(engine, kernel, program, outputs):
    """The bits of every output array."""
    with engine.active():
        inputs = [engine.from_bits(contents(array, program.seed * 100 + i), array.type) for i, array in enumerate(program.inputs)]
        outs = [engine.empty((program.programs, *array.shape), array.type) for array, _ in outputs]
        kernel[(program.programs,)](*inputs, *outs, program.runtime, enable_fp_fusion=False)
        return [engine.bits(out, array.type) for out, (array, _) in zip(outs, outputs)]


def differs(array, a, b):
    """A text that says how two results differ, or None. Every NaN is as good as another."""
    x, y = decode(a, array.type), decode(b, array.type)
    if TYPES[array.type].is_float:
        nan = np.isnan(x.astype(np.float64))
        same = np.where(nan, np.isnan(y.astype(np.float64)), (x == y) & (np.signbit(x) == np.signbit(y)))
        if array.tolerance:
            with np.errstate(all="ignore"):
                same |= np.abs(x - y) <= array.tolerance * np.maximum(np.abs(x), 1e-3)
    else:
        same = x == y
    if same.all():
        return None
    places = np.argwhere(~same)[:4]
    return ", ".join(f"{place.tolist()}: {x[tuple(place)]!r} and {y[tuple(place)]!r}" for place in places)


def problem(program, folder, outputs=None):
    """What is wrong with a program, or None. The program is valid, so that an error is a finding too."""
    chosen = program.outputs if outputs is None else outputs
    name = f"program_{program.seed}" + ("" if outputs is None else f"_{len(list(folder.iterdir()))}")
    try:
        kernel = load_kernel(program.source(outputs), folder, name)
        results = [run(engine, kernel, program, chosen) for engine in ENGINES]
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    for engine, result in zip(ENGINES[1:], results[1:]):
        for (array, expression), a, b in zip(chosen, results[0], result):
            text = differs(array, a, b)
            if text:
                return f"{expression}: {ENGINES[0].name} and {engine.name} differ: {text}"
    return None


def explain(program, folder, found):
    """The problem, in the shortest program that shows one."""
    for candidate in [*program.everything(), *program.outputs]:
        shorter = problem(program, folder, [candidate])
        if shorter:
            return f"seed {program.seed}, n = {program.runtime}\n{shorter}\n{program.source([candidate])}"
    return f"seed {program.seed}, n = {program.runtime}\n{found}\n{program.source()}"


def check_batch(seeds, folder, report):
    """Writes to `report` each seed as it begins, then what is wrong with it."""
    for seed in seeds:
        report.send((seed, None))
        program = TypedProgram(seed)
        found = problem(program, folder)
        if found:
            report.send((seed, explain(program, folder, found)))
    report.close()


@pytest.mark.skipif(len(ENGINES) < 2, reason="one engine alone has nothing to agree with")
@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_engines_agree(first, tmp_path):
    """In a child, so that machine code that ends the process is a finding like the others."""
    seeds = range(first, min(first + BATCH, FIRST + COUNT))
    reader, writer = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=check_batch, args=(seeds, tmp_path, writer))
    child.start()
    writer.close()
    problems, last = [], None
    with contextlib.suppress(EOFError):
        while True:
            last, text = reader.recv()
            problems += [text] if text else []
    child.join()
    if child.exitcode != 0:
        problems.append(f"seed {last} ends the process ({child.exitcode})\n{TypedProgram(last).source()}")
    assert not problems, "\n\n".join(problems)


def test_programs_use_the_whole_generator():
    """The generator is not stuck in a corner: every kind of statement and every type occurs."""
    text = "\n".join(TypedProgram(seed).source() for seed in range(200))
    for part in ["tl.where", "mask=", "other=", "tl.reshape", "tl.permute", "tl.broadcast_to", "for i in", "while ", "break", "continue", "tl.sum",
                 "tl.argmax", "tl.cumsum", "tl.sort", "tl.gather", "tl.join", "tl.split", "tl.cat", "bitcast=True", "rtz", "tl.exp", "static_range",
                 "range(n, 0, -1)", "tl.fma", "else:"]:  # fmt: skip
        assert part in text, part
    for name in [*TYPES]:
        if name not in ("int1", "float8e4b8", "float8e5b16"):
            assert f"tl.{name}" in text, name
