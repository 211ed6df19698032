"""Hooks and listeners: when each is called, and with what."""

import gc
import json
import os

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre import knobs


def make(**options):
    """A kernel that nobody has launched: another closure is another kernel."""
    factor = tl.constexpr(3)

    @nacre.jit(**options)
    def scale_kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x + offsets, tl.load(x + offsets, mask=mask) * factor, mask=mask)

    return scale_kernel


@pytest.fixture(autouse=True)
def restored():
    with knobs.runtime.scope(), knobs.compilation.scope(), knobs.autotuning.scope():
        yield
    for chain in ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook", "kernel_load_end_hook", "kernel_unload_hook"):
        assert not getattr(knobs.runtime, chain), chain


class Calls(list):
    """Remembers the calls of hooks that it is added to."""

    def __enter__(self):
        self.undo = []
        return self

    def __exit__(self, *_):
        for chain, hook in self.undo:
            chain.remove(hook)

    def to(self, name, take=lambda *args: args):
        chain = getattr(knobs.runtime, name)

        def hook(*args):
            self.append((name, take(*args)))

        chain.add(hook)
        chain.add(hook)  # once is enough
        self.undo.append((chain, hook))


# Launches


@pytest.mark.parametrize("interpret", [False, True])
def test_launch_hooks(interpret):
    def metadata_of(grid, metadata, args):
        return {"flops": args["n"] * 2, "grid": grid, "warps": metadata.num_warps, "kernel": metadata.name}

    kernel = make(launch_metadata=metadata_of, interpret=interpret)
    x = np.ones(16, np.float32)
    with Calls() as calls:
        calls.to("launch_enter_hook", lambda metadata: (metadata.get(), x[0].item()))
        calls.to("launch_exit_hook", lambda metadata: (metadata.get(), x[0].item()))
        returned = kernel[(1,)](x, 16, BLOCK=16, num_warps=2)
    kernel[(1,)](x, 16, BLOCK=16)
    (enter, (told, before)), (leave, (told_again, after)) = calls
    assert (enter, leave) == ("launch_enter_hook", "launch_exit_hook") and (before, after) == (1, 3)
    assert told is told_again and told["name"] == told["kernel"] == "scale_kernel" and told["stream"] == 0
    assert told["flops"] == 32 and told["grid"] == (1, 1, 1) and told["warps"] == 2
    assert told["function"] == (kernel.fn if interpret else returned.function)


def test_exit_hooks_run_backwards():
    kernel, order = make(), []
    hooks = [lambda metadata: order.append(1), lambda metadata: order.append(2)]
    for hook in hooks:
        knobs.runtime.launch_enter_hook.add(hook)
        knobs.runtime.launch_exit_hook.add(hook)
    kernel[(1,)](np.ones(16, np.float32), 16, BLOCK=16)
    for hook in hooks:
        knobs.runtime.launch_enter_hook.remove(hook)
        knobs.runtime.launch_exit_hook.remove(hook)
    assert order == [1, 2, 2, 1]


def test_a_plain_function_as_a_hook():
    kernel, calls = make(), []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda metadata: calls.append(metadata.get()["name"])
        kernel[(1,)](np.ones(16, np.float32), 16, BLOCK=16)
        knobs.runtime.launch_enter_hook = None
        kernel[(1,)](np.ones(16, np.float32), 16, BLOCK=16)
    kernel[(1,)](np.ones(16, np.float32), 16, BLOCK=16)
    assert calls == ["scale_kernel"]


def test_a_compiled_kernel_calls_launch_hooks():
    x = np.ones(16, np.float32)
    compiled = make(launch_metadata=lambda grid, metadata, args: {"n": args["n"]}).warmup(x, 16, BLOCK=16, grid=(1,))
    assert compiled.launch_metadata((1, 1, 1), 0, x, 16, 16) is None
    with Calls() as calls:
        calls.to("launch_enter_hook", lambda metadata: metadata.get()["n"])
        calls.to("launch_exit_hook", lambda metadata: metadata.get()["n"])
        compiled[(1,)](x, 16, 16)
    assert calls == [("launch_enter_hook", 16), ("launch_exit_hook", 16)] and x[0] == 3


@pytest.mark.parametrize("interpret", [False, True])
def test_pre_run_hooks(interpret):
    kernel, calls = make(interpret=interpret), []
    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append((args[1:], kwargs, args[0][0].item())))
    x = np.ones(16, np.float32)
    kernel[(1,)](x, 16, BLOCK=16, num_warps=2)
    assert calls == [((16,), {"BLOCK": 16, "num_warps": 2}, 1.0)] and x[0] == 3


def test_launch_hooks_of_a_grid_with_a_zero():
    """A grid with a 0 launches nothing; hooks see the launch."""
    x = np.ones(16, np.float32)
    with Calls() as calls:
        calls.to("launch_enter_hook", lambda metadata: metadata.get()["name"])
        for interpret in (False, True):
            make(interpret=interpret)[(0,)](x, 16, BLOCK=16)
    assert len(calls) == 2 and (x == 1).all()


# Loading


def test_load_and_unload_hooks():
    gc.collect()  # whatever other tests left
    kernel, x = make(), np.ones(16, np.float32)
    with Calls() as calls:
        for name in ("kernel_load_start_hook", "kernel_load_end_hook", "kernel_unload_hook"):
            calls.to(name)
        compiled = kernel.warmup(x, 16, BLOCK=16, grid=(1,))
        assert calls == [] and compiled.module is None  # nothing is loaded before it is launched
        for _ in range(2):
            kernel[(1,)](x, 16, BLOCK=16)
        assert [name for name, _ in calls] == ["kernel_load_start_hook", "kernel_load_end_hook"]
        assert calls[0][1] == (None, None, "scale_kernel", compiled.metadata_group, compiled.hash)
        assert calls[1][1] == (compiled.module, compiled.function, "scale_kernel", compiled.metadata_group, compiled.hash)
        (path,) = compiled.metadata_group.values()
        assert path.endswith(f"{compiled.hash[2:]}.kernel")
        hash, module = compiled.hash, compiled.module
        del calls[:], compiled, kernel
        gc.collect()
        assert [(name, args[0], args[2], args[4]) for name, args in calls] == [("kernel_unload_hook", module, "scale_kernel", hash)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_unloads_nothing():
    kernel, x = make(), np.ones(16, np.float32)
    with Calls() as calls:
        calls.to("kernel_unload_hook")
        kernel[(1,)](x, 16, BLOCK=16)
        compiled = kernel.warmup(x, 16, BLOCK=16, grid=(1,))
        child = os.fork()
        if child == 0:
            compiled.__del__()
            os._exit(len(calls))
        assert os.waitpid(child, 0)[1] == 0
        compiled.__del__()
        assert len(calls) == 1 and compiled.module is None
        compiled.__del__()
        assert len(calls) == 1
        kernel[(1,)](x, 16, BLOCK=16)
    assert (x == 9).all()  # two launches, each by 3


# Compiling


def test_compile_hooks():
    kernel, calls = make(), []
    x = np.ones(16, np.float32)

    def remember(name, answer):
        def hook(*, key, repr, fn, compile, is_manual_warmup, already_compiled):
            calls.append((name, key, repr, fn, compile, is_manual_warmup, already_compiled, nacre._core.cache_counts()["compiles"]))
            return answer

        return hook

    knobs.runtime.jit_cache_hook = remember("before", False)
    knobs.runtime.jit_post_compile_hook = remember("after", None)
    before = nacre._core.cache_counts()["compiles"]
    kernel[(1,)](x, 16, BLOCK=16, num_warps=2)
    kernel[(1,)](x, 16, BLOCK=16, num_warps=2)
    kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    assert [call[0] for call in calls] == ["before", "after"] * 2
    assert [call[7] - before for call in calls] == [0, 1, 1, 2]
    name, key, repr, fn, compile, is_manual_warmup, already_compiled, _ = calls[1]
    assert fn.name == "scale_kernel" and fn.module == __name__ and fn.jit_function is kernel
    assert repr == "scale_kernel(x: *fp32, n: i32, BLOCK: constexpr)" and key == calls[0][1] == compile["key"]
    assert compile["signature"] == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"} and compile["constants"] == {(2,): 16}
    assert compile["device"] == 0 and compile["num_warps"] == 2 and compile["enable_fp_fusion"] is True
    assert compile["configs"][0][(1,)] == [["tt.divisibility", 16]] and compile["is_warmup"] is False
    assert not is_manual_warmup and not already_compiled and calls[3][5] is True and calls[3][4]["is_warmup"] is True
    knobs.runtime.jit_cache_hook = remember("before", True)
    assert kernel[(1,)](x, 2**40, BLOCK=16) is None and len(calls) == 5 and x[0] == 9


def test_compilation_listener():
    kernel, calls = make(), []
    x = np.ones(16, np.float32)
    knobs.compilation.listener = lambda *, src, metadata, metadata_group, times, cache_hit: calls.append(
        (src, metadata, metadata_group, times, cache_hit)
    )
    compiled = kernel[(1,)](x, 16, BLOCK=16)
    kernel[(1,)](x, 16, BLOCK=16)
    kernel._clear_cache()
    kernel[(1,)](x, 16, BLOCK=16)
    assert [call[4] for call in calls] == [False, True]
    src, metadata, metadata_group, times, _ = calls[0]
    assert src is compiled.src and metadata["hash"] == compiled.hash and metadata_group == compiled.metadata_group != {}
    assert [stage for stage, _ in times.lowering_stages] == ["tile", "cpu", "llvm", "asm", "obj"]
    assert times.ir_initialization > 0 and times.total_lowering == sum(time for _, time in times.lowering_stages) > 0
    assert times.total == times.ir_initialization + times.total_lowering + times.store_results
    assert calls[1][3].total == 0


def test_autotuning_listener_and_cache(script):
    """A second process with TRITON_CACHE_AUTOTUNING finds the timings of the first."""
    text = """
        import os
        import numpy as np
        import nacre
        import nacre.language as tl

        runs = []

        @nacre.autotune([nacre.Config({"BLOCK": 16}), nacre.Config({"BLOCK": 32})], key=["n"],
                        do_bench=lambda call, quantiles: runs.append(1) or [float(len(runs))] * 3)
        @nacre.jit
        def kernel(x, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x + offsets, 1.0, mask=offsets < n)

        calls = []
        nacre.knobs.autotuning.listener = lambda **told: calls.append(told)
        for _ in range(2):
            kernel[lambda meta: (nacre.cdiv(64, meta["BLOCK"]),)](np.zeros(64, np.float32), 64)
        (told,) = calls
        assert told["fn"] is kernel.base_fn and told["key"] == (64, "float32") and told["best_config"] is kernel.best_config
        assert set(told["configs_timings"]) == set(kernel.configs) and kernel.best_config.kwargs == {"BLOCK": 16}
        print(len(runs), told["cache_hit"], told["duration"] is None)
    """
    path = script.write(text)
    assert script.finish(script.start(path)) == "2 False False\n"
    assert script.finish(script.start(path)) == "2 False False\n"
    assert script.finish(script.start(path, TRITON_CACHE_AUTOTUNING="1")) == "2 False False\n"
    assert script.finish(script.start(path, TRITON_CACHE_AUTOTUNING="1")) == "0 True True\n"
    path.write_text(path.read_text().replace("n, 1.0", "n, 2.0").replace("offsets, 1.0", "offsets, 2.0"))
    assert script.finish(script.start(path, TRITON_CACHE_AUTOTUNING="1")) == "2 False False\n"


# Preloading


@nacre.jit
def increment(x):
    return x + 1


@nacre.jit
def preloaded_kernel(x, pair, f: tl.constexpr, T: tl.constexpr, n, nothing, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, f(tl.load(x + offsets)).to(T) + pair[0] + pair[1] + n)


def test_preload_what_a_hook_described():
    x = np.zeros(16, np.float32)
    arguments = (x, (1, 2.0), increment, tl.float32, 16, None)
    described = []
    knobs.runtime.jit_post_compile_hook = lambda **told: described.append(told["compile"]["specialization_data"])
    compiled = preloaded_kernel[(1,)](*arguments, BLOCK=16, num_warps=2)
    preloaded_kernel._clear_cache()
    knobs.runtime.jit_post_compile_hook = None
    text = json.dumps(json.loads(described[0]))  # as if it came from elsewhere
    again = preloaded_kernel.preload(text)
    assert again.hash == compiled.hash and again.src.signature == compiled.src.signature and again.metadata.num_warps == 2
    compiles = []
    knobs.runtime.jit_cache_hook = lambda **told: compiles.append(told)
    assert preloaded_kernel[(1,)](*arguments, BLOCK=16, num_warps=2) is again and compiles == []
    assert (x == 2 * (1 + 1 + 2 + 16)).all()
    with pytest.raises(RuntimeError, match="is of .*preloaded_kernel, not of .*increment"):
        increment.preload(text)
    elsewhere = json.loads(text)
    elsewhere["target"]["backend"] = "cuda"
    with pytest.raises(RuntimeError, match="for the target"):
        preloaded_kernel.preload(json.dumps(elsewhere))


def test_a_package_compiles_a_launch_itself():
    from nacre._utils import find_paths_if, get_iterable_path

    kernel, x = make(), np.ones(16, np.float32)
    *_, target, backend, binder = kernel.device_caches[nacre.runtime.driver.active.get_current_device()]
    arguments, specialization, options = binder(x, 16, BLOCK=16, num_warps=2)
    assert options == {"num_warps": 2} and specialization[1] == ("i32", "D") and specialization[2] == ("constexpr", 16)
    types, facts = zip(*specialization)
    constants = {path: get_iterable_path(list(arguments.values()), path) for path in find_paths_if(types, lambda _, type: type == "constexpr")}
    attributes = {path: backend.parse_attr(get_iterable_path(facts, path)) for path in find_paths_if(facts, lambda _, fact: isinstance(fact, str))}
    source = kernel.ASTSource(kernel, dict(zip(kernel.arg_names, types)), constants, attributes)
    compiled = kernel.compile(source, target=target, options=backend.parse_options(options).__dict__)
    launched = kernel[(1,)](x, 16, BLOCK=16, num_warps=2)
    for name in ("signature", "attrs", "constants"):
        assert getattr(compiled.src, name) == getattr(launched.src, name)


def test_device_caches():
    kernel, x = make(), np.ones(16, np.float32)
    device = nacre.runtime.driver.active.get_current_device()
    assert len(kernel.device_caches[device][0]) == 0
    for n in (16, 5, 16):
        compiled = kernel[(1,)](x, n, BLOCK=16)
    kernel[(1,)](x, 16, BLOCK=16, num_warps=8)
    kernels, _, target, backend, binder = kernel.device_caches[device]
    assert len(kernels) == 3 and compiled in kernels.values()
    assert target.backend == "cpu" and backend.target == target and binder(x, n=5, BLOCK=16)[0]["n"] == 5
    assert list(kernel.device_caches) == [device] and device in kernel.device_caches and len(kernel.device_caches) == 1
    kernels.clear()
    assert not kernel.device_caches[device][0]
    assert kernel[(1,)](x, 16, BLOCK=16) is not compiled
    kernel.device_caches.clear()
    assert not kernel.device_caches[device][0]
