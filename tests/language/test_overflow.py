"""sanitize_overflow: under debug, +, - and * of signed integers below 64 bits report a result that does not fit."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("Triton's interpreter does not check for overflow")


@triton.jit
def operate_kernel(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if OP == "add":
        result = x + y
    elif OP == "sub":
        result = x - y
    elif OP == "mul":
        result = x * y
    elif OP == "unchecked":
        result = tl.mul(x, y, sanitize_overflow=False)
    else:
        result = tl.add(x, y)
    tl.store(out_ptr + offsets, result)


def launch(engine, name, x, y, op, **options):
    values = [np.zeros(16, name), np.zeros(16, name)]
    values[0][5], values[1][5] = x, y
    out = engine.empty(16, name)
    operate_kernel[(1,)](engine.array(values[0]), engine.array(values[1]), out, op, 16, **options)
    return engine.numpy(out)


OVERFLOWS = [
    ("int32", 2**31 - 1, 1, "add"), ("int32", -(2**31), 1, "sub"), ("int32", 2**16, 2**16, "mul"),
    ("int32", 2**31 - 1, 1, "function"), ("int8", 100, 100, "add"), ("int16", -300, 300, "mul"),
]  # fmt: skip


@pytest.mark.parametrize("name, x, y, op", OVERFLOWS)
def test_reported_under_debug(engine, name, x, y, op):
    with pytest.raises(Exception, match=f"{name} overflow detected for operation {'add' if op == 'function' else op}"):
        launch(engine, name, x, y, op, debug=True, sanitize_overflow=True)


@pytest.mark.parametrize("options", [{}, {"debug": True, "sanitize_overflow": False}, {"sanitize_overflow": True}])
@pytest.mark.parametrize("name, x, y, op", OVERFLOWS[:3])
def test_wraps_otherwise(engine, name, x, y, op, options):
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op]
    found = launch(engine, name, x, y, op, **options)
    with np.errstate(over="ignore"):
        assert found[5] == function(np.array([x], name), np.array([y], name))[0]


@pytest.mark.parametrize("name, x, y, op", [
    ("int32", 2**31 - 2, 1, "add"), ("int32", -(2**31), 1, "add"), ("int32", -(2**15), 2**16, "mul"), ("int8", -128, 0, "sub"),
    ("int64", 2**62, 2**62, "add"), ("uint32", 2**31, 2**31, "add"), ("int32", 2**16, 2**16, "unchecked"),
])  # fmt: skip
def test_not_reported(engine, name, x, y, op):
    launch(engine, name, x, y, op, debug=True, sanitize_overflow=True)


def test_the_standard_library_is_not_checked(engine):
    @triton.jit
    def kernel(out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.randint(0, offsets).to(tl.int32, bitcast=True))

    out = engine.empty(16, "int32")
    kernel[(1,)](out, debug=True, sanitize_overflow=True)
    assert len(set(engine.numpy(out).tolist())) > 10


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def negated_if_odd(x):
    if x % 2 == 1:
        return -x
    return x + 1


def test_combine_and_elementwise_functions_run_under_debug(engine):
    @triton.jit
    def kernel(out_ptr):
        x = tl.arange(0, 16)
        tl.store(out_ptr, tl.sum(x) + tl.reduce(x, 0, plus))
        tl.store(out_ptr + 1, tl.sum(tl.map_elementwise(negated_if_odd, x)))

    out = engine.empty(2, "int32")
    kernel[(1,)](out, debug=True, sanitize_overflow=True)
    np.testing.assert_array_equal(engine.numpy(out), [240, sum(-x if x % 2 else x + 1 for x in range(16))])
