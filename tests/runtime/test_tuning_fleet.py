"""Candidates compiled and timed by the workers of an executor: processes of this machine, and a real Dask cluster."""

import json

import pytest

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


def test_an_executor_by_its_name(script):
    assert len(told(script, NAMED, NACRE_TUNE_EXECUTOR="named:make")["times"]) == 3


@pytest.mark.parametrize("name, why", [("absent", "expected MODULE:NAME"), ("no_such_module:x", "No module named 'no_such_module'"),
                                       ("os:bar", "has no attribute 'bar'"), ("os:getcwd", "expected an executor or a function that makes one"),
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
