"""The standard library of the language, written in the language itself.

The compiler embeds this text; the interpreter runs it. Names are found among the functions of this file, then `core`,
`math`, `target_info` and `cuda` (the builtins), then Python's own builtins.
"""

from nacre.language import core, math, target_info
from nacre.language.core import (  # noqa: F401  (programs name them through this module)
    _is_power_of_two,
    _log2,
    cdiv,
    ravel,
    squeeze,
    unsqueeze,
    zeros,
    zeros_like,
)
from nacre.language.extra import cuda
from nacre.runtime.jit import jit

# Elementwise ------------------------------------------------------------------------------------------------------------


@jit
def sigmoid(x):
    """1 / (1 + exp(-x)), elementwise. Takes fp32 and fp64."""
    return 1 / (1 + math.exp(-x))


@jit
def softmax(x, dim: core.constexpr = None, keep_dims: core.constexpr = False, ieee_rounding: core.constexpr = False,
            axis: core.constexpr = None):
    """exp(x) over its sum along one axis, computed without overflow.

    dim: the axis; 0 when left out.
    keep_dims: accepted for older kernels; the result always has the shape of x.
    ieee_rounding: divide with correct rounding.
    axis: another name for dim.
    """
    core.static_assert(dim is None or axis is None, "softmax takes dim or axis, not both")
    along: core.constexpr = (0 if axis is None else axis) if dim is None else dim
    numerator = math.exp(x - max(x, along, keep_dims=True))
    return math.fdiv(numerator, sum(numerator, along, keep_dims=True), ieee_rounding)


# Reductions -------------------------------------------------------------------------------------------------------------


@jit
def _sum_combine(a, b):
    return a + b


@jit
def _prod_combine(a, b):
    return a * b


@jit
def _or_combine(a, b):
    return a | b


@jit
def _xor_combine(a, b):
    return a ^ b


@jit
def _elementwise_max(a, b):
    return core.maximum(a, b)


@jit
def _elementwise_min(a, b):
    return core.minimum(a, b)


@jit
def _accumulation_type(input, dtype: core.constexpr):
    """The input of a sum or a product in the type it is accumulated in: small integers grow to 32 bits."""
    if dtype is not None:
        return core.cast(input, dtype)
    elif input.dtype.is_int_signed() and input.dtype.int_bitwidth < 32:
        return core.cast(input, core.int32)
    elif input.dtype.is_int() and input.dtype.int_bitwidth < 32:
        return core.cast(input, core.uint32)
    else:
        return input


@jit
def _comparison_type(input):
    """The input of max or min in the type of its result: types under 32 bits grow to fp32 or int32."""
    if input.dtype.primitive_bitwidth >= 32:
        return input
    elif input.dtype.is_floating():
        return core.cast(input, core.float32)
    else:
        return core.cast(input, core.int32)


@jit
def _positions(input, axis: core.constexpr):
    """The place of each element along one axis, int32, in the shape of input."""
    rank: core.constexpr = len(input.shape)
    core.static_assert(-rank <= axis and axis < rank, "axis is out of range")
    place: core.constexpr = axis + rank if axis < 0 else axis
    shape: core.constexpr = (1, ) * place + (input.shape[place], ) + (1, ) * (rank - place - 1)
    return core.broadcast_to(core.reshape(core.arange(0, input.shape[place]), shape), input.shape)


@jit
def _prefer(wins, value1, value2):
    """Whether value1 goes before value2, given that it compares better; a NaN never does."""
    if value1.dtype.is_floating():
        return wins | (value2 != value2)
    else:
        return wins


@jit
def _first_largest(value1, index1, value2, index2):
    first = _prefer((value1 > value2) | ((value1 == value2) & (index1 < index2)), value1, value2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _any_largest(value1, index1, value2, index2):
    first = _prefer(value1 > value2, value1, value2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _first_smallest(value1, index1, value2, index2):
    first = _prefer((value1 < value2) | ((value1 == value2) & (index1 < index2)), value1, value2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _any_smallest(value1, index1, value2, index2):
    first = _prefer(value1 < value2, value1, value2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def sum(input, axis: core.constexpr = None, keep_dims: core.constexpr = False, dtype: core.constexpr = None):
    """Adds up the elements along an axis.

    axis: the axis to reduce; None reduces all of them.
    keep_dims: leave the reduced axes with an extent of 1.
    dtype: the type to add in; when left out, floats keep theirs and integers under 32 bits use int32 or uint32. In fp16 and bf16
        the sum is carried in fp32 and rounded at the end.
    """
    return core.reduce(_accumulation_type(input, dtype), axis, _sum_combine, keep_dims=keep_dims)


@jit
def max(input, axis: core.constexpr = None, return_indices: core.constexpr = False,
        return_indices_tie_break_left: core.constexpr = True, keep_dims: core.constexpr = False):
    """The largest element along an axis. NaN is ignored; types under 32 bits give fp32 or int32.

    axis: the axis to reduce; None reduces all of them.
    return_indices: also return the place of the largest element along the axis, int32; the type is then kept.
    return_indices_tie_break_left: of equal elements, take the first.
    keep_dims: leave the reduced axes with an extent of 1.
    """
    if return_indices:
        core.static_assert(axis is not None, "max with return_indices needs an axis")
        if return_indices_tie_break_left:
            return core.reduce((input, _positions(input, axis)), axis, _first_largest, keep_dims=keep_dims)
        else:
            return core.reduce((input, _positions(input, axis)), axis, _any_largest, keep_dims=keep_dims)
    else:
        return core.reduce(_comparison_type(input), axis, _elementwise_max, keep_dims=keep_dims)


@jit
def min(input, axis: core.constexpr = None, return_indices: core.constexpr = False,
        return_indices_tie_break_left: core.constexpr = True, keep_dims: core.constexpr = False):
    """The smallest element along an axis. NaN is ignored; types under 32 bits give fp32 or int32.

    axis: the axis to reduce; None reduces all of them.
    return_indices: also return the place of the smallest element along the axis, int32; the type is then kept.
    return_indices_tie_break_left: of equal elements, take the first.
    keep_dims: leave the reduced axes with an extent of 1.
    """
    if return_indices:
        core.static_assert(axis is not None, "min with return_indices needs an axis")
        if return_indices_tie_break_left:
            return core.reduce((input, _positions(input, axis)), axis, _first_smallest, keep_dims=keep_dims)
        else:
            return core.reduce((input, _positions(input, axis)), axis, _any_smallest, keep_dims=keep_dims)
    else:
        return core.reduce(_comparison_type(input), axis, _elementwise_min, keep_dims=keep_dims)


@jit
def argmax(input, axis: core.constexpr, tie_break_left: core.constexpr = True, keep_dims: core.constexpr = False):
    """The place of the largest element along an axis, int32.

    axis: the axis to reduce.
    tie_break_left: of equal elements, take the first; otherwise any of them.
    keep_dims: leave the reduced axis with an extent of 1.
    """
    value, index = max(input, axis, True, tie_break_left, keep_dims)
    return index


@jit
def argmin(input, axis: core.constexpr, tie_break_left: core.constexpr = True, keep_dims: core.constexpr = False):
    """The place of the smallest element along an axis, int32.

    axis: the axis to reduce.
    tie_break_left: of equal elements, take the first; otherwise any of them.
    keep_dims: leave the reduced axis with an extent of 1.
    """
    value, index = min(input, axis, True, tie_break_left, keep_dims)
    return index


@jit
def xor_sum(input, axis: core.constexpr = None, keep_dims: core.constexpr = False):
    """Joins the integers along an axis with ^.

    axis: the axis to reduce; None reduces all of them.
    keep_dims: leave the reduced axes with an extent of 1.
    """
    core.static_assert(input.dtype.is_int(), "xor_sum takes integers only")
    return core.reduce(input, axis, _xor_combine, keep_dims=keep_dims)


@jit
def reduce_or(input, axis: core.constexpr = None, keep_dims: core.constexpr = False):
    """Joins the integers along an axis with |.

    axis: the axis to reduce; None reduces all of them.
    keep_dims: leave the reduced axes with an extent of 1.
    """
    core.static_assert(input.dtype.is_int(), "reduce_or takes integers only")
    return core.reduce(input, axis, _or_combine, keep_dims=keep_dims)


# Scans and sorts --------------------------------------------------------------------------------------------------------


@jit
def cumsum(input, axis: core.constexpr = 0, reverse: core.constexpr = False, dtype: core.constexpr = None):
    """The running sum along an axis.

    axis: the axis to go along.
    reverse: go from the last element to the first.
    dtype: the type to add in; when left out, floats keep theirs and integers under 32 bits use int32 or uint32. In fp16 and bf16
        the sum is carried in fp32 and rounded at the end.
    """
    return core.associative_scan(_accumulation_type(input, dtype), axis, _sum_combine, reverse)


@jit
def cumprod(input, axis: core.constexpr = 0, reverse: core.constexpr = False, dtype: core.constexpr = None):
    """The running product along an axis.

    axis: the axis to go along.
    reverse: go from the last element to the first.
    dtype: the type to multiply in; when left out, floats keep theirs and integers under 32 bits use int32 or uint32. In fp16 and
        bf16 the product is carried in fp32 and rounded at the end.
    """
    return core.associative_scan(_accumulation_type(input, dtype), axis, _prod_combine, reverse)


@jit
def _after(a, b):
    """Whether a belongs after b in ascending order; NaN comes last."""
    if a.dtype.is_floating():
        return (a > b) | ((a != a) & (b == b))
    else:
        return a > b


@jit
def _flipped_below_zero(bits):
    return core.where(bits < 0, bits ^ bits.dtype.get_int_max_value(), bits)


@jit
def _keys(x):
    """One integer for each float, in the floats' order: -0 before 0, and every NaN last. Bits that are read as an integer, those
    below zero turned round, have NaN of either sign at both ends: all move down by the number of those at the lower one."""
    bits = x.to(core.get_int_dtype(x.dtype.primitive_bitwidth, True), bitcast=True)
    return core.sub(_flipped_below_zero(bits), 2**x.dtype.fp_mantissa_width - 1, False)


@jit
def _from_keys(keys, dtype: core.constexpr):
    bits = _flipped_below_zero(core.add(keys, 2**dtype.fp_mantissa_width - 1, False))
    return bits.to(dtype, bitcast=True)


@jit
def _exchanged(x, place, run, distance, descending: core.constexpr):
    """A step of a merge: elements `distance` apart change places where they are in the wrong order."""
    partner = core.gather(x, place ^ distance, 1)
    wants_later = ((place & distance) != 0) ^ ((place & run) != 0) ^ descending
    if x.dtype.is_floating():
        # Both sides of a pair ask the same question, so that no element is lost, NaN or not.
        exchange = _after(core.where(wants_later, partner, x), core.where(wants_later, x, partner))
        return core.where(exchange, partner, x)
    else:
        return core.where(wants_later, core.maximum(x, partner), core.minimum(x, partner))


@jit
def _merge(x, run, descending: core.constexpr):
    """Makes ordered runs of `run` elements out of bitonic ones, in x [rows, length]. Runs are ordered alternately upward and
    downward; with `descending`, downward first. A loop at run time: unrolled, a sort of 1024 would be 55 copies of the body."""
    place = _positions(x, 1)
    distance = run // 2
    while distance > 0:
        x = _exchanged(x, place, run, distance, descending)
        distance = distance // 2
    return x


@jit
def _unrolled_merge(x, run: core.constexpr, descending: core.constexpr):
    """The same, step by step. On a GPU a distance that is known says which registers, lanes or warps exchange."""
    place = _positions(x, 1)
    for step in core.static_range(core._log2(run)):
        x = _exchanged(x, place, run, run // 2**(step + 1), descending)
    return x


@jit
def _last(x, descending: core.constexpr):
    """A scalar that no element of x's type comes after, in the order asked for."""
    if x.dtype.is_floating():
        return core.full((), float("-inf") if descending else float("nan"), x.dtype)
    else:
        return core.full((), x.dtype.get_int_min_value() if descending else x.dtype.get_int_max_value(), x.dtype)


@jit
def _sorted_rows(x, descending: core.constexpr):
    """Sorts x [rows, length] along its last axis; the length is a power of two."""
    stages: core.constexpr = core._log2(x.shape[1])
    if target_info.is_cuda() and stages * (stages + 1) // 2 * x.numel <= 512 * 32 * cuda.num_warps():
        for stage in core.static_range(1, stages + 1):
            x = _unrolled_merge(x, 2**stage, descending)
    else:
        for stage in range(1, stages + 1):
            x = _merge(x, 1 << stage, descending)
    return x


@jit
def _sort_plain(x, descending: core.constexpr):
    """Sorts along the last axis, of any extent."""
    length: core.constexpr = x.shape[-1]
    rows: core.constexpr = x.numel // length
    flat = core.reshape(x, (rows, length))
    if core._is_power_of_two(length):
        return core.reshape(_sorted_rows(flat, descending), x.shape)
    else:
        padding: core.constexpr = 2**(core._log2(length) + 1) - length
        filled = core.broadcast_to(_last(x, descending), (rows, padding))
        padded = core.cat(flat, filled, dim=1)
        return core.reshape(_sorted_rows(padded, descending)[:, :length], x.shape)


@jit
def _sort_last(x, descending: core.constexpr):
    """Sorts along the last axis: floats by their keys, but for those of 8 bits, whose codes of NaN differ."""
    if x.dtype.is_floating() and x.dtype.primitive_bitwidth > 8:
        return _from_keys(_sort_plain(_keys(x), descending), x.dtype)
    else:
        return _sort_plain(x, descending)


@jit
def sort(x, dim: core.constexpr = None, descending: core.constexpr = False):
    """Sorts along the last axis.

    dim: the last axis, or None.
    descending: largest first.
    """
    core.static_assert(dim is None or dim == -1 or dim == len(x.shape) - 1, "sort works along the last axis only")
    return _sort_last(x, descending)


@jit
def _threshold(keys, k: core.constexpr):
    """The k-th largest key of each row of [rows, length], as a column: bit by bit, the largest number that k of the row reach."""
    bits: core.constexpr = keys.dtype.primitive_bitwidth
    one = core.full((), 1, keys.dtype)
    found = core.full((keys.shape[0], 1), keys.dtype.get_int_min_value(), keys.dtype)
    for step in range(bits):
        candidate = found ^ (one << (bits - 1 - step))
        reached = sum((keys >= candidate).to(core.int32), 1, True)
        found = core.where(reached >= k, candidate, found)
    return found


@jit
def _selected(keys, k: core.constexpr, count: core.constexpr):
    """The k largest keys of each row of [rows, length], in no order, and the k-th in the places up to `count`, a power of two.

    Those above the k-th are found by their ranks: the number of them up to each place only grows, so that the place at which it
    becomes 1, 2, ... is searched by halving. Takes a pass over the row for each bit, where a sort takes one for each of its steps."""
    length: core.constexpr = keys.shape[1]
    threshold = _threshold(keys, k)
    above = (keys > threshold).to(core.int32)
    ranks = cumsum(above, 1)
    wanted = core.broadcast_to(core.reshape(core.arange(1, count + 1), (1, count)), (keys.shape[0], count))
    place = core.zeros((keys.shape[0], count), core.int32)  # so many of the row are of a lower rank
    distance = 2**core._log2(length)
    while distance > 0:
        probe = place + distance
        rank = core.gather(ranks, core.minimum(probe, length) - 1, 1)
        place = core.where((probe <= length) & (rank < wanted), probe, place)
        distance = distance // 2
    chosen = core.gather(keys, core.minimum(place, length - 1), 1)
    return core.where(wanted <= sum(above, 1, True), chosen, threshold)


@jit
def _largest(x, k: core.constexpr, descending: core.constexpr):
    """The k largest integers along the last axis, largest first; the k smallest first where not `descending`."""
    length: core.constexpr = x.shape[-1]
    count: core.constexpr = 2**core._log2(2 * k - 1)  # the next power of two
    flat = core.reshape(x, (x.numel // length, length))
    if descending:
        chosen = _sorted_rows(_selected(flat, k, count), True)
    else:
        # The complement of an integer, signed or not, turns their order round.
        chosen = ~_sorted_rows(_selected(~flat, k, count), True)
    return core.reshape(chosen, x.shape[:-1] + (count, ))[..., :k]


@jit
def _topk_last(x, k: core.constexpr, descending: core.constexpr):
    """By selection where few of many are wanted, else by a sort; on a GPU always by that, whose steps stay in registers."""
    if target_info.is_cuda() or x.shape[-1] < 256 or x.shape[-1] < 4 * k:
        return _sort_last(x, descending)[..., :k]
    elif x.dtype.is_floating():
        return _from_keys(_largest(_keys(x), k, descending), x.dtype)
    else:
        return _largest(x, k, descending)


@jit
def topk(x, k: core.constexpr, dim: core.constexpr = None, descending: core.constexpr = True):
    """The k largest elements along the last axis, in order. Types under 32 bits give fp32 or int32.

    k: how many.
    dim: the last axis, or None.
    descending: False takes the k smallest, smallest first.
    """
    core.static_assert(dim is None or dim == -1 or dim == len(x.shape) - 1, "topk works along the last axis only")
    core.static_assert(0 < k and k <= x.shape[-1], "topk needs 0 < k <= the extent of the axis")
    return _topk_last(_comparison_type(x), k, descending)


@jit
def bitonic_merge(x, dim: core.constexpr = None, descending: core.constexpr = False):
    """Sorts along the last axis when it is bitonic (first rising, then falling), in a single merge.

    dim: the last axis, or None; its extent is a power of two.
    descending: largest first.
    """
    core.static_assert(dim is None or dim == -1 or dim == len(x.shape) - 1, "bitonic_merge works along the last axis only")
    core.static_assert(core._is_power_of_two(x.shape[-1]), "bitonic_merge needs an extent that is a power of two")
    flat = core.reshape(x, (x.numel // x.shape[-1], x.shape[-1]))
    if target_info.is_cuda():
        return core.reshape(_unrolled_merge(flat, x.shape[-1], descending), x.shape)
    else:
        return core.reshape(_merge(flat, x.shape[-1], descending), x.shape)


# Waiting ------------------------------------------------------------------------------------------------------------------


@jit
def _any(x):
    """Whether any element of an int1 tensor, or an int1 scalar, holds."""
    return core.reduce(x, None, _or_combine)


@jit
def atomic_poll(pointer, expected_value, sem: core.constexpr = None, scope: core.constexpr = None, timeout_ns: core.constexpr = None):
    """Waits until memory has held a value; returns where it has, an int1 of the pointers' shape.

    pointer: a pointer or a tensor of pointers, to integers of 16, 32 or 64 bits.
    expected_value: what to wait for, converted to the memory's type.
    sem: "acquire" (the default) or "relaxed".
    scope: "gpu" (the default), "cta" or "sys".
    timeout_ns: how long to wait at most, in nanoseconds, for all of them together; elements that have not arrived by then
        give false. Each is read at least once. Left out: as long as it takes.
    """
    element: core.constexpr = pointer.dtype.element_ty
    core.static_assert(element.is_int() and element.primitive_bitwidth >= 16,
                       "atomic_poll takes pointers to integers of 16, 32 or 64 bits")
    expected = core.cast(expected_value, element)
    arrived = core.atomic_load(pointer, None, sem, scope) == expected
    if timeout_ns is None:
        while _any(~arrived):
            arrived = arrived | (core.atomic_load(pointer, ~arrived, sem, scope) == expected)
    else:
        end = cuda.globaltimer() + timeout_ns
        while _any(~arrived) and cuda.globaltimer() < end:
            arrived = arrived | (core.atomic_load(pointer, ~arrived, sem, scope) == expected)
    return arrived


# Shapes and places ------------------------------------------------------------------------------------------------------


@jit
def flip(x, dim: core.constexpr = None):
    """Reverses the order of the elements along one axis.

    dim: the axis; the last one when left out.
    """
    axis: core.constexpr = len(x.shape) - 1 if dim is None else dim
    return core.gather(x, x.shape[axis] - 1 - _positions(x, axis), axis)


@jit
def interleave(a, b):
    """Takes elements of a and b in turn along the last axis, which doubles.

    a, b: tensors of one shape.
    """
    joined = core.join(a, b)
    if len(joined.shape) == 1:
        return joined
    else:
        return core.reshape(joined, joined.shape[:-2] + (2 * joined.shape[-2], ))


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Renumbers the cells of a grid, so that consecutive ones share rows: cell (i, j) of size_i x size_j in row-major order
    becomes the cell visited at that turn when size_g rows are walked together, column by column.

    i, j: the cell.
    size_i, size_j: the grid.
    size_g: how many rows go together.
    """
    turn = i * size_j + j
    group = turn // (size_g * size_j)
    first_row = group * size_g
    rows = core.minimum(size_i - first_row, size_g)
    turn = turn % (size_g * size_j)
    return first_row + turn % rows, turn // rows


# Bessel functions of integer order, for libdevice -----------------------------------------------------------------------


@jit
def _bessel_up(n, a, low, high):
    """Order n of a family of Bessel functions of a, from orders 0 and 1 upwards, which keeps its precision where order n is
    not smaller than they are."""
    result = core.where(n == 0, low, high)
    for k in range(1, max(n)):
        following = core.where(core.abs(high) == float("inf"), high, (2 * k).to(core.float64) / a * high - low)
        low = high
        high = following
        result = core.where(n == k + 1, high, result)
    return result


@jit
def _bessel_down(n, a, low, high):
    """Order n of the first kind of a < n: from an order that is as good as zero downwards, up to a factor that orders 0 and 1
    tell."""
    start = n + math.sqrt(160 * n.to(core.float64)).to(core.int32) + 2
    above = core.zeros_like(a)
    here = core.zeros_like(a)
    result = core.zeros_like(a)
    for k in range(max(start), 0, -1):
        here = core.where(start == k, 1.0, here)
        below = (2 * k).to(core.float64) / a * here - above
        above = here
        here = below
        result = core.where(n == k - 1, here, result)
        scale = core.where(core.abs(here) > 1e150, 1e-150, core.full(here.shape, 1.0, core.float64))
        above = above * scale
        here = here * scale
        result = result * scale
    by_low = core.abs(here) > core.abs(above)
    return result / core.where(by_low, here, above) * core.where(by_low, low, high)


@jit
def _bessel_first_terms(n, a):
    """Order n of the first kind where a is small beside its root: two terms of the series."""
    product = core.full(a.shape, 1.0, core.float64)
    for k in range(1, max(n) + 1):
        product = core.where(k <= n, product * (a / (2 * k).to(core.float64)), product)
    return product * (1.0 - a * a / (4.0 * (n + 1).to(core.float64)))


@jit
def _bessel_first_kind(n, x, low, high):
    """libdevice's jn: n int32, x fp64, low and high orders 0 and 1 of the size of x."""
    a = core.abs(x)
    order = n.to(core.float64)
    is_small = a * a <= 1e-8 * (order + 1.0)
    is_low = (a >= order) | (n < 2)
    is_middle = (a < order) & (n >= 2) & ~is_small
    value = _bessel_up(core.where(is_low, n, 0), a, low, high)
    value = core.where(is_middle, _bessel_down(core.where(is_middle, n, 0), core.where(is_middle, a, 1.0), low, high), value)
    is_tiny = is_small & (n >= 2)
    value = core.where(is_tiny, _bessel_first_terms(core.where(is_tiny, n, 0), a), value)
    value = core.where((x < 0.0) & (n % 2 == 1), -value, value)
    return core.where((n < 0) | (x != x), float("nan"), value)


@jit
def _bessel_second_kind(n, x, low, high):
    """libdevice's yn: n int32, x fp64, low and high orders 0 and 1 of x."""
    value = _bessel_up(n, x, low, high)
    return core.where((n < 0) | (x < 0.0) | (x != x), float("nan"), value)
