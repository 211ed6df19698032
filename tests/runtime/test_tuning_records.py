"""Results of tunings on disk: kept for each configuration, shared by processes, managed by `nacre tune`."""

import json
import os
import signal
import stat
import time

import pytest

PROGRAM = """
    import json, sys, time
    import numpy as np
    import nacre, nacre.language as tl
    from nacre.runtime.tuning import isolation

    timed = []
    nacre._core.clear_caches = lambda: None  # times are of no interest here
    measure = isolation.measure
    def counted(*args):
        timed.append(1)
        return measure(*args)
    isolation.measure = counted

    BLOCKS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else [32, 64, 128]

    @nacre.autotune(configs=[nacre.Config({"BLOCK": block}) for block in BLOCKS], key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    x = np.zeros(1000, np.float32)
    start = time.perf_counter()
    kernel[lambda meta: (nacre.cdiv(1000, meta["BLOCK"]),)](x, 1000)
    ready = time.perf_counter() - start
    assert (x == 1).all()
    print(json.dumps({"timed": len(timed), "best": kernel.best_config.kwargs["BLOCK"], "ready": ready,
                      "bits": x.tobytes().hex()[:64]}))
"""


@pytest.fixture
def program(script):
    """Runs the program in a process of its own and gives what it says."""
    path = script.write(PROGRAM)

    def run(*args, **environment):
        return json.loads(script.finish(script.start(path, *args, **environment)).splitlines()[-1])

    run.path = path
    return run


def test_a_second_process_times_nothing(program, tuning_folder):
    first, second = program(), program()
    assert first["timed"] == 3 and second["timed"] == 0 and second["best"] == first["best"]
    assert stat.S_IMODE(os.stat(tuning_folder).st_mode) == 0o700


def test_a_configuration_that_is_added_is_the_only_one_timed(program):
    assert program("[32, 64]")["timed"] == 2
    assert program("[32, 64, 128]")["timed"] == 1
    assert program("[64, 128]")["timed"] == 0


def test_the_folder_does_not_move_with_the_cache(program, tmp_path):
    program()
    assert program(TRITON_CACHE_DIR=str(tmp_path / "elsewhere"))["timed"] == 0


def test_modes(program, script):
    process = script.start(program.path, NACRE_AUTOTUNE="error")
    _, error = process.communicate(timeout=600)
    assert process.returncode == 1 and "NACRE_AUTOTUNE=error says not to tune" in error
    process = script.start(program.path, NACRE_AUTOTUNE="cached")
    out, error = process.communicate(timeout=600)
    assert process.returncode == 0 and json.loads(out)["best"] == 32 and "the first configuration is used" in error
    best = program()["best"]
    for mode in ("cached", "error"):
        told = program(NACRE_AUTOTUNE=mode)
        assert told["timed"] == 0 and told["best"] == best


def test_a_torn_record_is_as_good_as_none(program, tuning_folder):
    program()
    (path,) = tuning_folder.glob("kernel-*.json")
    whole = path.read_text()
    for text in (whole[: len(whole) // 2], "", "[]", '{"version": 99}', whole.replace('"times": [', '"times": ["x", ')):
        path.write_text(text)
        assert program()["timed"] == 3
        assert json.loads(path.read_text())["version"] == 1


def test_a_folder_that_others_may_write_is_not_used(program, script, tuning_folder):
    program()
    os.chmod(tuning_folder, 0o777)
    process = script.start(program.path)
    out, error = process.communicate(timeout=600)
    assert json.loads(out)["timed"] == 3 and "tunings in" in error and "may write it" in error


def test_a_folder_that_cannot_be_written_costs_only_the_record(program, tmp_path):
    (tmp_path / "file").write_text("")
    assert program(NACRE_TUNE_DIR=str(tmp_path / "file" / "below"))["timed"] == 3
    assert program(NACRE_TUNE_DIR="off")["timed"] == 3


def test_a_full_disk_costs_only_the_record(program, script, tmp_path):
    # A limit on the size of files stands for a disk that is full: writing fails in the middle of the file.
    path = script.write(
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        f"sys.argv = sys.argv[:1]\nexec(compile(open({str(program.path)!r}).read(), {str(program.path)!r}, 'exec'))\n"
    )
    process = script.start(path)
    out, error = process.communicate(timeout=600)
    assert process.returncode == 0 and json.loads(out.splitlines()[-1])["timed"] == 3, error
    assert not list((tmp_path / "tuning").glob("*.json"))
    assert program()["timed"] == 3


def test_eight_processes_tune_once(program, script):
    processes = [script.start(program.path) for _ in range(8)]
    told = [json.loads(script.finish(process).splitlines()[-1]) for process in processes]
    assert len({entry["best"] for entry in told}) == 1
    assert sum(entry["timed"] for entry in told) == 3, told


def test_a_killed_tuner_is_followed_by_another(program, script, tuning_folder):
    process = script.start(program.path)
    deadline = time.monotonic() + 300
    while not list(tuning_folder.glob("*.lock")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)
    assert program()["best"] in (32, 64, 128)  # its lock died with it
    assert program()["timed"] == 0


def command(*arguments, capsys):
    from nacre._command_line import main

    status = main(["tune", *map(str, arguments)])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_the_command(program, tuning_folder, tmp_path, capsys):
    assert "no tunings" in command("list", capsys=capsys)[1]
    program()
    status, out, _ = command("list", capsys=capsys)
    assert status == 0 and "kernel  key (1000, 'float32')" in out
    status, out, _ = command("show", "kernel", capsys=capsys)
    assert out.count("BLOCK=") == 3 and "x: *float32" in out and " * " in out
    exported = tmp_path / "choices.json"
    assert "NACRE_TUNE_FILE" in command("export", exported, capsys=capsys)[1]
    assert "1 tunings forgotten" in command("clear", "kernel", capsys=capsys)[1]
    assert program(NACRE_AUTOTUNE="first")["best"] == 32
    assert command("import", exported, capsys=capsys)[0] == 0
    assert program()["timed"] == 0
    torn = []
    for text in ("{", "[]", '{"format": "nacre tunings", "version": 1}', '{"format": "nacre tunings", "version": 1, "records": 5}'):
        torn.append(tmp_path / f"torn{len(torn)}.json")
        torn[-1].write_text(text)
    for words in (*(["import", path] for path in torn), ["merge", tmp_path / "out.json", torn[2]], ["export", tmp_path / "no" / "folder"]):
        status, _, error = command(*words, capsys=capsys)
        assert status == 2 and error.startswith("nacre tune:"), words
    for words in (["show", "absent"], ["show"], ["dance"], [], ["import", tmp_path / "absent"], ["merge", "x"], ["import", __file__]):
        status, _, error = command(*words, capsys=capsys)
        assert status == 2 and error.startswith("nacre tune:"), words


def test_pinned_choices_are_the_same_in_every_run(program, script, tmp_path, capsys):
    program()
    exported = tmp_path / "choices.json"
    command("export", exported, capsys=capsys)
    content = json.loads(exported.read_text())
    (record,) = content["records"]
    slowest = max(record["configs"], key=lambda entry: entry["times"][0])["config"]
    record["choice"] = slowest  # what is pinned counts, whatever the times say
    record["problem"]["device"]["threads"] = 12345  # and wherever it was made
    exported.write_text(json.dumps(content))
    told = []
    for _ in range(5):  # 20 runs, four at a time
        ranks = [script.start(program.path, NACRE_TUNE_FILE=str(exported), NACRE_TUNE_DIR=str(tmp_path / f"empty{i}")) for i in range(4)]
        told += [json.loads(script.finish(rank).splitlines()[-1]) for rank in ranks]
    assert {f"BLOCK={entry['best']}," in slowest for entry in told} == {True} and sum(entry["timed"] for entry in told) == 0
    assert len({entry["bits"] for entry in told}) == 1
    # What the file does not pin is said, and in the strict mode refused.
    for change, why in (({"key": ["7"]}, "for other keys"), ({"types": {}}, "arguments of other types"),
                        ({"source": "0"}, "source has changed"), ({"kernel": "other"}, "nothing of this kernel")):  # fmt: skip
        other = json.loads(json.dumps(content))
        other["records"][0]["problem"].update(change)
        (tmp_path / "other.json").write_text(json.dumps(other))
        for mode, status in (("first", 0), ("cached", 0), ("error", 1)):
            process = script.start(program.path, NACRE_TUNE_FILE=str(tmp_path / "other.json"), NACRE_AUTOTUNE=mode)
            error = process.communicate(timeout=600)[1]
            assert process.returncode == status and ((why in error and "does not pin" in error) or mode == "first"), (change, mode, error)
    process = script.start(program.path, "[1]", NACRE_TUNE_FILE=str(exported), NACRE_AUTOTUNE="cached")
    assert process.wait(600) == 0  # a lone configuration needs no pin
    process = script.start(program.path, "[1, 2]", NACRE_TUNE_FILE=str(exported), NACRE_AUTOTUNE="cached")
    assert "is not among those of the kernel" in process.communicate(timeout=600)[1]
    process = script.start(program.path, NACRE_TUNE_FILE=str(tmp_path / "absent"))
    assert "NACRE_TUNE_FILE=" in process.communicate(timeout=600)[1] and process.returncode == 1


def test_merging_takes_the_fastest_time(program, tmp_path, capsys):
    program()
    files = []
    for rank, times in enumerate(([3.0, 2.0, 9.0], [1.0, 4.0, 9.0])):
        files.append(tmp_path / f"rank{rank}.json")
        command("export", files[-1], capsys=capsys)
        content = json.loads(files[-1].read_text())
        for entry, value in zip(content["records"][0]["configs"], times):
            entry["times"] = [value] * 3
        files[-1].write_text(json.dumps(content))
    merged = tmp_path / "merged.json"
    assert command("merge", merged, *files, capsys=capsys)[0] == 0
    (record,) = json.loads(merged.read_text())["records"]
    assert [entry["times"][0] for entry in record["configs"]] == [1.0, 2.0, 9.0]
    assert record["choice"] == record["configs"][0]["config"]
