"""assert_close: compares arrays and says where and how they differ."""

_MAP_ROWS, _MAP_COLUMNS = 8, 48


def _plain(value):
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype) or "float8" in str(value.dtype):
            value = value.float()
    return numpy.asarray(value)


def _ulps(x, y):
    """How many numbers of y's type lie between the two."""
    import numpy

    if y.dtype.kind != "f" or not (numpy.isfinite(x) and numpy.isfinite(y)):
        return None
    return float(abs(float(x) - float(y)) / float(numpy.spacing(numpy.abs(y)) or 1))


def _integer_distance(x, y):
    """|x - y| of integers, exactly, as unsigned ones: a float64 cannot tell large neighbours apart."""
    import numpy

    if x.dtype.kind != y.dtype.kind and numpy.uint64 in (x.dtype, y.dtype):  # what a negative number is away from may not fit
        x, y = (numpy.asarray(array.astype(object)) for array in (x, y))
        return numpy.minimum(numpy.abs(x - y), (1 << 64) - 1).astype(numpy.uint64)
    below = x < y
    with numpy.errstate(over="ignore"):
        x, y = (array.astype(numpy.uint64) if array.dtype.kind == "u" else array.astype(numpy.int64).astype(numpy.uint64) for array in (x, y))
        return numpy.where(below, y - x, x - y)


def _map(wrong):
    """A small picture of where elements are wrong: each letter stands for a part of the array."""
    import numpy

    if wrong.size < 2:
        return ""
    flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim > 1 else wrong.reshape(1, -1)
    rows, columns = min(_MAP_ROWS, flat.shape[0]), min(_MAP_COLUMNS, flat.shape[1])
    lines = []
    for part in numpy.array_split(flat, rows, axis=0):
        shares = [block.mean() for block in numpy.array_split(part, columns, axis=1)]
        lines.append("  " + "".join("." if share == 0 else "#" if share == 1 else "+" for share in shares))
    return "\n  where (. right, + some wrong, # all wrong; rows of the last axis from left to right):\n" + "\n".join(lines)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless x and y have the same shape and are close: |x - y| <= atol + rtol * |y|, where atol is 1e-2 and rtol 0
    unless given. A single number is compared with every element.

    atol, rtol: numbers, or functions of x's dtype. NaN equals NaN. The error shows the worst element with its place, both values and their
    distance in units of the last place, how many are wrong, and where.
    """
    import numpy

    dtype = getattr(x, "dtype", None)
    atol = 1e-2 if atol is None else atol(dtype) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(dtype) if callable(rtol) else rtol
    x, y = _plain(x), _plain(y)
    head = f"{err_msg}\n" if err_msg else ""
    if x.shape != y.shape and x.ndim and y.ndim and not x.size == y.size == 1:  # one number stands for all, one row does not
        raise AssertionError(f"{head}shapes {x.shape} and {y.shape} do not fit together")
    x, y = numpy.broadcast_arrays(x, y)
    if x.dtype.kind in "iub" and y.dtype.kind in "iub":
        close = _integer_distance(x, y) <= atol + rtol * numpy.abs(y.astype(numpy.float64))
    else:
        close = numpy.isclose(x, y, atol=atol, rtol=rtol, equal_nan=True)
    if close.all():
        return
    wrong = ~close
    if x.dtype.kind in "iub" and y.dtype.kind in "iub":
        distance = _integer_distance(x, y).astype(numpy.float64)
    else:
        wide = [array.astype(numpy.complex128 if array.dtype.kind == "c" else numpy.float64) for array in (x, y)]
        with numpy.errstate(invalid="ignore", over="ignore"):
            distance = numpy.abs(wide[0] - wide[1])
    distance = numpy.where(wrong, numpy.where(numpy.isnan(distance), numpy.inf, distance), -1.0)
    place = numpy.unravel_index(int(numpy.argmax(distance)), distance.shape)
    if x.size == 1:
        raise AssertionError(f"{head}{x[place]!r} is not close to {y[place]!r}: they differ by {distance[place]:.6g}, more than atol={atol}, "
                             f"rtol={rtol}")  # fmt: skip
    ulps = _ulps(x[place], y[place])
    index = ", ".join(map(str, place))
    raise AssertionError(
        f"{head}not close (atol={atol}, rtol={rtol}): {int(wrong.sum())} of {wrong.size} elements differ ({100 * wrong.mean():.3g}%)\n"
        f"  worst at [{index}]: {x[place]!r} instead of {y[place]!r}, a difference of {distance[place]:.6g}"
        + (f" ({ulps:.3g} ulp)" if ulps is not None else "") + _map(wrong)
    )  # fmt: skip
