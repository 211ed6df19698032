"""sanitize_overflow, on unless it is switched off: under debug, +, - and * of signed integers below 64 bits report a result that does not fit."""

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
        launch(engine, name, x, y, op, debug=True)


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


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def grown(x):
    total = 1
    while total < x:
        total = total * 1000
    return total


@triton.jit
def tripled_if_large(x):
    if x > 100:
        return x * 3
    return x


def place_of(function):
    """The line of the function that multiplies."""
    text, line = function.src.splitlines(), function.starting_line_number
    return line + next(i for i, code in enumerate(text) if " * " in code)


@pytest.mark.parametrize("kind", ["reduce", "scan"])
@pytest.mark.parametrize("shape", [(64,), (4, 16), (16, 4)])
@pytest.mark.parametrize("axis", [0, 1])
def test_combine_functions_are_checked(engine, kind, shape, axis):
    if axis >= len(shape):
        pytest.skip("there is no such axis")

    @triton.jit
    def kernel(x_ptr, out_ptr, COUNT: tl.constexpr, SHAPE: tl.constexpr, AXIS: tl.constexpr, KIND: tl.constexpr):
        x = tl.reshape(tl.load(x_ptr + tl.arange(0, COUNT)), SHAPE)
        if KIND == "reduce":
            result = tl.reduce(x, AXIS, times, keep_dims=True)
        else:
            result = tl.associative_scan(x, AXIS, times)
        tl.store(out_ptr + tl.arange(0, COUNT), tl.ravel(tl.broadcast_to(result, SHAPE)))

    def run(values, **options):
        out = engine.empty(64, "int32")
        kernel[(1,)](engine.array(np.asarray(values, np.int32).ravel()), out, 64, tl.constexpr(shape), axis, kind, **options)
        return engine.numpy(out)

    x = np.ones(shape, np.int32)
    x.reshape(-1)[:2] = 3
    run(x, debug=True, sanitize_overflow=True)
    row = x.reshape(-1) if len(shape) == 1 else np.moveaxis(x, axis, 0)[:, 0]
    row[:2] = 2**16, 2**15
    x = row.reshape(shape) if len(shape) == 1 else x
    with pytest.raises(Exception, match="int32 overflow detected for operation mul") as failure:
        run(x, debug=True, sanitize_overflow=True)
    assert f"test_overflow.py:{place_of(times)}" in str(failure.value)
    run(x)


@pytest.mark.parametrize("function, x", [(grown, 2**30), (tripled_if_large, 2**30)])
def test_elementwise_functions_are_checked(engine, function, x):
    @triton.jit
    def kernel(x_ptr, out_ptr, FN: tl.constexpr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.map_elementwise(FN, tl.load(x_ptr + offsets)))

    def run(last, **options):
        values = np.arange(16, dtype=np.int32)
        values[-1] = last
        kernel[(1,)](engine.array(values), engine.empty(16, "int32"), function, **options)

    run(900, debug=True, sanitize_overflow=True)
    with pytest.raises(Exception, match="int32 overflow detected for operation mul") as failure:
        run(x, debug=True, sanitize_overflow=True)
    assert f"test_overflow.py:{place_of(function)}" in str(failure.value)
    if function is not grown:  # which would go on for ever
        run(x)


@triton.jit
def distance_product(a, b):
    if a > b:
        result = a - b
    else:
        result = a * b
    return result


@pytest.mark.parametrize("kind", ["reduce", "scan"])
def test_combine_functions_that_branch_are_checked(engine, kind):
    @triton.jit
    def kernel(x_ptr, out_ptr, KIND: tl.constexpr):
        offsets = tl.arange(0, 2)[:, None] * 16 + tl.arange(0, 16)[None, :]
        x = tl.load(x_ptr + offsets)
        if KIND == "reduce":
            result = tl.reduce(x, 0, distance_product, keep_dims=True)
        else:
            result = tl.associative_scan(x, 0, distance_product)
        tl.store(out_ptr + offsets, tl.broadcast_to(result, (2, 16)))

    x = np.stack([np.arange(16), np.full(16, 8)]).astype(np.int32)
    out = engine.empty((2, 16), "int32")
    kernel[(1,)](engine.array(x), out, kind, debug=True, sanitize_overflow=True)
    np.testing.assert_array_equal(engine.numpy(out)[1], np.where(x[0] > x[1], x[0] - x[1], x[0] * x[1]))
    x[:, 5] = 2**17, 2**18
    with pytest.raises(Exception, match="int32 overflow detected for operation mul") as failure:
        kernel[(1,)](engine.array(x), out, kind, debug=True, sanitize_overflow=True)
    assert f"test_overflow.py:{place_of(distance_product)}" in str(failure.value)
