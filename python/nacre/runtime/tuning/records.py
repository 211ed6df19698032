"""Results of tunings on disk: one file for each problem, in a folder of their own (knobs.autotuning.dir).

A problem is a kernel's source, the types of its arguments, the values of the key, the device and the compiler. Its file holds the times
of each configuration that was measured, so that a configuration that is added later is the only one to be timed. Files are written whole
under another name and renamed; one that is torn or foreign counts as absent; a disk that is full costs the record, never the launch.
"""

import os
import stat
import sys
import time
from contextlib import contextmanager

from ... import _core, knobs
from ..errors import AutotunerError
from .config import identity

VERSION = 1
_LOCK_PATIENCE = 600.0  # seconds to wait for another process that tunes the same problem
_SILENT_SECONDS = 10.0  # of them before that is said


_facts = {}


def device_facts():
    """What times depend on of the active device: its name, how many units, its clocks."""
    from ..driver import driver

    active = driver.active
    if active.is_host:  # the number of its threads may change
        return active.facts()
    key = active.get_current_target().backend, active.get_current_device()
    if key not in _facts:
        _facts[key] = active.facts()
    return _facts[key]


def type_of(value, is_constant=False):
    """The type of an argument, as text; of a constant its value."""
    if is_constant:
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return type(value).__name__
    if hasattr(value, "dtype"):
        return f"*{value.dtype}"
    if isinstance(value, tuple):
        return f"({', '.join(map(type_of, value))})"
    if hasattr(type(value), "__aggregate_fields__"):
        return f"{type(value).__name__}({', '.join(type_of(getattr(value, name)) for name in value.__aggregate_fields__)})"
    base = getattr(value, "base", None)
    if base is not None and hasattr(value, "block_shape"):
        return f"desc<{type_of(base)}{list(value.block_shape)}>"
    return type(value).__name__


def _function_text(function):
    code = getattr(function, "__code__", None)
    return repr((code.co_code, code.co_consts, code.co_names)) if code else repr(type(function))


def file_name_of(facts):
    """The name of a problem's file: the kernel's name and a hash of all facts."""
    import json

    return f"{facts['kernel'].rpartition('.')[2][:100]}-{_core.fingerprint(json.dumps(facts, sort_keys=True))[:32]}.json"


class Problem:
    """What a record is about, and where it lies. `facts` names it in every process."""

    def __init__(self, kernel, heuristics, types, key):
        from ..jit import module_name

        settings = [(row[0], row[1], str(getattr(getattr(knobs, row[0]), row[1]))) for row in _core.knobs() if row[6]]
        source = [kernel.cache_key, *(f"{name}: {_function_text(function)}" for name, function in heuristics.items())]
        self.facts = {
            "kernel": f"{module_name(kernel)}.{kernel.__qualname__}",
            "source": _core.fingerprint(repr(source)),
            "types": types,
            "key": [repr(value) for value in key],
            "device": device_facts(),
            "compiler": _core.info()["build_id"],
            "settings": _core.fingerprint(repr(settings)),
        }
        self.folder = knobs.autotuning.dir
        self.file_name = file_name_of(self.facts)

    @property
    def path(self):
        return os.path.join(self.folder, self.file_name)

    def load(self):
        """{identity of a configuration: times, or the text why it cannot run}"""
        record = read_file(self.path)
        if record is None or record["problem"] != self.facts:
            return {}
        return {entry["config"]: entry.get("times") or entry["failed"] for entry in record["configs"]}

    def tried(self):
        """The identities of the configurations that a search has tried, with times or without. None: nobody noted them."""
        record = read_file(self.path)
        return record.get("tried") if record is not None and record["problem"] == self.facts else None

    def store(self, results, tried=()):
        """Adds {identity: times or reason}, and what a search has tried, to what is there. False when it cannot be kept."""
        record = read_file(self.path)
        if record is None or record["problem"] != self.facts:
            record = {"version": VERSION, "problem": self.facts, "configs": []}
        entries = {entry["config"]: entry for entry in record["configs"]}
        for config, result in results.items():
            kept = {"failed": result} if isinstance(result, str) else {"times": list(result)}
            entries[config] = {"config": config, **kept, "when": int(time.time())}
        record["configs"] = list(entries.values())
        if tried:
            record["tried"] = list(dict.fromkeys([*record.get("tried", ()), *tried]))
        return write_file(self.path, record)

    @contextmanager
    def alone(self):
        """While it lasts, no other process tunes this problem; who waited finds its results. Where files cannot be locked everybody goes on."""
        file = None
        try:
            import fcntl

            if is_own_folder(self.folder, make=True):
                file = os.open(self.path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                start = time.monotonic()
                while True:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        waited = time.monotonic() - start
                        if waited > _SILENT_SECONDS:
                            _tell_once(f"{self.facts['kernel']} waits for another process that tunes it (it holds {self.path}.lock), at most "
                                       f"{_LOCK_PATIENCE:.0f} seconds")  # fmt: skip
                        if waited > _LOCK_PATIENCE:
                            break
                        time.sleep(0.02)
        except OSError:
            pass
        try:
            yield
        finally:
            if file is not None:
                os.close(file)  # the file stays: who waits holds it


_told = set()


def _tell_once(text):
    if text not in _told:
        _told.add(text)
        print(f"nacre: {text}", file=sys.stderr)


def is_own_folder(folder, make=False):
    """Whether records are kept there: only in a folder that no other user owns or may write. What is refused is said once."""
    if not folder or folder == "off":
        return False
    try:
        if make:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return False
    if status.st_uid in (os.geteuid(), 0) and not status.st_mode & 0o022:
        return True
    _tell_once(f"tunings in {folder} are not used: another user owns or may write it; make it your own (chmod go-w), or set NACRE_TUNE_DIR "
               "to another folder")  # fmt: skip
    return False


def read_file(path):
    """A record, or None where there is none that is whole."""
    import json

    if not is_own_folder(os.path.dirname(path)):
        return None
    try:
        # Without waiting: what stands there under the name may be a pipe.
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)) as file:
            return checked(json.load(file)) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None


_TEXTS = ("kernel", "source", "compiler", "settings")  # of a problem's facts


def checked(record):
    """The record; raises ValueError for what is not one. Who reads a record need not look again."""
    try:
        problem = record["problem"]
        is_ours = record["version"] == VERSION and all(isinstance(problem[name], str) for name in _TEXTS)
        is_ours = is_ours and _is_table(problem["types"], str) and _is_table(problem["device"], (str, int, float))
        if not is_ours or not isinstance(problem["key"], list) or not all(isinstance(part, str) for part in problem["key"]):
            raise ValueError(f"not a record of version {VERSION}")
        if not isinstance(record["configs"], list) or not isinstance(record.get("choice"), (str, type(None))):
            raise ValueError("no list of configurations")
        if not isinstance(record.get("tried", []), list) or not all(isinstance(config, str) for config in record.get("tried", [])):
            raise ValueError("no list of what was tried")
        for entry in record["configs"]:
            if not isinstance(entry["config"], str) or not (_are_times(entry["times"]) if "times" in entry else isinstance(entry["failed"], str)):
                raise ValueError("an entry without times")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a record of a tuning: {error!r}") from None
    return record


def _is_table(value, kinds):
    return isinstance(value, dict) and all(isinstance(item, kinds) for item in value.values())


def _are_times(times):
    """Whether these are milliseconds: numbers of at least 0, infinity among them."""
    return isinstance(times, list) and len(times) > 0 and all(_is_time(time) for time in times)


def _is_time(value):
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and float(value) >= 0
    except OverflowError:
        return False


def write_whole(path, content, mode=0o600):
    """Writes JSON so that the file is there whole or as it was; to what is no file, a pipe, as it is. Raises OSError."""
    import json
    import secrets

    text = json.dumps(content, indent=1) + "\n"
    path = os.path.realpath(path)  # a link stays one
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w") as file:
            file.write(text)
        return
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:80]}.{secrets.token_hex(4)}.part")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "w") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write_file(path, record):
    """Keeps a record. False where it cannot be kept, which is said once: every process will time anew."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not is_own_folder(folder):
            return False
        write_whole(path, record)
        return True
    except OSError as error:
        _tell_once(f"tunings cannot be kept in {folder}: {error.strerror}; NACRE_TUNE_DIR names another folder (off: none)")
        return False


def all_records(folder=None):
    """[(path, record)] of a folder, by name."""
    folder = knobs.autotuning.dir if folder is None else folder
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    found = ((os.path.join(folder, name), read_file(os.path.join(folder, name))) for name in names)
    return [(path, record) for path, record in found if record is not None]


def best_of(record):
    """The configuration that a record speaks for, or None. A record may name its choice: an exported one does."""
    from .choice import choose

    if "choice" in record:
        return record["choice"]
    return choose({entry["config"]: entry["times"] for entry in record["configs"] if "times" in entry})[0]


def merged(records):
    """Records of the same problems as one each; of a configuration that several have, the fastest time counts."""
    import json

    found = {}
    for record in records:
        key = json.dumps(record["problem"], sort_keys=True)
        if key not in found:
            found[key] = {**record, "configs": []}
        entries = {entry["config"]: entry for entry in found[key]["configs"]}
        for entry in record["configs"]:
            known = entries.get(entry["config"])
            if known is None or "times" not in known or ("times" in entry and entry["times"][0] < known["times"][0]):
                entries[entry["config"]] = entry
        found[key]["configs"] = list(entries.values())
        if "tried" in record:
            found[key]["tried"] = list(dict.fromkeys([*found[key].get("tried", ()), *record["tried"]]))
    return list(found.values())


# A file of choices: what `nacre tune export` writes and NACRE_TUNE_FILE pins.

_pinned = {}


def read_collection(path):
    """The records of an exported file. Raises OSError, or ValueError for what is not one."""
    import json

    try:
        with open(path) as file:
            content = json.load(file)
        is_one = isinstance(content, dict) and content.get("format") == "nacre tunings" and content.get("version") == VERSION
        if not is_one or not isinstance(content.get("records"), list):
            raise ValueError("not a file of this kind")
        return [checked(record) for record in content["records"]]
    except ValueError as error:
        raise ValueError(f"{path} is not a file of `nacre tune export` ({error})") from None


def collection(records):
    return {"format": "nacre tunings", "version": VERSION, "records": [{**record, "choice": best_of(record)} for record in records]}


def pinned_choice(problem, configs, is_strict=False):
    """The configuration that NACRE_TUNE_FILE names for a problem, or None. The device may be another one: a pinned choice is the same on
    every machine; one that was made on the same kind of device comes first. A file that has no choice for the problem is a warning, where
    `is_strict` an error: whoever pins wants the same everywhere."""
    path = knobs.autotuning.pinned
    if not path:
        return None
    try:
        stamp = os.stat(path).st_mtime_ns
        if _pinned.get("file") != (path, stamp):
            _pinned.update(file=(path, stamp), records=read_collection(path))
    except (OSError, ValueError) as error:
        raise AutotunerError(f"NACRE_TUNE_FILE={path} cannot be used: {error}") from None
    names = ("kernel", "source", "types", "key")
    same = [record for record in _pinned["records"] if all(record["problem"][name] == problem.facts[name] for name in names)]
    same.sort(key=lambda record: record["problem"]["device"] != problem.facts["device"])
    for record in same:
        for config in configs:
            if identity(config) == best_of(record):
                return config
    why = (f"NACRE_TUNE_FILE={path} does not pin {problem.facts['kernel']} for the key ({', '.join(problem.facts['key'])}): "
           f"{_why_not_pinned(problem, same)}")  # fmt: skip
    if is_strict:
        raise AutotunerError(f"{why}, and NACRE_AUTOTUNE=error says not to choose otherwise")
    if (problem.facts["kernel"], why) not in _told:
        from .reporting import warn

        _told.add((problem.facts["kernel"], why))
        warn(f"{why}; it is chosen as without the file")
    return None


def _why_not_pinned(problem, same):
    if same:
        return f"the configuration it names, {best_of(same[0]) or 'none'}, is not among those of the kernel"
    ours = [record["problem"] for record in _pinned["records"] if record["problem"]["kernel"] == problem.facts["kernel"]]
    if not ours:
        return "it has nothing of this kernel"
    if not any(other["source"] == problem.facts["source"] for other in ours):
        return "the kernel's source has changed since the file was written"
    if not any(other["types"] == problem.facts["types"] for other in ours):
        return "it has the kernel for arguments of other types"
    return "it has the kernel for other keys"
