"""Choosing configurations."""

import numpy as np
import pytest

import nacre
import nacre.language as tl

CONFIGS = [nacre.Config({"BLOCK": block}, num_warps=warps) for block, warps in [(64, 1), (128, 2), (256, 4)]]


def quick(call, quantiles):
    from nacre.testing import do_bench

    return do_bench(call, warmup=1, rep=2, quantiles=quantiles)


def make(**options):
    @nacre.autotune(configs=options.pop("configs", CONFIGS), key=["n"], do_bench=quick, **options)
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)

    return kernel


def grid(meta):
    return (nacre.cdiv(meta["n"], meta["BLOCK"]),)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_inputs_are_not_corrupted(library):
    array = np.zeros(1000, np.float32) if library == "numpy" else pytest.importorskip("torch").zeros(1000)
    kernel = make()
    for count in (1, 2, 3):
        kernel[grid](array, 1000)
        assert (array == count).all()
    assert kernel.best_config in CONFIGS and len(kernel.cache) == 1 and set(kernel.configs_timings) == set(CONFIGS)


def test_autograd_does_not_see_what_tuning_undoes():
    torch = pytest.importorskip("torch")
    saved = torch.ones(1000)
    weight = torch.ones(1000, requires_grad=True)
    product = (saved * weight).sum()  # backward needs `saved` as it is now
    make()[grid](saved, 1000)
    assert saved._version == 0
    product.backward()
    make()[grid](weight, 1000)  # a leaf that requires a gradient may not be written in place
    assert (weight == 2).all()


def test_tuning_with_elements_that_share_their_place():
    torch = pytest.importorskip("torch")
    base = torch.arange(20.0)
    make()[grid](base[::2].expand(5, 10), 1)
    assert base[0] == 1 and (base[1:] == torch.arange(1.0, 20.0)).all()


def test_a_new_key_tunes_again():
    kernel = make()
    x = np.zeros(1000, np.float32)
    kernel[grid](x, 1000)
    kernel[grid](x, 999)
    kernel[grid](x.astype(np.float64), 999)
    assert len(kernel.cache) == 3
    kernel[grid](x, 1000)
    assert len(kernel.cache) == 3


def test_one_configuration_is_not_timed():
    kernel = make(configs=CONFIGS[:1])
    x = np.zeros(100, np.float32)
    compiled = kernel[grid](x, 100)
    assert compiled.metadata.num_warps == 1 and (x == 1).all() and not kernel.cache


def test_pruning():
    seen = []

    def early(configs, named, **kwargs):
        seen.append(named["n"])
        return configs[1:]

    kernel = make(prune_configs_by={"early_config_prune": early})
    kernel[grid](np.zeros(100, np.float32), 100)
    assert seen == [100] and set(kernel.configs_timings) == set(CONFIGS[1:])
    model = make(prune_configs_by={"perf_model": lambda BLOCK, **_: -BLOCK, "top_k": 2})
    model[grid](np.zeros(100, np.float32), 100)
    assert set(model.configs_timings) == set(CONFIGS[1:])


def test_hooks_and_restoring():
    calls = []
    x = np.zeros(100, np.float32)
    kernel = make(configs=[nacre.Config({"BLOCK": 64}, pre_hook=lambda args: calls.append(args["BLOCK"])), nacre.Config({"BLOCK": 128})],
                  reset_to_zero=["x"])  # fmt: skip
    x[:] = 5
    kernel[grid](x, 100)
    assert (x == 1).all() and 64 in calls
    restoring = make(restore_value=["x"])
    restoring[grid](x, 100)
    assert (x == 2).all()


def test_a_hook_gives_descriptors_their_blocks():
    """Before a configuration is compiled: the blocks are part of the kernel."""
    from nacre.tools.tensor_descriptor import TensorDescriptor

    def hook(args):
        args["x"].block_shape = [args["BLOCK"]]

    @nacre.autotune([nacre.Config({"BLOCK": block}, pre_hook=hook) for block in (32, 64, 128)], key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        start = tl.program_id(0) * BLOCK
        x.store([start], tl.full((BLOCK,), 3.0, tl.float32))

    x = np.zeros(256, np.float32)
    kernel[lambda meta: (256 // meta["BLOCK"],)](TensorDescriptor(x, [256], [1], [1]), 256)
    assert (x == 3).all()


def test_a_parameter_given_twice():
    with pytest.raises(ValueError, match="'BLOCK'"):
        make()[grid](np.zeros(100, np.float32), 100, BLOCK=64)


def test_heuristics():
    @nacre.heuristics({"BLOCK": lambda args: nacre.next_power_of_2(args["n"]), "EVEN": lambda args: {"EVEN": args["n"] % 2 == 0}})
    @nacre.jit
    def kernel(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(out, BLOCK + EVEN)

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, 100)
    assert out[0] == 129
    kernel[(1,)](out, 33)
    assert out[0] == 64


def test_configs():
    config = nacre.Config({"A": 1}, num_warps=8)
    assert config.all_kwargs() == {"A": 1, "num_warps": 8, "num_stages": 3, "num_ctas": 1}
    assert config == nacre.Config({"A": 1}, num_warps=8) and config != nacre.Config({"A": 2}, num_warps=8)
    assert len({config, nacre.Config({"A": 1}, num_warps=8)}) == 1
    assert str(config) == "A: 1, num_warps: 8, num_stages: 3, num_ctas: 1"


def test_a_benchmark_is_set_after_the_tuner_was_made():
    """Packages set it as an attribute, since not every Triton takes it as an argument."""
    asked = []

    def bench(call, quantiles):
        asked.append(call)
        call()
        return [float(len(asked))] * len(quantiles)

    kernel = make()
    kernel.do_bench = bench
    array = np.zeros(1000, np.float32)
    kernel[grid](array, 1000)
    assert kernel.do_bench is bench and len(asked) == len(CONFIGS) and kernel.best_config is CONFIGS[0]


def test_an_object_with_a_run_of_its_own_is_tuned():
    ran, timed, heard = [], [], []

    class Runner:
        def run(self, BLOCK, **options):
            ran.append(BLOCK)

    def bench(call, quantiles):
        call()
        timed.append(ran[-1])
        return [abs(ran[-1] - 128)] * 3

    runner = Runner()
    tuner = nacre.runtime.Autotuner(runner, [], CONFIGS, [], do_bench=bench, cache_results=True)
    nacre.knobs.autotuning.listener = lambda fn, best_config, **rest: heard.append((fn, best_config))
    try:
        tuner.run()
        tuner.run()
    finally:
        nacre.knobs.autotuning.listener = None
    assert timed == [64, 128, 256] and ran == [64, 128, 256, 128, 128]
    assert tuner.best_config is CONFIGS[1] and heard == [(runner, CONFIGS[1])]
