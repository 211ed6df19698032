"""torch's threads and ours are the same ones: as many as torch says, in threads and after fork too."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")

HEAD = """
    import os, threading
    import torch
    import nacre
    import nacre.language as tl

    @nacre.jit
    def scale_kernel(x, out, factor, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets, offsets < n) * factor, offsets < n)

    def scale(x, factor):
        out = torch.empty_like(x)
        scale_kernel[(nacre.cdiv(x.numel(), 64),)](x, out, factor, x.numel(), BLOCK=64)
        return out

    def is_right(n, factor):
        x = torch.arange(n, dtype=torch.float32)
        return torch.equal(scale(x, factor), x * factor)

    def earn():
        # launches until this thread has the team: after 10 ms of grids, of some 20 us each
        x, out = torch.ones(100_000), torch.empty(100_000)
        for _ in range(4000):
            scale_kernel[(1563,)](x, out, 2.0, 100_000, BLOCK=64)
"""


def run(tmp_path, text, **variables):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"NACRE_CACHE_DIR": str(tmp_path / "cache"), **variables}
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=600, env=environment)
    assert result.stdout.endswith("right\n"), result.stdout + result.stderr


def test_grids_have_as_many_threads_as_torch(tmp_path):
    text = """
        assert nacre._core.threads() == len(os.sched_getaffinity(0))  # torch has not been seen
        for threads in (1, 3, 2):
            torch.set_num_threads(threads)
            assert is_right(100_000, 2.0)
            assert nacre._core.threads() == threads
        seen = []
        other = threading.Thread(target=lambda: seen.append((is_right(1000, 5.0), nacre._core.threads())))
        other.start()
        other.join()
        assert seen == [(True, 2)], seen
        nacre.knobs.runtime.num_threads = 4  # asked for: that many, on our own threads
        assert nacre._core.threads() == 4 and is_right(100_000, 3.0)
        nacre.knobs.runtime.num_threads = 0
        assert nacre._core.threads() == 2 and is_right(100_000, 4.0)
        print("right")
    """
    run(tmp_path, text)


def test_a_first_launch_does_not_make_the_team(tmp_path):
    """Whose threads would have to be waited for."""
    text = """
        torch.set_num_threads(4)
        x, out = torch.ones(1000), torch.empty(1000)
        scale_kernel[(16,)](x, out, 2.0, 1000, BLOCK=64)
        before = len(os.listdir("/proc/self/task"))
        earn()
        assert len(os.listdir("/proc/self/task")) == before + 3
        print("right")
    """
    run(tmp_path, text)


def test_the_variable_goes_before_torch(tmp_path):
    text = """
        torch.set_num_threads(2)
        assert is_right(100_000, 2.0) and nacre._core.threads() == 3
        print("right")
    """
    run(tmp_path, text, NACRE_NUM_THREADS="3")


def test_a_forked_child_has_threads_of_its_own(tmp_path):
    """OpenMP's are not there: entering a region would wait for them for ever."""
    text = """
        torch.set_num_threads(2)
        earn()
        assert is_right(100_000, 2.0)
        x, out = torch.ones(100_000), torch.zeros(100_000)  # here: torch itself may not use its threads in a child
        for _ in range(3):
            child = os.fork()
            if child == 0:
                scale_kernel[(1563,)](x, out, 7.0, 100_000, BLOCK=64)
                os._exit(0 if out.tolist() == [7.0] * 100_000 else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert is_right(100_000, 3.0)
        print("right")
    """
    run(tmp_path, text)


def test_threads_that_launch_and_multiply_at_once(tmp_path):
    text = """
        torch.set_num_threads(2)
        wrong = []

        def work(index):
            matrix = torch.full((128, 128), float(index))
            earn()
            for i in range(30):
                if not is_right(20_000 + index, float(i)) or (matrix @ matrix)[0, 0] != 128.0 * index * index:
                    wrong.append((index, i))

        threads = [threading.Thread(target=work, args=(index,)) for index in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        print("right")
    """
    run(tmp_path, text)


def test_a_launch_that_is_left_early_leaves_the_team_usable(tmp_path):
    text = """
        @nacre.jit
        def checked_kernel(x, limit):
            tl.device_assert(tl.program_id(0) < limit, "too far")
            tl.store(x + tl.program_id(0), 1.0)

        torch.set_num_threads(2)
        earn()
        x = torch.zeros(1000)
        for _ in range(3):
            try:
                checked_kernel[(1000,)](x, 500, debug=True)
                raise SystemExit("nothing was noticed")
            except AssertionError as error:
                assert "too far" in str(error)
            assert is_right(100_000, 2.0) and torch.equal(torch.ones(64, 64) @ torch.ones(64, 64), torch.full((64, 64), 64.0))
        print("right")
    """
    run(tmp_path, text)
