"""Writes a finding as a script of its own, which prints WRONG or same, and says which findings are likely one."""

import re
from collections import Counter
from pathlib import Path

from .reducer import headline

PLAIN = r"tl\.(?!load|store|arange|program_id|constexpr|u?int|float|bfloat|broadcast_to)"  # functions that say something

SCRIPT = '''"""{title}

{symptom}
Run with the project's Python: prints WRONG, or same, for each engine; a crash or a hang speaks for itself.
"""

import os
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
import nacre

nacre.activate()
from triton.tools.tensor_descriptor import TensorDescriptor
{kernel}

{memory}

ARRAYS = [  # name, type, elements, contents, ends (or begins) at an inaccessible page, tolerance, same memory as, descriptor
{arrays}
]
SCALARS = {scalars}
OPTIONS = {options}


def argument_of(description, guarded):
    return TensorDescriptor(guarded.argument(), *map(list, description)) if description else guarded.argument()


def run(interpret=False, target="", architecture=None, **options):
    triton.runtime.driver.active.set_interpret_mode(interpret)
    nacre.knobs.compilation.cpu_target = target
    nacre._core.set_active_device("simulate" if architecture else None)
    nacre.knobs.runtime.override_arch = architecture
    memory = {{}}
    for name, type_name, count, _, at_end, _, same_as, _ in ARRAYS:
        memory[name] = memory[same_as] if same_as else GuardedArray(type_name, count, at_end)
    memory = list(memory.values())
    for guarded, (_, type_name, count, contents, *_) in zip(memory, ARRAYS):
        guarded.fill(contents_of(type_name, count, contents))
    kernel[{grid}](*(argument_of(row[-1], guarded) for row, guarded in zip(ARRAYS, memory)), *SCALARS, **OPTIONS, **options)
    return [guarded.array.copy() for guarded in memory] + [np.array([not guarded.intact() for guarded in memory])]


expected = run(interpret=True)
for engine in ("cpu", "cpu-v3", "cuda:90", "cuda:90/2", "cuda:90/4", "cuda:80", "cuda:75"):
    gpu, _, ctas = engine.removeprefix("cuda:").partition("/")
    try:
        result = run(target="x86-64-v3" if engine == "cpu-v3" else "", architecture=gpu if engine != gpu else None, num_ctas=int(ctas or 1))
    except Exception as error:
        print("WRONG", engine, str(error)[:300])
        continue
    wrong = [(name, np.flatnonzero(differences(type_name, a, b, tolerance)), a, b)
             for (name, type_name, _, _, _, tolerance, *_), a, b in zip([*ARRAYS, ("beyond an array", "int1", 0, 0, 0, 0)], expected, result)]
    wrong = [item for item in wrong if item[1].size]
    for name, places, a, b in wrong:
        print("WRONG", engine, name, f"{{places.size}} of {{a.size}} at {{places[:6]}}: interpreter", a[places[:6]], engine, b[places[:6]])
    if not wrong:
        print("same ", engine)
'''


def script(program, found, seed):
    memory = (Path(__file__).parent / "guarded_memory.py").read_text()
    memory = memory[memory.index("import ctypes") :].rstrip()
    rows = [(a.name, a.type, a.count, a.contents, a.at_end, a.tolerance, a.same_as, a.described) for a in program.arrays]
    arrays = "\n".join(f"    {row}," for row in rows)
    symptom = "\n".join(found["text"].splitlines()[:12]).replace('"""', "'''").replace("\\", "\\\\")
    return SCRIPT.format(
        title=f"Seed {seed}: {found['kind']} on {found['engine']}.", symptom=symptom, kernel=program.source(), memory=memory, arrays=arrays,
        scalars=list(program.named(program.scalars).values()), grid=program.grid,
        options={**program.named(program.constants), **program.options()},
    )  # fmt: skip


def identity(program, found):
    """Findings with one identity are likely one bug: the same failure, shown by the same kinds of statements."""
    if found["kind"] == "error":
        return ("error", found["engine"], headline(found["text"]))
    functions = sorted(set(re.findall(PLAIN + r"\w+", "\n".join(program.lines))))
    return (found["kind"], found["engine"], *sorted(set(program.kinds)), *functions)


def features(program):
    """What a program exercises, for counts of coverage."""
    text = program.source()
    found = Counter(set(program.kinds))
    found.update({f"tl.{name}" for name in re.findall(r"tl\.(\w+)", text)})
    found.update({f"rank {len(value.shape)}" for value in program.scopes[0].values})
    if program.programs > 1:
        found["several programs"] += 1
    for word in ("break", "continue", "while", "mask=", "other=", " % ", " // ", " << ", " >> ", "if ", "for "):
        if word in text:
            found[word.strip()] += 1
    return found
