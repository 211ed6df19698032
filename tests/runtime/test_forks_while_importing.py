"""A child of a fork while another thread of its parent imports what a first compile, launch or tuning needs."""

import pytest

SCRIPT = """
import importlib.machinery, os, signal, sys, threading
import numpy as np, nacre, nacre.language as tl

which, module = sys.argv[1:]

@nacre.jit
def kernel(out, n, BLOCK: tl.constexpr = 8):
    tl.store(out + tl.arange(0, BLOCK), n)

if which == "tuning":
    kernel = nacre.autotune([nacre.Config({"BLOCK": 4}), nacre.Config({"BLOCK": 8})], key=["n"])(kernel)

def is_right(n):
    out = np.zeros(8, np.int32)
    if which == "profiling":
        import nacre.profiler
        session = nacre.profiler.start(f"{sys.argv[0]}_{n}", context="python")
        kernel[(1,)](out, n)
        document = nacre.profiler.data.get(session)
        nacre.profiler.deactivate(session)
        return out[0] == n and "kernel" in repr(document)
    kernel[(1,)](out, n)
    return out[0] == n

imported = []
is_importing, goes_on = threading.Event(), threading.Event()

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in imported:
            imported.append(name)
        if name == module and threading.current_thread() is not threading.main_thread():
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            execute = spec.loader.exec_module

            def wait_and_execute(made):
                is_importing.set()
                goes_on.wait()
                execute(made)

            spec.loader.exec_module = wait_and_execute
            return spec

sys.meta_path.insert(0, Finder())
if module == "list":
    assert is_right(1)
    print(*imported)
    sys.exit()
thread = threading.Thread(target=is_right, args=(1,))
thread.start()
assert is_importing.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if is_right(2) else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
goes_on.set()
thread.join()
print(code)
"""


@pytest.mark.parametrize("which", ["tuning", "interpreting", "profiling"])
def test_a_fork_while_another_thread_imports(script, tmp_path, which):
    path = script.write(SCRIPT)

    def run(number, *args):
        folders = {name: str(tmp_path / f"{name}_{number}") for name in ("NACRE_CACHE_DIR", "NACRE_TUNE_DIR")}
        interprets = str(int(which == "interpreting"))
        return script.finish(script.start(path, which, *args, TRITON_INTERPRET=interprets, **folders)).split()

    modules = run(0, "list")
    ours = [name for name in modules if name.startswith("nacre.")]
    known = {"tuning": "testing.timing", "interpreting": "runtime.rewriting", "profiling": "profiler"}
    assert "nacre." + known[which] in ours
    chosen = ours if which != "profiling" else ours[::4]
    for number, module in enumerate(chosen):
        assert (module, run(number + 1, module)) == (module, ["0"])


def test_a_launch_imports_nothing(script):
    """One of arrays of NumPy, which compiles: there is nothing to wait for."""
    path = script.write(SCRIPT)
    assert script.finish(script.start(path, "launch", "list")).split() == []
