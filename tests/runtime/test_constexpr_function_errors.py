"""What a constexpr function cannot do with a run-time value, and what its results depend on."""

import numpy as np
import pytest

import nacre
import nacre.language as tl


def compile_error(function):
    @nacre.jit
    def kernel(x_ptr):
        result: tl.constexpr = function(tl.load(x_ptr))  # noqa: F841

    with pytest.raises(nacre.CompilationError) as caught:
        kernel[(1,)](np.ones(4, np.float32))
    return str(caught.value)


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: 2 * x, lambda x: bool(x), lambda x: x == 1, lambda x: -x, lambda x: [0, 1][x], lambda x: x[0]])
def test_a_run_time_value_has_no_number_yet(use):
    assert "can ask a run-time value for its type and shape, not for its number" in compile_error(nacre.constexpr_function(lambda x: use(x)))


def test_a_run_time_value_is_not_given_back():
    assert "cannot give a run-time value back" in compile_error(nacre.constexpr_function(lambda x: x))
    assert "cannot give a run-time value back" in compile_error(nacre.constexpr_function(lambda x: (1, x)))


def test_a_plain_function_takes_constexprs_alone():
    import os.path

    assert "@triton.constexpr_function" in compile_error(tl.constexpr(os.path.basename))


FACTOR = 2


@nacre.constexpr_function
def factor_of(x):
    return FACTOR if x.dtype == tl.float32 else 0


@nacre.jit
def scaled(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) * factor_of(tl.load(x_ptr)))


def test_a_changed_global_of_the_function_is_seen():
    global FACTOR
    x = np.ones(1, np.float32)
    scaled[(1,)](x)
    FACTOR = 5
    scaled[(1,)](x)
    assert x[0] == 10
