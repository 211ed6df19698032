"""Files of the autotuner that are not as it wrote them: each is refused or counts as absent, and no command or launch stumbles over one."""

import copy
import errno
import fcntl
import json
import os
import stat

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.runtime.tuning import records


def make():
    @nacre.autotune(configs=[nacre.Config({"BLOCK": block}) for block in (32, 64)], key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    return kernel


def launch():
    x = np.zeros(100, np.float32)
    make()[lambda meta: (nacre.cdiv(100, meta["BLOCK"]),)](x, 100)
    assert (x == 1).all()


@pytest.fixture
def record_path(tuning_folder, monkeypatch):
    monkeypatch.setattr(records, "_told", set())
    monkeypatch.setattr(nacre._core, "clear_caches", lambda: None)
    launch()
    (path,) = tuning_folder.glob("*.json")
    monkeypatch.setenv("NACRE_AUTOTUNE", "cached")
    return path


def command(*arguments, capsys):
    from nacre._command_line import main

    status = main(["tune", *map(str, arguments)])
    told = capsys.readouterr()
    return status, told.out, told.err


def places(value, path=()):
    """Where something stands in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield (*path, key)
        yield from places(inside, (*path, key))


def altered(value):
    """The value with one thing in it that is another, or gone."""
    for place in places(value):
        for other in (None, -1, "x", [], {}, [1], float("nan"), 10**400, "gone"):
            changed = copy.deepcopy(value)
            inside = changed
            for key in place[:-1]:
                inside = inside[key]
            if other == "gone":
                del inside[place[-1]]
            else:
                inside[place[-1]] = other
            yield changed


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_record_with_other_fields(record_path, tmp_path, capsys):
    for content in altered(json.loads(record_path.read_text())):
        record_path.write_text(json.dumps(content))
        for words in (["list"], ["show", ""], ["export", tmp_path / "out.json"]):
            assert command(*words, capsys=capsys)[0] in (0, 2), content
    launch()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_exported_file_with_other_fields(record_path, tuning_folder, tmp_path, capsys, monkeypatch):
    good, bad, out = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "out.json"
    command("export", good, capsys=capsys)
    taken = 0
    for content in altered(json.loads(good.read_text())):
        bad.write_text(json.dumps(content))
        status, _, error = command("import", bad, capsys=capsys)
        taken += status == 0
        assert status == 0 or (str(bad) in error and "usage" not in error), content
        assert command("merge", out, good, bad, capsys=capsys)[0] == status, content
    assert taken > 0  # another kernel's name, another key
    assert command("list", capsys=capsys)[0] == 0 and command("show", "", capsys=capsys)[0] == 0
    monkeypatch.setenv("NACRE_TUNE_FILE", str(bad))
    bad.write_text("{")
    with pytest.raises(nacre.runtime.errors.AutotunerError, match="bad.json is not a file of `nacre tune export`"):
        launch()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_stands_in_the_place_of_a_record(record_path):
    for make_it in (os.mkfifo, os.mkdir, lambda path: os.symlink(path, path)):
        record_path.unlink()
        make_it(record_path)
        launch()  # does not wait for a pipe
        if record_path.is_dir():
            record_path.rmdir()
            record_path.touch()


def test_a_failed_export_leaves_the_file_as_it_was(record_path, tmp_path, capsys, monkeypatch):
    target = tmp_path / "choices.json"
    command("export", target, capsys=capsys)
    assert stat.S_IMODE(target.stat().st_mode) & 0o044 == 0o044 & ~_umask()
    before, files = target.read_text(), set(tmp_path.iterdir())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        status, _, error = command("export", target, capsys=capsys)
    assert status == 2 and error == f"nacre tune: {target} cannot be written: No space left on device\n"
    assert target.read_text() == before and set(tmp_path.iterdir()) == files
    link = tmp_path / "link.json"
    link.symlink_to(target)
    target.write_text("old")
    assert command("export", link, capsys=capsys)[0] == 0
    assert link.is_symlink() and target.read_text() == before
    assert command("export", "/dev/null", capsys=capsys)[0] == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def _umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_what_cannot_be_kept_is_said_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "_told", set())
    monkeypatch.setattr(nacre._core, "clear_caches", lambda: None)
    (tmp_path / "file").touch()
    monkeypatch.setenv("NACRE_TUNE_DIR", str(tmp_path / "file" / "below"))
    launch()
    launch()
    error = capsys.readouterr().err
    assert error.count("tunings cannot be kept in") == 1 and "NACRE_TUNE_DIR" in error
    monkeypatch.setenv("NACRE_TUNE_DIR", "off")
    launch()
    assert capsys.readouterr().err == ""


def test_waiting_for_another_process_is_said(record_path, monkeypatch, capsys):
    monkeypatch.setenv("NACRE_AUTOTUNE", "tune")
    monkeypatch.setattr(records, "_SILENT_SECONDS", 0.05)
    monkeypatch.setattr(records, "_LOCK_PATIENCE", 0.2)
    record_path.unlink()
    with open(f"{record_path}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launch()
    assert capsys.readouterr().err.count("waits for another process that tunes it") == 1
