"""The kernels of the language tests, as tile IR, and what ptxas says of the code that each GPU gets for them.

    python tests/ptxas/ptxas_kernels.py [--every N] [--capabilities 75,90] [--jobs 2] [TESTS ...]

runs the tests on the simulated GPU, keeps the IR of every kernel that they compile, compiles it for each GPU, and has ptxas assemble it.
It prints every refusal and every remark that costs speed (C75xx: wgmma made serial), and how many kernels there were.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPABILITIES = (75, 80, 86, 89, 90, 100, 120)


@dataclass
class Assembled:
    kernel: str
    capability: int
    error: str = ""
    registers: int = 0
    spilled_bytes: int = 0
    remarks: list = field(default_factory=list)

    def text(self):
        return f"{self.kernel} for {self.capability}: {self.error or ', '.join(self.remarks)}"


def collect(folder, tests, every=1, seconds=None):
    """The IR of the kernels that every n-th of the tests compiles, in files of the folder, each text once. Kernels that call users'
    libraries are left out: those are the tests' own, and gone."""
    environment = {**os.environ, "NACRE_TEST_ENGINE": "cuda-simulated", "NACRE_TEST_EVERY": str(every), "TRITON_KERNEL_DUMP": "1",
                   "TRITON_DUMP_DIR": str(folder / "dump")}  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "every_nth", *map(str, tests)]
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [environment.get("PYTHONPATH")])])
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)
    texts = {}
    for path in sorted((folder / "dump").rglob("*.ttir")) or sorted((folder / "dump").rglob("*.tile")):
        text = path.read_text()
        if "tile.external_call" not in text:
            texts.setdefault(text, path.stem)
    files = []
    for number, (text, name) in enumerate(texts.items()):
        files.append(folder / f"{number:05}_{name}.ttir")
        files[-1].write_text(text)
    if not files:
        raise RuntimeError(f"no kernel was compiled:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    return files


def ptx_of(file, capability):
    """The PTX of a kernel in a file of tile IR."""
    import nacre
    from nacre import _core

    nacre.knobs.runtime.override_arch = str(capability)
    _core.set_active_device("simulate")
    try:
        return nacre.compile(str(file)).asm["ptx"]
    finally:
        _core.set_active_device(None)
        nacre.knobs.runtime.override_arch = None


def assemble(name, capability, ptx):
    """What ptxas says of a kernel's PTX."""
    made = Assembled(name, capability)
    target = re.search(r"^\.target (\w+)", ptx, re.MULTILINE).group(1)
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [shutil.which("ptxas"), "-v", f"-arch={target}", file.name, "-o", os.devnull]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    said = ended.stdout + ended.stderr
    if ended.returncode:
        made.error = said.strip()[:500]
        return made
    made.registers = int(re.search(r"Used (\d+) registers", said).group(1))
    made.spilled_bytes = sum(map(int, re.findall(r"(\d+) bytes spill (?:stores|loads)", said)))
    made.remarks = re.findall(r"\(C75\d\d\).*", said)
    return made


def least_capability(file):
    """That has what the kernel was launched with: clusters of blocks."""
    return 90 if int((re.search(r"tile\.num_ctas = (\d+)", file.read_text()) or (0, 1))[1]) > 1 else 0


def assemble_all(files, capabilities_of, jobs):
    """One after the other to PTX, `jobs` at a time through ptxas. A compile that fails is an error of its kernel."""
    found = []
    with ThreadPoolExecutor(jobs) as pool:
        for number, file in enumerate(files):
            for capability in sorted({max(capability, least_capability(file)) for capability in capabilities_of(number)}):
                try:
                    ptx = ptx_of(file, capability)
                except Exception as error:  # noqa: BLE001
                    found.append(Assembled(file.stem, capability, error=str(error)))
                    continue
                found.append(pool.submit(assemble, file.stem, capability, ptx))
        return [item if isinstance(item, Assembled) else item.result() for item in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take every n-th test")
    parser.add_argument("--capabilities", default=",".join(map(str, CAPABILITIES)))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("tests", nargs="*", default=["tests/language"])
    options = parser.parse_args()
    capabilities = [int(item) for item in options.capabilities.split(",")]
    with tempfile.TemporaryDirectory(prefix="nacre-ptxas-") as folder:
        files = collect(Path(folder), options.tests, options.every)
        print(f"{len(files)} kernels", flush=True)
        results = assemble_all(files, lambda number: capabilities, options.jobs)
    wrong = [result for result in results if result.error or result.remarks]
    for result in wrong:
        print(result.text())
    spilled = sum(result.spilled_bytes > 0 for result in results)
    print(f"{len(results)} assembled for {options.capabilities}: {len(wrong)} refused or with remarks, {spilled} spill registers")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
