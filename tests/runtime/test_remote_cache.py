"""Compiled kernels through a real Redis server: signed, and never in the way of a launch."""

import shutil
import socket
import subprocess
import threading
import time

import pytest

PROGRAM = """
    import sys
    import numpy as np
    import nacre, nacre.language as tl

    @nacre.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    for block in map(int, sys.argv[1:] or ["16"]):
        x = np.zeros(block, np.float32)
        kernel[(1,)](x, BLOCK=block)
        assert (x == 1).all()
    print(nacre._core.cache_counts()["compiles"])
"""


class Server:
    """A Redis server of this test's own."""

    def __init__(self, folder):
        self.folder = folder
        self.port = None
        self.process = None

    def start(self):
        """Where it was before; the first time, where nobody else came first."""
        if self.port is not None:
            return self._start()
        for _ in range(20):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            try:
                return self._start()
            except RuntimeError:
                continue
        raise RuntimeError("redis-server did not start")

    def _start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)],
                                        stdout=subprocess.DEVNULL)  # fmt: skip
        while self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError("redis-server did not start")

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def client(self):
        import redis

        return redis.Redis(port=self.port)


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("redis", reason="the package redis is not installed: make test-setup installs it where there is a package index")
    if shutil.which("redis-server") is None:
        pytest.skip("Debian's redis-server is not installed: make test-setup installs it")
    made = Server(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def machine(script, server, tmp_path):
    """Runs the program on a machine of its own: another local cache, the same store."""
    path = script.write(PROGRAM)

    def run(name, *blocks, secret="shared secret", **environment):
        process = script.start(path, *blocks, TRITON_CACHE_DIR=str(tmp_path / name), TRITON_CACHE_MANAGER="nacre.runtime.cache:RemoteCacheManager",
                               TRITON_REMOTE_CACHE_BACKEND="nacre.runtime.cache:RedisRemoteCacheBackend", TRITON_REDIS_HOST="127.0.0.1",
                               TRITON_REDIS_PORT=str(server.port), NACRE_REMOTE_CACHE_SECRET=secret,
                               **{"NACRE_REMOTE_CACHE_TIMEOUT": "60", **environment})  # fmt: skip
        out, error = process.communicate(timeout=600)
        assert process.returncode == 0, error
        return int(out.splitlines()[-1]), error

    return run


def test_one_machine_compiles_for_all(machine, server):
    assert machine("first") == (1, "")
    assert len(server.client().keys("nacre:*")) == 3  # the kernel, its stages and its manifest
    assert machine("second") == (0, "")
    assert machine("second") == (0, "")


def test_an_entry_that_is_not_signed_is_not_run(machine, server):
    machine("attacker", secret="another secret")
    compiles, error = machine("victim")
    assert compiles == 1 and "is not signed with NACRE_REMOTE_CACHE_SECRET and is not used" in error
    client = server.client()
    for name in client.keys("nacre:*"):  # bytes that lie, under the right name
        entry = client.get(name)
        client.set(name, entry[:-1] + bytes([entry[-1] ^ 1]))
    compiles, error = machine("third")
    assert compiles == 1 and "is not used" in error
    client.flushall()
    for name in (b"nacre:x:y", b"z"):
        client.set(name, b"noise")
    assert machine("fourth")[0] == 1


def test_one_entry_in_the_place_of_another_is_not_run(machine, server):
    machine("first", 16, 32)
    client = server.client()
    kernels = sorted(name for name in client.keys("nacre:*") if name.endswith(b"nacre.kernel"))
    assert len(kernels) == 2
    contents = [client.get(name) for name in kernels]
    for name, content in zip(kernels, reversed(contents)):
        client.set(name, content)
    compiles, error = machine("second", 16, 32)
    assert compiles == 2 and "is not used" in error


def test_without_a_secret_that_is_said(machine):
    machine("first", secret="")
    compiles, error = machine("second", secret="")
    assert compiles == 0 and "the remote cache is not authenticated" in error


def test_a_secret_in_a_file(machine, tmp_path):
    (tmp_path / "secret").write_text("from a file\n")
    machine("first", secret=f"@{tmp_path / 'secret'}")
    assert machine("second", secret="from a file") == (0, "")


def test_a_secret_that_cannot_be_read(machine, tmp_path):
    (tmp_path / "empty").write_text("\n")
    for name, why in (("absent", "the file cannot be read: No such file or directory"), ("empty", "the file is empty")):
        with pytest.raises(AssertionError, match=f"NACRE_REMOTE_CACHE_SECRET=@.*{name}: {why}"):
            machine("first", secret=f"@{tmp_path / name}")


def test_copies_that_others_could_have_written_are_not_run(machine, server, tmp_path):
    machine("first")
    server.stop()
    assert machine("first")[0] == 0
    for path in (tmp_path / "first", *(tmp_path / "first").rglob("*")):
        if path.suffix == ".stages":
            continue  # no launch reads it
        mode = path.stat().st_mode
        path.chmod(0o777)
        compiles, error = machine("first")
        assert compiles == 1 and f"another user owns or may write {path}" in error
        path.chmod(mode)
    assert machine("first")[0] == 0


def test_copies_that_cannot_be_kept_cost_no_launch(machine, tmp_path):
    (tmp_path / "file").touch()
    compiles, error = machine("file/below")
    assert compiles == 1 and error.count("kernels cannot be kept in") == 1
    assert machine("other")[0] == 0  # the store has it


def test_the_limit_holds_for_copies_too(machine, tmp_path):
    from nacre import _core

    machine("first", 16, 32)
    folder = tmp_path / "first"
    for path in folder.rglob("nacre.*"):
        path.write_bytes(path.read_bytes() + bytes(1 << 20))
    assert len(_core.cache_files(str(folder))) == 6  # of two kernels: code, stages, manifest
    machine("first", 64, NACRE_CACHE_MAX_MEGABYTES="2")
    assert sum(size for _, size, _ in _core.cache_files(str(folder))) <= 3 << 20


def test_a_store_that_is_down_costs_no_launch(machine, server):
    server.stop()
    compiles, error = machine("first")
    assert compiles == 1 and error.count("the remote cache cannot be used") == 1
    assert machine("first")[0] == 0  # this machine's own cache goes on
    server.start()
    assert machine("first", 32)[0] == 1 and machine("second", 32)[0] == 0


def test_a_store_that_is_slow_costs_no_more_than_its_timeout(script, tmp_path):
    pytest.importorskip("redis", reason="the package redis is not installed")
    listener = socket.create_server(("127.0.0.1", 0))  # it takes connections and never answers
    path = script.write(PROGRAM)
    start = time.monotonic()
    process = script.start(path, TRITON_CACHE_MANAGER="nacre.runtime.cache:RemoteCacheManager", NACRE_REMOTE_CACHE_TIMEOUT="0.2",
                           TRITON_REMOTE_CACHE_BACKEND="nacre.runtime.cache:RedisRemoteCacheBackend", TRITON_REDIS_HOST="127.0.0.1",
                           TRITON_REDIS_PORT=str(listener.getsockname()[1]), NACRE_REMOTE_CACHE_SECRET="x")  # fmt: skip
    _, error = process.communicate(timeout=600)
    assert process.returncode == 0 and "the remote cache cannot be used" in error and time.monotonic() - start < 500
    listener.close()


def test_stopped_and_started_under_load(machine, server):
    done = []

    def work(name):
        for _ in range(2):
            done.append(machine(name, 16, 32, 64)[0])

    threads = [threading.Thread(target=work, args=(f"machine{i}",)) for i in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        time.sleep(0.4)
        server.stop()
        time.sleep(0.2)
        server.start()
    for thread in threads:
        thread.join(600)
    assert len(done) == 4
    assert machine("machine0", 16, 32, 64)[0] == 0
