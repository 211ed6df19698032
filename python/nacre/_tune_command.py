"""`nacre tune`: the autotuner's results, listed, shown, cleared, exported, imported and merged."""

import os
import sys

from ._terminal import misused

USAGE = """usage: nacre tune list                        kernels, keys and the configuration chosen for each
       nacre tune show KERNEL                 the time of every configuration, of kernels whose name contains this text
       nacre tune clear [KERNEL]              delete all results, or those of kernels whose name contains this text
       nacre tune export FILE [KERNEL]        write choices to a file; NACRE_TUNE_FILE=FILE pins them
       nacre tune import FILE                 read the times of an exported file
       nacre tune merge OUT FILE FILE...      merge files of several ranks or machines; the fastest time of each configuration counts

Results are kept in NACRE_TUNE_DIR (default: ~/.nacre/tuning).
"""


class _Mistake(Exception):
    """A command line that is not one of the above."""


class _Trouble(Exception):
    """What is in the way of a command that was meant well."""


def _records(text=""):
    from .runtime.tuning.records import all_records

    return [(path, record) for path, record in all_records() if text in record["problem"]["kernel"]]


def _line(record):
    from .runtime.tuning.records import best_of

    problem = record["problem"]
    times = {entry["config"]: entry["times"][0] for entry in record["configs"] if "times" in entry}
    best = best_of(record)
    time = f"{times[best]:.4g} ms" if best in times else "not timed"
    return f"{problem['kernel']}  key ({', '.join(problem['key'])})  {best or 'none can run'}  {time}  of {len(record['configs'])}"


def _list(arguments):
    _no_more(arguments)
    found = _records()
    for _, record in found:
        print(_line(record))
    if not found:
        from . import knobs

        print(f"no tunings in {knobs.autotuning.dir or 'no folder'}")
    return 0


def _show(arguments):
    text = _one(arguments, "a kernel's name")
    found = _records(text)
    if not found:
        raise _Trouble(f"no tuning of a kernel whose name holds {text!r}")
    for path, record in found:
        problem = record["problem"]
        print(f"{problem['kernel']}, key ({', '.join(problem['key'])})")
        print(f"  file {path}")
        print(f"  arguments {', '.join(f'{name}: {type}' for name, type in problem['types'].items())}")
        print(f"  device {', '.join(f'{name} {value}' for name, value in problem['device'].items())}; compiler {problem['compiler'][:16]}")
        from .runtime.tuning.records import best_of

        best = best_of(record)
        order = sorted(record["configs"], key=lambda entry: entry["times"][0] if "times" in entry else float("inf"))
        for entry in order:
            mark = "*" if entry["config"] == best else " "
            if "times" in entry:
                middle, *spread = entry["times"]
                between = f" (between {spread[0]:.4g} and {spread[1]:.4g})" if len(spread) == 2 else ""
                print(f"  {mark} {middle:.4g} ms{between}  {entry['config']}")
            else:
                print(f"  {mark} cannot run  {entry['config']}: {entry['failed'].splitlines()[0]}")
    return 0


def _clear(arguments):
    if len(arguments) > 1:
        raise _Mistake("clear takes one kernel's name at most")
    removed = 0
    for path, _ in _records(arguments[0] if arguments else ""):
        for file in (path, path + ".lock"):
            try:
                os.unlink(file)
                removed += file is path
            except OSError:
                pass
    print(f"{removed} tunings forgotten")
    return 0


def _write_collection(path, records):
    from .runtime.tuning.records import collection, write_whole

    try:
        write_whole(path, collection(records), 0o666)  # as the user's other files
    except OSError as error:
        raise _Trouble(f"{path} cannot be written: {error.strerror}") from None


def _export(arguments):
    if not 1 <= len(arguments) <= 2:
        raise _Mistake("export needs a file, and takes a kernel's name")
    records = [record for _, record in _records(*arguments[1:])]
    if not records:
        raise _Trouble("there is no tuning to export")
    _write_collection(arguments[0], records)
    print(f"{len(records)} tunings written to {arguments[0]}; NACRE_TUNE_FILE={arguments[0]} pins them")
    return 0


def _read(path):
    from .runtime.tuning.records import read_collection

    try:
        return read_collection(path)
    except (OSError, ValueError) as error:
        raise _Trouble(str(error)) from None


def _import(arguments):
    from . import knobs
    from .runtime.tuning.records import file_name_of, merged, read_file, write_file

    records = _read(_one(arguments, "a file"))
    folder = knobs.autotuning.dir
    for record in records:
        path = os.path.join(folder, file_name_of(record["problem"]))
        known = read_file(path)
        same = [known] if known is not None and known["problem"] == record["problem"] else []
        (combined,) = merged([*same, record])
        combined.pop("choice", None)
        if not write_file(path, combined):
            raise _Trouble(f"{folder} cannot be written")
    print(f"{len(records)} tunings taken over into {folder}")
    return 0


def _merge(arguments):
    from .runtime.tuning.records import merged

    if len(arguments) < 2:
        raise _Mistake("merge needs a file to write and files to read")
    target, *sources = arguments
    records = merged([record for path in sources for record in _read(path)])
    for record in records:
        record.pop("choice", None)  # chosen anew, of all times
    _write_collection(target, records)
    print(f"{len(records)} tunings of {len(sources)} files written to {target}")
    return 0


def _one(arguments, what):
    if len(arguments) != 1:
        raise _Mistake(f"{what} is needed" if not arguments else f"one argument at a time, found {arguments[1]} too")
    return arguments[0]


def _no_more(arguments):
    if arguments:
        raise _Mistake(f"there is no option {arguments[0]}")


COMMANDS = {"list": _list, "show": _show, "clear": _clear, "export": _export, "import": _import, "merge": _merge}


def main(arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    command = COMMANDS.get(arguments[0]) if arguments else None
    try:
        if command is None:
            raise _Mistake(f"there is no command {arguments[0]}" if arguments else "a command is needed")
        if any(word in ("-h", "--help") for word in arguments[1:]):
            print(USAGE, end="")
            return 0
        return command(arguments[1:])
    except _Mistake as mistake:
        return misused("nacre tune", str(mistake), [*COMMANDS, "--help"])
    except (_Trouble, OSError) as trouble:
        print(f"nacre tune: {trouble}", file=sys.stderr)
    return 2
