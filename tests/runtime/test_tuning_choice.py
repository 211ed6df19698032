"""Which configurations are timed and which is chosen: validation, failures, pruning, hooks, ties, keys, search spaces."""

import json
import math
import re
import threading
import warnings

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.compiler.errors import CompileTimeAssertionFailure
from nacre.runtime.errors import AutotunerError, OutOfResources
from nacre.runtime.tuning.choice import choose
from nacre.runtime.tuning.config import identity

CONFIGS = [nacre.Config({"BLOCK": block}) for block in (32, 64, 128)]
N = 200


def once(call, quantiles):
    call()
    return [1.0, 1.0, 1.0]


def make(configs=CONFIGS, do_bench=once, key=("n",), **options):
    @nacre.autotune(configs=configs, key=key, do_bench=do_bench, **options)
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr, FAIL: tl.constexpr = False):
        tl.static_assert(BLOCK != 64 or not FAIL, "no 64")
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    return kernel


def grid(meta):
    return (nacre.cdiv(meta["n"], meta["BLOCK"]),)


def launch(kernel, **options):
    x = np.zeros(N, np.float32)
    kernel[grid](x, N, **options)
    assert (x == 1).all()
    return kernel


@pytest.mark.parametrize("parameter", ["reset_to_zero", "restore_value"])
def test_names_that_are_no_arguments(parameter):
    with pytest.raises(ValueError, match=rf"{parameter} contains names that are not kernel arguments: M.*x, n, BLOCK"):
        make(**{parameter: ["M"]})


def test_a_key_that_names_no_argument_does_not_count():
    with pytest.warns(UserWarning, match="key names M, which is no argument of the kernel.*x, n, BLOCK"):
        kernel = make(key=["M", "n"])
    assert kernel.keys == ["n"]
    launch(kernel)


class Store:
    """What a subclass may keep its results in."""

    def __init__(self):
        self.found = {}

    def __contains__(self, key):
        return key in self.found

    def __getitem__(self, key):
        return self.found[key]

    def __setitem__(self, key, config):
        self.found[key] = config


def test_results_are_kept_in_any_object():
    kernel = make(key=["n"])
    kernel.cache = store = Store()
    launch(kernel)
    assert list(store.found.values()) == [kernel.best_config]
    other = next(config for config in kernel.configs if config != kernel.best_config)
    store.found = dict.fromkeys(store.found, other)
    assert launch(kernel).best_config == other


def test_one_configuration_is_timed_by_bench():
    kernel, x = make(key=["n"], do_bench=once), np.zeros(N, np.float32)
    kernel.nargs = {"x": x, "n": N}
    assert kernel._bench(x, N, config=kernel.configs[0], grid=grid) == [1.0, 1.0, 1.0]
    assert (x == 1).all()


def test_mistakes_are_said_where_they_are_made():
    for error, text, options in (
        (TypeError, "which is no Config; write Config", {"configs": [{"BLOCK": 64}]}),
        (TypeError, "needs configs=.* or search=.*found 3", {"configs": 3}),
        (ValueError, "prune_configs_by of kernel has no 'early_prune'; it takes early_config_prune", {"prune_configs_by": {"early_prune": list}}),
        (ValueError, "top_k: expected a share .* found 0", {"prune_configs_by": {"top_k": 0}}),
        (ValueError, "top_k: expected a share .* found -1", {"prune_configs_by": {"top_k": -1}}),
        (ValueError, "top_k: expected a share .* found 1.5", {"prune_configs_by": {"top_k": 1.5}}),
        (TypeError, "top_k: expected a share .* found 'a'", {"prune_configs_by": {"top_k": "a"}}),
        (ValueError, "isolate='maybe': expected 'auto', 'always' or 'never'", {"isolate": "maybe"}),
    ):
        with pytest.raises(error, match=text):
            make(**options)
    with pytest.raises(TypeError, match="@autotune stands above @jit"):
        nacre.autotune(configs=CONFIGS, key=[])(len)
    with pytest.raises(TypeError, match="@heuristics stands above @jit"):
        nacre.heuristics({})(len)
    with pytest.raises(TypeError, match="Config: expected a dictionary of meta-parameters, found None"):
        nacre.Config(None)
    with pytest.raises(TypeError, match="reset_to_zero names 'n', which is not an array: 200"):
        launch(make(reset_to_zero=["n"]))
    with pytest.raises(TypeError, match="takes configs or search, not both"):
        nacre.autotune(configs=CONFIGS, search=nacre.Space({"BLOCK": [32]}), key=[])
    with pytest.raises(TypeError, match="autotune of kernel, which is tuned already"):
        nacre.autotune(configs=CONFIGS, key=[])(nacre.heuristics({})(make()))
    assert make(key="n").keys == ["n"] and make(key=nacre.bucket("n")).keys[0].name == "n"


def test_arrays_and_nan_in_a_key():
    @nacre.autotune(configs=CONFIGS, key=["extra", "scale"], do_bench=once)
    @nacre.jit
    def kernel(x, extra, n, scale, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, 1.0, mask=offsets < n)

    x = np.zeros(N, np.float32)
    for extra in (None, np.zeros(3, np.int8), np.zeros(3, np.int8)):
        for scale in (float("nan"), float("nan"), 1.0):
            kernel[grid](x, extra, N, scale)
    assert set(kernel.cache) == {(None, "nan", "float32"), (None, 1.0, "float32"), ("int8", "nan", "float32", "int8"), ("int8", 1.0, "float32", "int8")}


def test_the_largest_is_compiled_first(monkeypatch):
    from nacre.runtime.tuning.measuring import compile_all

    monkeypatch.setenv("TRITON_AUTOTUNING_COMPILE_WORKERS", "2")
    started, both = [], threading.Barrier(2)
    configs = [nacre.Config({"A": a, "B": b, "C": "text", "D": None}) for a, b in ((1, 2), (64, 8), (16, 16), (8, 128))]

    def compile_one(config):
        started.append(config)
        if config in (configs[1], configs[3]):
            both.wait(600)  # neither worker takes a third one before both have a first one
        return config.kwargs["A"]

    kernels, failures = compile_all(compile_one, configs)
    assert set(started[:2]) == {configs[3], configs[1]} and kernels == {config: config.kwargs["A"] for config in configs} and not failures


def test_configurations_that_are_the_same_code_are_timed_once(monkeypatch):
    from nacre.runtime.tuning import isolation

    measured = []
    measure = isolation.measure
    monkeypatch.setattr(isolation, "measure", lambda *args: measured.append(args[1]) or measure(*args))
    configs = [nacre.Config({"BLOCK": block}, num_warps=warps) for block in (32, 64) for warps in (1, 4, 8)]
    kernel = launch(make(configs=configs, do_bench=None))
    assert measured == [configs[0], configs[3]] and len(kernel.configs_timings) == 6
    assert kernel.configs_timings[configs[5]] == kernel.configs_timings[configs[3]] and kernel.best_config in measured
    measured.clear()  # on another grid it is another candidate
    x = np.zeros(N, np.float32)
    make(configs=configs[:3], do_bench=None)[lambda meta: (nacre.cdiv(N, 32) + meta["num_warps"],)](x, N - 1)
    assert measured == configs[:3]


def test_a_candidate_is_compared_with_the_best_call_by_call(monkeypatch):
    from nacre.testing import timing

    speed = [1.0]

    class Clock:
        def __init__(self):
            self.clear = lambda: None

        def time(self, fn):
            speed[0] *= 1.1  # the machine grows slower all the time
            return speed[0] * fn()

    monkeypatch.setattr(timing, "_Clock", Clock)
    slow = timing.compare(lambda: 4.0, lambda: 3.0)
    assert len(slow) == timing._FEWEST and all(1.4 < ratio < 1.5 for ratio in slow)  # given up
    equal = timing.compare(lambda: 3.0 / 1.1, lambda: 3.0)
    assert len(equal) == timing._FEWEST and all(abs(ratio - 1) < 1e-6 for ratio in equal)  # known
    values = iter([0.5, 1.5] * 100000)
    assert len(timing.compare(lambda: next(values), lambda: 1.0, milliseconds=1e6)) > timing._FEWEST  # neither


def test_times_are_those_beside_the_best(monkeypatch):
    from nacre.testing import timing

    monkeypatch.setattr(timing, "compare", lambda call, rival: call() or rival() or [2.0, 2.0, 2.0])
    kernel = launch(make(do_bench=None))
    first, second, third = (kernel.configs_timings[config] for config in CONFIGS)
    assert second == third == [2 * first[0]] * 3 and kernel.best_config == CONFIGS[0]


def test_nothing_is_compiled_behind_the_back_of_a_server(monkeypatch):
    from nacre.runtime.errors import UnexpectedCompileError

    def fresh(body):
        return nacre.autotune(configs=CONFIGS, key=["n"], do_bench=once)(nacre.jit(body))

    def first(x, n, BLOCK: tl.constexpr):  # of this test alone: a kernel that another has compiled is in memory
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)

    def second(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, 1.0 + tl.load(x + offsets, mask=offsets < n), mask=offsets < n)

    kernel, x = fresh(first), np.zeros(N, np.float32)
    kernel.fn.warmup(x, N, BLOCK=32, grid=(1,))
    monkeypatch.setenv("NACRE_JIT", "error")
    with pytest.raises(UnexpectedCompileError, match="a launch of first compiles: argument 'BLOCK' is"):
        kernel[grid](x, N)
    monkeypatch.setenv("NACRE_JIT", "warn")
    with pytest.warns(RuntimeWarning, match="a launch of first compiles"):
        launch(kernel)
    monkeypatch.setenv("NACRE_JIT", "error")
    warmed = fresh(second)
    warmed.warmup(x, N, grid=(1,))
    launch(warmed)


def test_a_configuration_that_cannot_be_compiled_is_skipped_with_its_reason():
    kernel = launch(make(), FAIL=True)
    assert kernel.configs_timings[CONFIGS[1]] == [float("inf")] * 3
    assert isinstance(kernel.failures[CONFIGS[1]], CompileTimeAssertionFailure)
    assert kernel.best_config == CONFIGS[0]


def test_a_configuration_without_resources_is_skipped():
    def bench(call, quantiles):
        call()
        if len(seen := bench.__dict__.setdefault("seen", [])) == 0:
            seen.append(1)
            raise OutOfResources(2, 1, "shared memory")
        return [1.0] * 3

    kernel = launch(make(do_bench=bench))
    assert kernel.best_config == CONFIGS[1] and "shared memory" in str(kernel.failures[CONFIGS[0]])


def test_none_left_lists_every_reason():
    count = []

    def bench(call, quantiles):
        count.append(1)
        raise OutOfResources(len(count), 0, "things")

    with pytest.raises(AutotunerError, match=r"none of the 3 configurations can run(.|\n)*BLOCK: 32.*required: 1(.|\n)*BLOCK: 128.*required: 3"):
        launch(make(do_bench=bench))


def test_an_error_of_the_kernel_itself_is_shown_as_it_is():
    with pytest.raises(CompileTimeAssertionFailure) as error:
        launch(make(configs=[nacre.Config({"BLOCK": 64}), nacre.Config({"BLOCK": 64}, num_warps=8)]), FAIL=True)
    assert "all 2 configurations fail so" in error.value.__notes__[0]


def test_a_lone_survivor_is_not_timed():
    kernel = make(do_bench=lambda call, quantiles: pytest.fail("timed"), prune_configs_by={"early_config_prune": lambda c, a, **_: c[1:2]})
    assert launch(kernel).best_config == CONFIGS[1]


def test_pruning_everything_is_an_error():
    with pytest.raises(AutotunerError, match="at least one config"):
        launch(make(prune_configs_by={"early_config_prune": lambda configs, named, **_: []}))


def test_top_k_is_a_share_of_the_survivors():
    pruning = {"early_config_prune": lambda configs, named, **_: configs[1:], "perf_model": lambda BLOCK, **_: BLOCK, "top_k": 0.5}
    assert launch(make(prune_configs_by=pruning)).best_config == CONFIGS[1]
    assert not make(prune_configs_by={**pruning, "top_k": 0.01}).cache


def test_old_parameters_are_deprecated():
    with pytest.warns(DeprecationWarning, match="warmup, rep, and use_cuda_graph"):
        nacre.autotune(configs=CONFIGS, key=[], warmup=1)(make().fn)


def test_the_hook_of_the_user_is_told_that_it_only_resets():
    calls = []

    def pre_hook(args, reset_only=False):
        calls.append(reset_only)

    launch(make(pre_hook=pre_hook))
    assert calls == [False, False, False, True]


def test_hooks_see_a_configuration_that_does_not_compile():
    open_runs, errors = [], []

    def post_hook(args, exception):
        open_runs.pop()
        if exception is not None:
            errors.append((args["BLOCK"], type(exception)))

    launch(make(pre_hook=lambda args: open_runs.append(1), post_hook=post_hook), FAIL=True)
    assert errors == [(64, CompileTimeAssertionFailure)] and not open_runs


def test_what_pruning_is_given():
    given = []

    def prune(configs, named_args, **kwargs):
        given.append((sorted(named_args), kwargs["n"]))
        return configs[:1]

    x = np.zeros(N, np.float32)
    make(prune_configs_by={"early_config_prune": prune})[grid](x, n=N)
    assert given == [(["x"], N)] and (x == 1).all()


def test_hooks_are_given_keywords_too():
    seen = []
    x = np.zeros(N, np.float32)
    make(pre_hook=lambda args, reset_only=False: seen.append(args["n"]))[grid](x, n=N)
    assert seen == [N] * 4


def test_listener():
    told = []
    with nacre.knobs.autotuning.scope():
        nacre.knobs.autotuning.listener = lambda **facts: told.append(facts)
        kernel = launch(make())
    (facts,) = told
    assert set(facts) == {"fn", "key", "best_config", "configs_timings", "duration", "cache_hit"}
    assert facts["fn"] is kernel.fn and not facts["cache_hit"] and facts["duration"] > 0 and facts["key"] == (N, "float32")


def test_what_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    launch(make(), FAIL=True)
    out = capsys.readouterr().out
    assert "Autotuning kernel kernel with config BLOCK: 32" in out and "Autotuning failed with" in out and "no 64" in out
    assert "Triton autotuning for function kernel,\nwith key as (200, 'float32'),\nfinished after" in out and "best config selected: BLOCK: 32" in out


def test_times_within_noise_are_a_tie():
    a, b, c = CONFIGS
    assert choose({a: [1.005, 1.0, 1.01], b: [1.0, 0.99, 1.01], c: [3.0, 3, 3]}) == (a, [b])
    assert choose({a: [1.5, 1.4, 1.6], b: [1.0, 0.99, 1.01]}) == (b, [])
    assert choose({a: [float("inf")] * 3}) == (None, [])
    stalled = {a: [9.0, 8.0, 400.0], b: [1.0, 0.9, 400.0], c: [1.05, 0.9, 400.0]}  # on a busy machine nine times as long is no tie
    assert choose(stalled) == (b, [c])
    assert choose({a: 2.0, b: 1.0}) == (b, [])


def test_buckets():
    timed = []

    def bench(call, quantiles):
        timed.append(1)
        call()
        return [1.0] * 3

    kernel = make(do_bench=bench, key=(nacre.bucket("n"),))
    for n in (100, 128, 65, 200):
        kernel[grid](np.zeros(256, np.float32), n)
    assert set(kernel.cache) == {(128, "float32"), (256, "float32")} and len(timed) == 6
    assert nacre.bucket("n", 100).of(101) == 200
    assert [nacre.bucket("n", [16, 64]).of(value) for value in (1, 16, 17, 1000)] == [16, 16, 64, 64]
    with pytest.warns(UserWarning, match="key names m, which is no argument"):
        make(key=(nacre.bucket("m"),))


def test_what_is_no_bucket():
    for by in (0, -3, "x", [], [1, "a"], True, float("nan")):
        with pytest.raises(ValueError, match=r"bucket\('n', .*\): expected a number above 0, a list of bounds, or a function"):
            nacre.bucket("n", by)
    with pytest.raises(TypeError, match=r"bucket\('x'\) takes numbers, found array"):
        launch(make(key=(nacre.bucket("x"),)))
    assert nacre.bucket("n").of(2.5) == 4 and nacre.bucket("n").of(None) is None and nacre.bucket("n", 0.5).of(0.7) == 1.0


def test_a_key_that_is_not_hashable():
    with pytest.raises(TypeError, match=r"kernel: the key \(\[200\], 'float32'\) holds a value that is not hashable"):
        launch(make(key=(nacre.bucket("n", lambda value: [value]),)))


def test_how_an_argument_is_passed_makes_no_other_key():
    @nacre.autotune(configs=CONFIGS, key=["a", "b"], do_bench=once)
    @nacre.jit
    def kernel(x, y, n, a=1, b=1, BLOCK: tl.constexpr = 16):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, a + b, mask=offsets < n)

    x, y = np.zeros(N, np.float32), np.zeros(N, np.int8)
    for arguments in ({"a": 5}, {"a": 5, "b": 1}, {"b": 5}):
        kernel[grid](x, y, N, **arguments)
    kernel[grid](n=N, b=5, y=y, x=x)
    kernel[grid](x, n=N, y=y, b=5)
    assert list(kernel.cache) == [(5, 1, "float32", "int8"), (1, 5, "float32", "int8")]


def test_what_a_benchmarker_of_the_users_returns():
    for value in (None, "fast", [None], {}):
        with pytest.raises(TypeError, match=r"autotune of kernel: do_bench\(call, quantiles\) returns milliseconds"):
            launch(make(do_bench=lambda call, quantiles, value=value: value))
    with pytest.raises(AutotunerError, match="BLOCK: 32.*: its benchmarker returned \\[nan\\]\n.*BLOCK: 64.*: its benchmarker returned inf"):
        values = iter([[], np.inf, np.nan])
        launch(make(do_bench=lambda call, quantiles: next(values)))
    times = iter([np.float32(3), [np.float32(1)] * 3, 2])
    kernel = launch(make(do_bench=lambda call, quantiles: next(times)))
    assert kernel.best_config == CONFIGS[1] and list(kernel.configs_timings.values()) == [3.0, [1.0] * 3, 2.0]


def test_tritons_file(cache_folder, monkeypatch):
    launch(make(cache_results=True))
    (path,) = cache_folder.rglob("kernel.autotune.json")
    content = json.loads(path.read_text())
    assert content["key"] == [N, "float32"] and len(content["configs_timings"]) == 3
    fields, times = content["configs_timings"][0]
    assert fields["kwargs"] == {"BLOCK": 32} and fields["num_warps"] == 4 and times == [1.0] * 3
    content["configs_timings"][2][1] = [0.1, 0.1, 0.1]
    path.write_text(json.dumps(content))
    monkeypatch.setenv("NACRE_TUNE_DIR", "off")
    kernel = launch(make(cache_results=True, do_bench=lambda call, quantiles: pytest.fail("timed again")))
    assert kernel.best_config == CONFIGS[2]


def test_a_cache_that_is_cleared_tunes_again():
    timed = []

    def bench(call, quantiles):
        timed.append(1)
        call()
        return [1.0] * 3

    kernel = launch(launch(make(do_bench=bench)))
    assert len(timed) == 3
    kernel.cache.clear()
    launch(kernel)
    assert len(timed) == 6
    kernel.cache = {}
    launch(kernel)
    assert len(timed) == 9


def test_first_mode_and_unknown_mode(monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE", "first")
    assert launch(make(do_bench=lambda call, quantiles: pytest.fail("timed"))).best_config == CONFIGS[0]
    monkeypatch.setenv("NACRE_AUTOTUNE", "sometimes")
    with pytest.raises(ValueError, match="NACRE_AUTOTUNE=sometimes: expected one of tune, cached, first, error"):
        launch(make())
    monkeypatch.setenv("NACRE_AUTOTUNE", "")  # as if it were not set
    assert len(launch(make()).configs_timings) == 3


def test_while_a_graph_is_captured_nothing_is_timed(monkeypatch):
    from nacre.runtime.tuning import find_config

    kernel = make(do_bench=lambda call, quantiles: pytest.fail("timed"))
    monkeypatch.setattr(find_config, "_is_capturing", lambda: True)
    with pytest.warns(RuntimeWarning, match="a CUDA graph is being captured: the first configuration is used"):
        launch(kernel)
    assert kernel.best_config == CONFIGS[0] and not kernel.cache  # outside of the capture it is tuned


def test_spaces():
    from nacre import Space, powers_of_two, span

    assert powers_of_two(16, 128) == [16, 32, 64, 128] and powers_of_two(3, 9) == [4, 8] and span(1, 7, 3) == [1, 4, 7]
    space = Space({"A": [1, 2], "num_warps": [4, 8]}, constraint=lambda A, num_warps: A * num_warps <= 8)
    assert [(config.kwargs["A"], config.num_warps) for config in space.all_configs()] == [(1, 4), (1, 8), (2, 4)]
    for bad in (dict(values={"A": []}), dict(values={"A": [1]}, budget=0), dict(values={"A": [1]}, method="guess")):
        with pytest.raises(ValueError):
            Space(**bad)
    for values, why in (({"A": 5}, "A needs a list of at least one value, found 5"), ({"A": "xy"}, "found 'xy'"), ([1], "expected a dictionary")):
        with pytest.raises(ValueError, match=why):
            Space(values)
    assert len(Space({"A": [1, 2, 1, 1.0], "B": (3, 3)})) == 2
    with pytest.raises(ValueError, match="allows no combination"):
        Space({"A": [1]}, constraint=lambda A: False).all_configs()


@pytest.fixture
def told_times(monkeypatch):
    """Candidates run, but how long they took is told: the nearer to 512, the faster. The clock goes on by clock.step at each look."""
    from nacre.runtime.tuning import measuring, search

    class Clock:
        now = step = 0.0

        def monotonic(self):
            self.now += self.step
            return self.now

    def time(measurement, config):
        measurement.call(config)()
        return [1.0 + abs(math.log2(config.kwargs["BLOCK"] / 512))] * 3

    clock = Clock()
    monkeypatch.setattr(measuring.Measurement, "_time", time)
    monkeypatch.setattr(search, "time", clock)
    return clock


def searched(method, seed=3):
    space = nacre.Space({"BLOCK": nacre.powers_of_two(1, 4096)}, budget=1.0, method=method, seed=seed)

    @nacre.autotune(search=space, key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    return space, launch(kernel)


@pytest.mark.parametrize("method", ["halving", "random"])
def test_a_search_finds_the_fastest(method, told_times, tuning_folder):
    space, kernel = searched(method)
    assert kernel.best_config.kwargs["BLOCK"] == 512
    (path,) = tuning_folder.glob("kernel-*.json")
    kept = {entry["config"] for entry in json.loads(path.read_text())["configs"]}
    assert kept == {identity(config) for config in kernel.configs_timings if kernel.configs_timings[config][0] < float("inf")}
    kernel.cache.clear()
    best = kernel.best_config
    space._halving = space._random = None  # nothing is searched again
    assert launch(kernel).best_config == best


@pytest.mark.parametrize("step, count", [(0.0, 13), (0.4, 12), (2.0, 4)])
def test_a_search_ends_with_its_budget(step, count, told_times, tuning_folder):
    told_times.step = step  # four candidates between two looks at the clock
    _, kernel = searched("random")
    assert len(kernel.configs_timings) == count and kernel.best_config == min(kernel.configs_timings, key=lambda config: kernel.configs_timings[config])
    assert kernel.configs_timings.keys() >= {nacre.Config({"BLOCK": 1})}  # what its author thought of first is always tried


@pytest.mark.parametrize("method, expected", [("halving", [4, 8]), ("random", [4, 8, 12])])
def test_a_search_that_was_ended_early_goes_on_in_the_next_process(method, expected, told_times, tuning_folder):
    told_times.step = 2.0
    counts = []
    for _ in expected:  # each a kernel without memory, as another process has it
        with pytest.warns(RuntimeWarning, match=r"the budget of 1 s ended the search after \d+ of 13 configurations; the next process goes on") as told:
            _, kernel = searched(method)
        counts.append(int(re.search(r"after (\d+)", str(told[0].message))[1]))
    assert counts == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, kernel = searched(method)
        assert kernel.best_config.kwargs["BLOCK"] == 512
        space, kernel = searched(method)
    (path,) = tuning_folder.glob("kernel-*.json")
    assert len(json.loads(path.read_text())["tried"]) == 13


def test_a_search_of_enough_candidates_is_kept(told_times, tuning_folder):
    told_times.step = 0.1
    space = nacre.Space({"BLOCK": nacre.powers_of_two(1, 4096), "num_stages": [1, 2, 3, 4]}, budget=1.0, method="random")

    @nacre.autotune(search=space, key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(kernel)
        kernel.cache.clear()
        space._random = None  # nothing is searched again
        launch(kernel)


@pytest.mark.parametrize("method", ["halving", "random"])
def test_a_search_with_times_as_they_are(method, tuning_folder):
    _, kernel = searched(method)
    assert kernel.best_config in kernel.configs_timings


def test_heuristics_contract():
    order = []

    def first(args):
        order.append(("A", sorted(args)))
        return args["n"] * 2

    def second(args):
        order.append(("B", args["A"]))
        return {"B": args["A"] + 1}

    @nacre.heuristics({"A": first, "B": second})
    @nacre.jit
    def kernel(out, n, A: tl.constexpr, B: tl.constexpr):
        tl.store(out, A * 100 + B)

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, n=5)
    assert out[0] == 1011 and order == [("A", ["n", "out"]), ("B", 10)]
    kernel.run(out, 6, grid=(1,), warmup=False)
    assert out[0] == 1213
    kernel[(1,)](out, 5, A=7)  # the heuristic has the last word
    assert out[0] == 1011


def test_an_error_in_a_heuristic_names_it():
    @nacre.heuristics({"BLOCK": lambda args: 1 // args["n"]})
    @nacre.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        tl.store(out, BLOCK)

    for call in (lambda: kernel[(1,)](np.zeros(1), 0), lambda: kernel.run(np.zeros(1), 0, grid=(1,), warmup=False)):
        with pytest.raises(ZeroDivisionError) as error:
            call()
        assert error.value.__notes__ == ["in the heuristic 'BLOCK' of the kernel kernel"]
    wrong = nacre.heuristics({"BLOCK": lambda args: {"BLOK": 3}})(kernel.fn)
    for call in (lambda: wrong[(1,)](np.zeros(1), 0), lambda: wrong.run(np.zeros(1), 0, grid=(1,), warmup=False)):
        with pytest.raises(TypeError, match="the heuristic 'BLOCK' of the kernel kernel returned a dictionary without 'BLOCK'; it has 'BLOK'"):
            call()
    with pytest.raises(TypeError, match="'BLOCK' needs a function"):
        nacre.heuristics({"BLOCK": 3})(kernel.fn)


@pytest.mark.parametrize("outer", ["autotune", "heuristics"])
def test_autotune_and_heuristics_in_either_order(outer):
    def body(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1 + EVEN, mask=offsets < n)

    tune = nacre.autotune(configs=CONFIGS, key=["n"], do_bench=once)
    derive = nacre.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
    kernel = tune(derive(nacre.jit(body))) if outer == "autotune" else derive(tune(nacre.jit(body)))
    x = np.zeros(N, np.float32)
    for count in (2, 4, 6):
        kernel[grid](x, N)
        assert (x == count).all()


def test_no_warning_without_old_parameters():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(make())


def test_copies_of_a_tuned_kernel():
    import copy

    kernel = launch(make())
    twin = copy.copy(kernel)
    launch(twin)
    assert twin.cache == kernel.cache and twin.cache is not kernel.cache and twin.pre_hook.__self__ is twin
    launch(copy.copy(nacre.heuristics({"FAIL": lambda args: False})(kernel)))


def test_progress_on_a_terminal(monkeypatch):
    import io

    from nacre.runtime.tuning import reporting

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(reporting, "_SILENT_SECONDS", 0)
    monkeypatch.setenv("COLUMNS", "300")
    for stream in (Terminal(), io.StringIO()):
        progress = reporting.Progress("kernel", 3, stream)
        progress.compiled(2)
        progress.timing(0, CONFIGS[0])
        progress.timed(CONFIGS[0], 1.5)
        progress.timing(1, CONFIGS[1])
        progress.close()
        lines = stream.getvalue().split("\r")
        if not stream.isatty():
            assert lines == [""]  # silent when piped
            continue
        assert lines[1].startswith("tuning kernel: compiled 2 of 3") and "timing 1 of 3 (BLOCK: 32" in lines[2]
        assert "timing 2 of 3" in lines[3] and "best 1.5 ms: BLOCK: 32" in lines[3] and lines[-1] == ""


def test_a_subclass_that_runs_in_its_own_way():
    calls = []

    class Mine(nacre.runtime.Autotuner):
        def run(self, *args, **kwargs):
            calls.append(1)
            return super().run(*args, **kwargs)

    kernel = Mine(make().fn, ["x", "n", "BLOCK", "FAIL"], CONFIGS, ["n"], None, None, do_bench=once)
    launch(launch(kernel))
    assert calls == [1, 1]
