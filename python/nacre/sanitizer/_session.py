"""The session: what is looked for, what was found, and how the process ends."""

import atexit
import json
import os
import re
import sys

from .. import _core, knobs
from ..errors import TritonError
from . import _report, _unwritten
from ._arrays import arrays, own_elements

KINDS = {"asan": 1, "tsan": 2, "msan": 4, "ub": 8}
ALIASES = {"gsan": "tsan"}
NOT_BUILT = {
    "consan": "races in shared memory are looked for by the simulator (nacre simulate)",
    "fpsan": "floats are not replaced by integers yet",
    "iisan": "descriptors' alignment is not checked yet",
}
session = None  # the open one


class SanitizerError(TritonError, IndexError):
    """An access out of bounds. `finding` is its description, as in the file that --json writes."""

    def __init__(self, message, finding):
        super().__init__(message)
        self.finding = finding


def parse_kinds(text, source):
    """The kinds that a list with commas names. An unknown one is a ValueError that names `source`."""
    kinds = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        word = ALIASES.get(word, word)
        if word == "all":
            kinds += KINDS
        elif word in NOT_BUILT:
            raise ValueError(f"{source}: {word} is not there: {NOT_BUILT[word]}")
        elif word not in KINDS:
            raise ValueError(f"{source}: there is no sanitizer {word!r}; there are {', '.join(KINDS)} and all")
        else:
            kinds.append(word)
    return tuple(dict.fromkeys(kinds))


MAY_ORDER = 32  # besides the kinds (WatchedLaunch.h)


def order_mask(kinds, compiled):
    """MAY_ORDER where races are looked for and the kernel has atomics, by which its programs may be ordered."""
    if "tsan" not in kinds or compiled is None:
        return 0
    known = getattr(compiled, "_order_mask", None)
    if known is None:
        try:
            text = compiled.asm["ttir"]
        except KeyError:  # not kept
            text = "tile.atomic_"
        known = compiled._order_mask = MAY_ORDER if "tile.atomic_" in text else 0
    return known


class Session:
    def __init__(self, kinds, json_file, goes_on, most, kernel, stream):
        self.kinds = kinds
        self.mask = sum(KINDS[kind] for kind in kinds)
        self.json_file = json_file
        self.goes_on = goes_on
        self.most = most
        self.kernel = re.compile(kernel) if kernel else None
        self.stream = stream
        self.findings = []
        self.left_out = 0
        self.launches = 0
        self._arrays = {}
        self._has_told = False

    # What C++ calls (python/core/launching/WatchedLaunch.h).

    def begin(self, kernel, values, grid, compiled, slots):
        if "msan" in self.kinds:
            _unwritten.watch()
        if self.kernel and not self.kernel.search(kernel.__name__):
            return None
        if compiled is None:
            self._refuse_interpreted(kernel)
        self.launches += 1
        rows, is_complete = arrays(kernel, values)
        self._arrays[id(kernel)] = rows
        return self.mask | order_mask(self.kinds, compiled), self.goes_on, rows, is_complete

    def _refuse_interpreted(self, kernel):
        """Where Python runs kernels, nobody tells what atomics order nor what arithmetic does."""
        unseen = [kind for kind in self.kinds if kind in ("tsan", "ub")]
        if not unseen:
            return
        text = f"{' and '.join(unseen)} look{'' if len(unseen) > 1 else 's'} at compiled kernels, and {kernel.__name__} runs in interpreter mode"
        if len(unseen) == len(self.kinds):
            raise RuntimeError(f"{text}: unset TRITON_INTERPRET, or ask for asan or msan")
        if not self._has_told:
            self._has_told = True
            print(f"nacre: {text}: {' and '.join(kind for kind in self.kinds if kind not in unseen)} alone", file=self.stream or sys.stderr)

    def end(self, kernel, grid, found):
        rows = self._arrays.pop(id(kernel), [])
        first_out_of_bounds = None
        for raw in found:
            finding = _report.describe(raw, kernel.__name__, grid, rows)
            if any(_report.is_same(finding, other) for other in self.findings):
                continue
            if self.most and len(self.findings) >= self.most:
                self.left_out += 1
                continue
            self.findings.append(finding)
            _report.write(finding, self.stream or sys.stderr)
            if finding["kind"] == "asan" and first_out_of_bounds is None:
                first_out_of_bounds = finding
        if found and self.json_file:
            self.save()
        stops = next((raw for raw in found if raw["kind"] == "asan"), None)
        if stops is not None and not self.goes_on:
            finding = first_out_of_bounds or _report.describe(stops, kernel.__name__, grid, rows)
            raise SanitizerError(finding["message"], finding)

    def save(self):
        with open(self.json_file, "w") as file:
            json.dump({"version": 1, "kinds": list(self.kinds), "findings": self.findings, "left_out": self.left_out}, file, indent=2)
            file.write("\n")

    def exit_status(self):
        if not self.findings:
            return 0
        return 66 if all(finding["kind"] == "tsan" for finding in self.findings) else 1


def start(kinds="all", *, json=None, goes_on=False, most=0, kernel=None, stream=None):
    """Looks for what `kinds` (a list with commas) names in every launch from now on. `goes_on`: an access out of bounds ends its program,
    and not the launch; `most`: of reports, 0 for no limit; `kernel`: an expression that the names of kernels are to match; `stream`: where
    reports go instead of stderr."""
    global session
    if session is not None:
        raise RuntimeError("the sanitizers are on already; stop() them first")
    chosen = parse_kinds(kinds, "nacre.sanitizer.start")
    if not chosen:
        raise ValueError("nacre.sanitizer.start: no kind is named")
    if knobs.runtime.device not in (None, next(iter(_core.TARGETS))):
        raise ValueError(
            f"NACRE_DEVICE={knobs.runtime.device}: these sanitizers look at kernels on the CPU; `nacre sanitize --gpu COMMAND` looks at a GPU's code"
        )
    session = Session(chosen, json, goes_on, most, kernel, stream)
    watched = (["accesses"] if set(chosen) & {"asan", "tsan", "msan"} else []) + (["arithmetic"] if "ub" in chosen else [])
    knobs.compilation.watch = ",".join(watched)
    if "msan" in chosen:
        _unwritten.watch()
    _core.set_launch_tool(session)
    return session


def stop():
    """Ends the session, and gives what it found."""
    global session
    ended, session = session, None
    _core.set_launch_tool(None)
    _unwritten.unwatch()
    del knobs.compilation.watch
    return ended.findings if ended else []


def findings():
    """What the open session has found so far."""
    return session.findings if session else []


def instrument(text):
    """Acts on knobs.compilation.instrumentation_mode: looks for these kinds from now on, and for no other."""
    kinds = parse_kinds(text, "knobs.compilation.instrumentation_mode")
    if os.environ.pop("TRITON_INSTRUMENTATION_MODE", "") and session is not None:
        stop()
    if kinds:
        os.environ["TRITON_INSTRUMENTATION_MODE"] = text
        start_from_environment()


def start_from_environment():
    """What `triton-san` and the variables ask for. The process then ends with the sanitizers' status if they found anything."""
    if knobs.getenv_bool("TRITON_ENABLE_ASAN"):
        raise ValueError(f"TRITON_ENABLE_ASAN={os.environ['TRITON_ENABLE_ASAN']}: {knobs.NO_AMD_SANITIZER}")
    if os.environ.get("NACRE_LAUNCH_LOG"):
        from . import _launch_log

        _launch_log.start(os.environ["NACRE_LAUNCH_LOG"])
    if knobs.runtime.simulator_findings:
        from ..runtime import interpreter

        interpreter.describe_memory = own_elements
    asked = {}
    for variable in ("NACRE_SANITIZE", "TRITON_SHARED_SANITIZER_TYPE", "TRITON_INSTRUMENTATION_MODE"):
        text = os.environ.get(variable, "")
        if variable == "TRITON_SHARED_SANITIZER_TYPE" and text not in ("", "asan", "tsan"):
            raise ValueError(f"TRITON_SHARED_SANITIZER_TYPE={text}: expected asan or tsan")
        asked.update(dict.fromkeys(parse_kinds(text, variable)))
    if not asked:
        return None
    options = json.loads(os.environ.get("NACRE_SANITIZE_OPTIONS", "{}"))
    opened = start(",".join(asked), **options)
    process = os.getpid()

    @atexit.register
    def leave():
        status = opened.exit_status()
        if os.getpid() != process:
            return
        if opened.json_file:
            opened.save()
        if opened.left_out:
            print(f"nacre: {opened.left_out} more findings were left out (--max {opened.most})", file=sys.stderr)
        if not opened.findings and (opened.launches or os.environ.get("NACRE_SANITIZE_PROCESS") == str(process)):
            count = f"{opened.launches} launch{'' if opened.launches == 1 else 'es'}, nothing found"
            print(f"nacre: {','.join(opened.kinds)}: {count if opened.launches else 'no kernel was launched'}", file=sys.stderr)
        if status:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except (OSError, ValueError):
                    pass
            os._exit(status)

    return opened
