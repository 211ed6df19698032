"""Runs generated cases on one engine: python run_generated.py ENGINE FIRST COUNT FOLDER. Prints one line for each that is not as it should be."""

import importlib.util
import io
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
if sys.argv[1] == "interpreter":
    os.environ["TRITON_INTERPRET"] = "1"
elif sys.argv[1] == "simulator":
    os.environ["NACRE_DEVICE"] = "simulate"
    os.environ["NACRE_SIMULATOR_FINDINGS"] = str(Path(sys.argv[4]) / "findings")

import nacre

nacre.activate()
import generator
import generator_values  # noqa: F401
from nacre import sanitizer


def write_module(cases, folder):
    """The kernels of the cases as a module on disk, and the lines that are at fault by case."""
    text, lines = "import triton\nimport triton.language as tl\n", {}
    for case in cases:
        first = text.count("\n")
        lines[case.name] = [first + number for number, line in enumerate(case.text.splitlines(), 1) if line.endswith("# BUG")]
        text += case.text
    path = Path(folder) / f"kernels_{cases[0].name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, str(path), lines


def launch(case, module):
    kernels = [getattr(module, case.name), *(value for name, value in vars(module).items() if name.startswith(case.name + "_"))]
    case.launch(*kernels[: case.launch.__code__.co_argcount])


def watch(case, module, kinds):
    """(findings, an error that no finding explains)"""
    sanitizer.start(kinds, stream=io.StringIO())
    error = None
    try:
        launch(case, module)
    except Exception as problem:
        error = problem
    found = sanitizer.stop()
    return found, None if found and isinstance(error, sanitizer.SanitizerError) else error


def complaints(case, planted, module, path, lines, kinds="all"):
    found, error = watch(case, module, kinds)
    if error is not None:
        yield f"raised {type(error).__name__}: {str(error)[:300]}"
        return
    if not planted:
        if found:
            yield f"is clean, but: {found[0]['kind']} at line {found[0]['line']}: {found[0]['message']}"
        return
    own = [finding for finding in found if finding["kind"] == case.kind]
    if not own:
        yield f"{case.kind} found nothing" + (f"; others: {found[0]['kind']}: {found[0]['message']}" if found else "")
    for finding in own:
        if finding["file"] != path or finding["line"] not in lines[case.name]:
            yield f"at {finding['file']}:{finding['line']}, not at {lines[case.name]}: {finding['message']}"
        if case.argument and finding.get("argument") != case.argument:
            yield f"of {finding.get('argument')!r}, not of {case.argument!r}: {finding['message']}"


def simulated(case, planted, module, path, lines):
    from nacre.sanitizer._gpu_program import SimulatorFindings

    file = Path(os.environ["NACRE_SIMULATOR_FINDINGS"])
    file.unlink(missing_ok=True)
    try:
        launch(case, module)
        text = ""
    except Exception as problem:
        text = str(problem)
    findings = SimulatorFindings()
    findings.read_file(file)
    if not planted:
        if text:
            yield f"is clean, but raised {text[:300]}"
    elif not any(finding["kind"] == case.kind and finding["line"] in lines[case.name] for finding in findings.found):
        yield f"{case.kind} found nothing at {lines[case.name]}: {text[:300]}"


def main(engine, first, count, folder):
    wrong = ran = 0
    for seed in range(first, first + count):
        for planted in (True, False):
            case = generator.make(seed, planted)
            if engine not in case.engines or (engine == "interpreter" and case.kind in ("tsan", "ub")):  # refused there
                continue
            ran += 1
            module, path, lines = write_module([case], folder)
            check = {"simulator": simulated, "interpreter": partial(complaints, kinds="asan,msan")}.get(engine, complaints)
            for complaint in check(case, planted, module, path, lines):
                wrong += 1
                print(f"{case.name}: {complaint}", flush=True)
    print(f"{engine}: {ran} cases, {wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
