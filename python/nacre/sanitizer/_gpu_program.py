"""`nacre sanitize --gpu COMMAND...`: what a GPU's code does wrong, in the form of the other sanitizers.

Where there is a GPU and NVIDIA's compute-sanitizer, the command runs under that, with the settings it needs; else the CUDA target's code
runs in the simulator, which checks it on arrays in host memory."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from .._terminal import check_writable, misused
from . import _launch_log, _report
from ._program import command_environment, command_line

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
USAGE = f"""usage: nacre sanitize --gpu [options] COMMAND...

  --tool NAME    of compute-sanitizer: {", ".join(TOOLS)} (default: memcheck); the simulator checks all at once,
                 but reads of unwritten elements in shared and local memory alone (of arrays: triton-san msan)
  --simulate     in the simulator, also where there is a GPU
  --json FILE    also write the findings as JSON

COMMAND is a program (python script.py, pytest) or a script (script.py). Exit status: the command's own; 66 after data races
alone, 1 after other findings.
"""


class Findings:
    """`found`: the findings of a command, as _report has them."""

    def __init__(self):
        self.found = []

    def add(self, finding):
        """One for each place and kind, that of the first program and thread: a GPU's lanes all report the same fault."""
        defaults = {"what": "", "file": "", "line": 0, "column": 0, "program": [0, 0, 0], "thread": [0, 0, 0], "message": "", "repeats": 0}
        finding = {**defaults, **finding}
        for position, other in enumerate(self.found):
            if all(other[key] == finding[key] for key in ("kind", "what", "kernel", "file", "line", "column")):
                first = min(other, finding, key=lambda one: (one["program"][::-1], one["thread"][::-1]))
                self.found[position] = {**first, "repeats": other["repeats"] + finding["repeats"] + 1}
                return
        self.found.append(finding)


# The simulator's kinds, and the sanitizers that find the like.
_SIMULATED = {
    "out-of-bounds": ("asan", "heap-buffer-overflow"), "misaligned": ("asan", "misaligned-address"), "read-only-store": ("asan", "write-to-read-only"),
    "shared-race": ("tsan", "data race"), "global-race": ("tsan", "data race"), "proxy-race": ("tsan", "data race"),
    "uninitialized": ("msan", "use-of-uninitialized-value"),
}  # fmt: skip
_NUMBERS = r"\((\d+), ?(\d+), ?(\d+)\)"


class SimulatorFindings(Findings):
    """Of the file that the simulated device writes: a line of JSON for each launch with findings, also where the script catches the error."""

    def read_file(self, path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                reports = [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return
        for report in reports:
            for found in report["findings"]:
                if found["kind"] not in (*_SIMULATED, *_OTHER_KINDS):
                    continue  # assertions that fail are the script's own
                kind, what = _SIMULATED.get(found["kind"], ("sync", found["kind"]))
                place, other = found["place"], found["other"]
                message = found["message"]
                if other and other["line"]:
                    message += f"; the other access is at {other['file']}:{other['line']}:{other['column']}"
                self.add({
                    "kind": kind, "what": what, "kernel": report["kernel"], "message": message, "file": place["file"], "line": place["line"],
                    "column": place["column"], "program": found["block"], "thread": found["thread"] or [], "repeats": found["count"] - 1,
                })  # fmt: skip


_OTHER_KINDS = (
    "divergent-barrier", "barrier-mismatch", "synchronization-misuse", "deadlock", "mbarrier-misuse", "wgmma-in-flight", "wgmma-fence", "descriptor",
    "tensor-map", "trap", "limit-reached", "register-pool",
)  # fmt: skip


class ComputeSanitizerFindings(Findings):
    """Of compute-sanitizer's reports: blocks of lines that begin with =========."""

    _KINDS = (
        (re.compile(r"Invalid __(\w+)__ (read|write|atomic) of size (\d+)"), "asan", "heap-buffer-overflow"),
        (re.compile(r"(?:Race reported|Potential \w+ hazard|.*hazard detected)"), "tsan", "data race"),
        (re.compile(r"Uninitialized __\w+__ memory read of size (\d+)"), "msan", "use-of-uninitialized-value"),
        (re.compile(r"Barrier error detected.*"), "sync", "divergent-barrier"),
        (re.compile(r"Misaligned|.*misaligned"), "asan", "misaligned-address"),
    )
    _AT = re.compile(r"\s+at (?P<kernel>[\w$]+)(?:\(.*\))?(?:\+0x[0-9a-f]+)?(?: in (?P<file>.+?):(?P<line>\d+))?(?::.*)?$")
    _BY = re.compile(r"\s+by thread " + _NUMBERS + r" in block " + _NUMBERS)
    _DETAIL = re.compile(r"\s+(Access (?:at|to) .+|and is .+|Address .+)")
    _ADDRESS = re.compile(r"\b(?:Access (?:at|to)|Address) (0x[0-9a-fA-F]+)")

    def __init__(self):
        super().__init__()
        self.open = None

    def read(self, line):
        if not line.startswith("========="):
            return
        text = line[len("=========") :].rstrip()
        if not text.startswith("  "):
            self.finish()
            heading = text.strip()
            # racecheck says "Error: Race reported between ..."; leaks and notes of its own are none of ours.
            heading = re.sub(r"^(?:Error|Warning): ", "", heading)
            for pattern, kind, what in self._KINDS:
                if pattern.match(heading):
                    if "misaligned" in heading.lower():
                        what = "misaligned-address"
                    self.open = {"kind": kind, "what": what, "kernel": "", "message": heading}
                    break
            return
        if not self.open:
            return
        at, by, detail = self._AT.match(text), self._BY.match(text), self._DETAIL.match(text)
        if at and not self.open["kernel"]:
            self.open.update(kernel=at["kernel"], file=at["file"] or "", line=int(at["line"] or 0))
        elif by and "program" not in self.open:
            numbers = [int(number) for number in by.groups()]
            self.open.update(thread=numbers[:3], program=numbers[3:])
        elif detail:
            self.open["message"] += f"; {detail[1]}"
            address = self._ADDRESS.search(detail[1])
            if address:
                self.open["address"] = int(address[1], 16)

    def name_arguments(self, launches):
        """Says which arguments the addresses belong to, where the launches (_launch_log.read) tell."""
        for finding in self.found:
            facts = _launch_log.describe(finding.get("address", -1), launches.get(finding["kernel"], []))
            if facts:
                finding.update(facts)
                finding["message"] += f"; {_report._element(finding)}"

    def finish(self):
        if self.open and self.open["kernel"]:
            self.add(self.open)
        self.open = None


def report(finding):
    """The text of a finding, in the words of LLVM's sanitizers."""
    name = _report.NAMES.get(finding["kind"], "SynchronizationSanitizer")
    is_race = finding["kind"] == "tsan"
    place = _report.place(finding) if finding["column"] else f"{finding['file']}:{finding['line']}"
    threads = f", thread {_report._program(finding['thread'])}" if finding["thread"] else ""
    return "\n".join([
        f"{'WARNING' if is_race else 'ERROR'}: {name}: {finding['what']} by program {_report._program(finding['program'])}{threads}",
        f"    #0 in {finding['kernel']} {place}",
        *_report.shown(finding),
        f"  {finding['message']}",
        *([f"  the same was found {finding['repeats']} more times"] if finding["repeats"] else []),
        f"SUMMARY: {name}: {finding['what']} {place} in {finding['kernel']}",
        "",
    ])  # fmt: skip


def _has_gpu():
    from .. import _core

    return any(name == "cuda" and count > 0 for name, count, _ in _core.devices())


def _parse(arguments):
    options = {"tool": "memcheck", "simulate": False, "json": None}
    while arguments and arguments[0].startswith("-"):
        name, equals, value = arguments[0].partition("=")
        arguments = arguments[1:]
        if name == "--simulate":
            options["simulate"] = True
            continue
        if name not in ("--tool", "--json"):
            raise ValueError(f"there is no option {name}")
        if not equals:
            if not arguments:
                raise ValueError(f"{name} needs a value")
            value, *arguments = arguments
        options[name[2:]] = value
    if options["tool"] not in TOOLS:
        raise ValueError(f"compute-sanitizer has no tool {options['tool']!r}; there are {', '.join(TOOLS)}")
    if not arguments:
        raise ValueError("no command is given")
    if options["json"]:
        check_writable("--json", options["json"])
    return options, arguments


def _plan(options, command, folder):
    """(command, variables, what reads what is found, what is said first). `folder`: for files of the run."""
    program = shutil.which("compute-sanitizer") or next((path for path in ("/usr/local/cuda/bin/compute-sanitizer",) if os.path.exists(path)), None)
    if not options["simulate"] and program and _has_gpu():
        # Lines of kernels are in their code; memory is allocated piece by piece, so that overruns leave their block.
        return (
            [program, "--tool", options["tool"], "--show-backtrace", "no", "--print-limit", "100", *command_line(command)],
            {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "NACRE_LAUNCH_LOG": os.path.join(folder, "launches")}, ComputeSanitizerFindings(), f"compute-sanitizer's {options['tool']}",
        )  # fmt: skip
    why = "as asked" if options["simulate"] else "there is no GPU" if program else "there is no compute-sanitizer" if _has_gpu() else "there is no GPU"
    variables = {"NACRE_DEVICE": "simulate", "NACRE_SIMULATOR_FINDINGS": os.path.join(folder, "findings")}
    return command_line(command), variables, SimulatorFindings(), f"the simulator ({why})"


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    try:
        options, command = _parse(arguments)
    except ValueError as error:
        return misused("nacre sanitize --gpu", str(error), ["--tool", "--simulate", "--json", "--help"])
    with tempfile.TemporaryDirectory(prefix="nacre-sanitize-") as folder:
        return _run(options, command, folder)


def _run(options, command, folder):
    line, variables, findings, by = _plan(options, command, folder)
    print(f"nacre sanitize: checked by {by}", file=sys.stderr, flush=True)
    environment = command_environment(variables)
    if isinstance(findings, SimulatorFindings):
        status = subprocess.run(line, env=environment).returncode
        findings.read_file(variables["NACRE_SIMULATOR_FINDINGS"])
    else:  # compute-sanitizer reports on standard output
        process = subprocess.Popen(line, env=environment, text=True, errors="replace", bufsize=1, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for text in process.stdout:
            sys.stdout.write(text)
            sys.stdout.flush()
            findings.read(text)
        status = process.wait()
        findings.finish()
        findings.name_arguments(_launch_log.read(variables["NACRE_LAUNCH_LOG"]))
    for finding in findings.found:
        sys.stderr.write(report(finding))
    if options["json"]:
        with open(options["json"], "w") as file:
            json.dump({"version": 1, "findings": findings.found}, file, indent=2)
            file.write("\n")
    if not findings.found:
        return status
    return 66 if all(finding["kind"] == "tsan" for finding in findings.found) else 1
