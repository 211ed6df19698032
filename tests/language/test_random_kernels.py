"""Random kernels against their meaning in NumPy; `NACRE_RANDOM_KERNELS=N` runs N of each kind."""

import importlib.util
import os

import numpy as np
import pytest
from random_kernels import RandomKernel

COUNT = int(os.environ.get("NACRE_RANDOM_KERNELS", 60))


def check(engine, tmp_path, seed, odd):
    made = RandomKernel(seed, odd)
    path = tmp_path / f"random_kernel_{seed}.py"
    path.write_text(made.source())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outs = [engine.empty(value.shape or (1,), "int32") for value in made.outputs]
    module.kernel[(1,)](*(engine.array(value) for value in made.inputs), *outs, made.flag)
    for index, (out, expected) in enumerate(zip(outs, made.outputs)):
        got = engine.numpy(out).reshape(expected.shape)
        np.testing.assert_array_equal(got, expected, err_msg=f"out{index}, flag = {made.flag}, of\n{made.source()}")


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_kernel(engine, tmp_path, seed):
    check(engine, tmp_path, seed, odd=False)


@pytest.mark.ours("shapes that are not powers of two")
@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT))
def test_random_kernel_of_odd_shapes(engine, tmp_path, seed):
    check(engine, tmp_path, seed, odd=True)
