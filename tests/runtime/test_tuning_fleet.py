"""Candidates compiled and timed by the workers of an executor: processes of this machine, and a real Dask cluster."""

import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.runtime.errors import AutotunerError

PROGRAM = """
    import json, os, sys
    from concurrent.futures import ProcessPoolExecutor
    import multiprocessing
    import numpy as np
    import nacre, nacre.language as tl

    def die(args):
        if os.environ.get("DEADLY") == str(args["BLOCK"]) and os.getpid() != int(os.environ.get("MAIN", "0")):
            os._exit(7)
        return args["BLOCK"]

    @nacre.autotune(configs=[nacre.Config({"BLOCK": block}) for block in (32, 64, 128)], key=["n"])
    @nacre.heuristics({"SAME": die})
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr, SAME: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, SAME)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    def main(executor):
        kernel.executor = executor
        os.environ["MAIN"] = str(os.getpid())
        x = np.zeros(1000, np.float32)
        kernel[lambda meta: (nacre.cdiv(1000, meta["BLOCK"]),)](x, 1000)
        assert (x == 1).all()
        print(json.dumps({"times": {config.kwargs["BLOCK"]: times[0] for config, times in kernel.configs_timings.items()},
                          "failures": {config.kwargs["BLOCK"]: str(reason) for config, reason in kernel.failures.items()}}))
"""
POOL = PROGRAM + """
    if __name__ == "__main__":
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            main(pool)
"""
DASK = PROGRAM + """
    if __name__ == "__main__":
        import dask
        from distributed import Client, LocalCluster

        dask.config.set({"distributed.scheduler.allowed-failures": 0})
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
            main(client.get_executor(pure=False))
            print("workers", len(cluster.workers), file=sys.stderr)
"""
NAMED = PROGRAM + """
    def make():
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    if __name__ == "__main__":
        sys.modules["named"] = sys.modules["__main__"]
        main(None)
"""


def told(script, text, **environment):
    return json.loads(script.run(text, **environment).splitlines()[-1])


def test_a_pool_of_processes(script, tuning_folder):
    result = told(script, POOL)
    assert set(result["times"]) == {"32", "64", "128"} and not result["failures"] and max(result["times"].values()) < float("inf")
    (path,) = tuning_folder.glob("kernel-*.json")  # merged into the shared store
    assert len(json.loads(path.read_text())["configs"]) == 3


def test_a_worker_that_dies_costs_its_candidate(script):
    result = told(script, POOL, DEADLY="64")
    assert list(result["failures"]) == ["64"] and "the worker that timed it died" in result["failures"]["64"]
    assert result["times"]["64"] == float("inf") and result["times"]["32"] < float("inf") and result["times"]["128"] < float("inf")


@pytest.mark.parametrize("name", ["named:make", "concurrent.futures:ProcessPoolExecutor"], ids=["function", "class"])
def test_an_executor_by_its_name(script, name):
    assert len(told(script, NAMED, NACRE_TUNE_EXECUTOR=name)["times"]) == 3


@pytest.mark.parametrize("name, why", [("absent", "expected MODULE:NAME"), ("no_such_module:x", "No module named 'no_such_module'"),
                                       ("os:bar", "has no attribute 'bar'"), ("os:getcwd", "expected an executor, a class of them or a function that makes one"),
                                       ("os:sep", "expected an executor")])  # fmt: skip
def test_what_is_no_executor(name, why, monkeypatch):
    from nacre.runtime.errors import AutotunerError
    from nacre.runtime.tuning import fleet_executor

    monkeypatch.setenv("NACRE_TUNE_EXECUTOR", name)
    with pytest.raises(AutotunerError, match=f"NACRE_TUNE_EXECUTOR={name}: .*{why}"):
        fleet_executor(None)


def test_a_dask_cluster(script):
    pytest.importorskip("distributed", reason="dask.distributed is not installed: make test-setup installs it where there is a package index")
    result = told(script, DASK)
    assert len(result["times"]) == 3 and not result["failures"]


def test_a_worker_of_dask_that_dies_costs_its_candidate(script):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    result = told(script, DASK, DEADLY="128")
    assert list(result["failures"]) == ["128"] and "KilledWorker" in result["failures"]["128"], result
    assert result["times"]["32"] < float("inf") and result["times"]["64"] < float("inf")


def test_a_kernel_that_workers_cannot_find():
    import numpy as np

    import nacre
    import nacre.language as tl
    from nacre.runtime.errors import AutotunerError

    class Executor:
        def submit(self, *args):
            pytest.fail("nothing is sent")

    @nacre.autotune(configs=[nacre.Config({"B": 1}), nacre.Config({"B": 2})], key=[], executor=Executor())
    @nacre.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x, B)

    with pytest.raises(AutotunerError, match="is defined inside of a function: workers of an executor cannot find it"):
        kernel[(1,)](np.zeros(1, np.int32))


def test_workers_that_are_threads(script):
    text = PROGRAM + """
    from concurrent.futures import ThreadPoolExecutor

    if __name__ == "__main__":
        with ThreadPoolExecutor(3) as pool:
            main(pool)
"""
    result = told(script, text)
    assert len(result["times"]) == 3 and not result["failures"]


def test_a_kernel_that_writes_to_an_address_is_not_sent():
    import numpy as np

    import nacre
    import nacre.language as tl

    class Executor:
        def submit(self, *args):
            pytest.fail("nothing is sent: the address is this process's")

    @nacre.autotune(configs=[nacre.Config({"B": 1}), nacre.Config({"B": 2})], key=[], executor=Executor())
    @nacre.jit
    def kernel(address, B: tl.constexpr):
        tl.store(address.to(tl.pointer_type(tl.int32)), B)

    x = np.zeros(1, np.int32)
    with pytest.warns(RuntimeWarning, match="is not tuned: the kernel may write through an address .* a worker of an executor has no memory there"):
        kernel[(1,)](x.ctypes.data)
    assert x[0] == 1


# Kernels that workers find in this module.


@nacre.jit
def increment(x, n, BLOCK: tl.constexpr, ENDS: tl.constexpr = True):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if not ENDS:
        while tl.atomic_add(x, 0.0) >= 0.0:
            pass
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def told_by_the_array(call, quantiles):
    call()
    call()
    return [HELD[0]["x"][0] + 10.0] * 3


def hold(args, reset_only=False):
    HELD[:] = [args]
    args["x"][0] = 5.0


CONFIGS = [nacre.Config({"BLOCK": block}) for block in (32, 64, 128)]
HELD = []
under_another_name = nacre.heuristics({})(nacre.autotune(configs=CONFIGS, key=["n"])(increment))
with_hooks = nacre.autotune(configs=CONFIGS, key=["n"], pre_hook=hold, do_bench=told_by_the_array, cache_results=True)(increment)
one_never_ends = nacre.autotune(configs=[nacre.Config({"BLOCK": 32, "ENDS": ends}) for ends in (True, False)], key=["n"])(increment)
searched = nacre.autotune(search=nacre.Space({"BLOCK": [32, 64]}, budget=1.0), key=["n"])(increment)


@pytest.fixture
def threads():
    class Counted(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *args):
            self.submitted += 1
            return super().submit(*args)

    with Counted(2) as executor:
        yield executor


def tune(kernel, executor):
    tuner = kernel if hasattr(kernel, "configs") else kernel.fn
    tuner.cache.clear()
    tuner.executor = executor
    x = np.zeros(200, np.float32)
    kernel[lambda meta: (nacre.cdiv(200, meta["BLOCK"]),)](x, 200)
    assert (x[1:] == 1).all()
    return tuner


def test_a_kernel_tuned_under_another_name(threads):
    tuner = tune(under_another_name, threads)
    assert threads.submitted == 3 and len(tuner.configs_timings) == 3 and not tuner.failures
    bare = nacre.autotune(configs=CONFIGS, key=["n"])(increment)  # no global, but nothing of it is needed there
    assert not tune(bare, threads).failures
    with pytest.raises(AutotunerError, match="cannot find the tuned increment: it is no global of the module"):
        tune(nacre.autotune(configs=CONFIGS, key=["n"], pre_hook=hold)(increment), threads)


def test_hooks_and_benchmarkers_run_where_the_kernel_is_timed(threads):
    assert list(tune(with_hooks, threads).configs_timings.values()) == [[16.0] * 3] * 3


def test_a_candidate_that_never_ends_costs_itself(threads, monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE_SECONDS", "10")
    tuner = tune(one_never_ends, threads)
    assert tuner.failures == {tuner.configs[1]: "it took longer than 10 seconds (NACRE_AUTOTUNE_SECONDS)"}


def test_a_search_by_workers(threads):
    assert tune(searched, threads).best_config.kwargs["BLOCK"] in (32, 64) and threads.submitted >= 2


def test_executors_that_are_none(threads):
    class Answers(Executor):
        def submit(self, *args):
            future = Future()
            future.set_result(None)
            return future

    with pytest.raises(TypeError, match="executor=5 is no concurrent.futures.Executor"):
        tune(under_another_name, 5)
    with pytest.raises(AutotunerError, match="the executor answered None for BLOCK: .* instead of times"):
        tune(under_another_name, Answers())
    made = []

    def make():
        made.append(threads)
        return threads

    tune(under_another_name, make)
    tune(searched, make)
    assert len(made) == 1


def test_answers_are_kept_as_they_come(tuning_folder):
    class Third(Executor):
        count = 0

        def submit(self, function, *args):
            future = Future()
            self.count += 1
            if self.count == 3:
                future.set_exception(RuntimeError("the cluster is gone"))
            else:
                future.set_result([float(self.count)] * 3)
            return future

    with pytest.raises(RuntimeError, match="the cluster is gone"):
        tune(under_another_name, Third())
    (path,) = tuning_folder.glob("*.json")
    assert 0 < len(json.loads(path.read_text())["configs"]) <= 2


def test_those_that_died_with_another_are_tried_alone(tuning_folder):
    class KilledWorker(Exception):
        pass

    class Cluster(Executor):
        """One candidate kills its worker, and with it what waited there."""

        count = 0

        def submit(self, function, *args):
            future = Future()
            self.count += 1
            if self.count <= 2 or self.count == 4:
                future.set_exception(KilledWorker("a worker is gone"))
            else:
                future.set_result([1.0] * 3)
            return future

    tuner = tune(under_another_name, Cluster())
    (reason,) = tuner.failures.values()
    assert reason == "the worker that timed it died (KilledWorker: a worker is gone)"
    assert sum(times[0] == 1.0 for times in tuner.configs_timings.values()) == len(tuner.configs) - 1
