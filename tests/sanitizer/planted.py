"""Kernels with one bug each. The line at fault ends in `# BUG`; a case is (kind, function that launches)."""

import numpy as np
import torch
import triton
import triton.language as tl

CASES = {}


def case(kind):
    def add(function):
        CASES[function.__name__] = kind, function
        return function

    return add


# Bounds --------------------------------------------------------------------------------------------------------------------


@triton.jit
def copy_unmasked(src, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + offsets, mask=offsets < n, other=0.0)
    tl.store(dst + offsets, x)  # BUG


@case("asan")
def store_past_the_end():
    copy_unmasked[(3,)](torch.ones(300), torch.zeros(300), 300, BLOCK=128)


@case("asan")
def store_past_the_end_of_half():
    copy_unmasked[(3,)](torch.ones(300, dtype=torch.float16), torch.zeros(300, dtype=torch.float16), 300, BLOCK=128)


@case("asan")
def store_past_the_end_of_bfloat():
    copy_unmasked[(1,)](torch.ones(100, dtype=torch.bfloat16), torch.zeros(100, dtype=torch.bfloat16), 100, BLOCK=128)


@case("asan")
def store_past_the_end_of_bytes():
    copy_unmasked[(1,)](np.ones(127, np.int8), np.zeros(127, np.int8), 127, BLOCK=128)


@case("asan")
def store_into_the_next_row_of_a_view():
    copy_unmasked[(1,)](torch.ones(64), torch.zeros(4, 64)[1, :60], 64, BLOCK=64)


@case("asan")
def store_past_a_numpy_slice():
    copy_unmasked[(1,)](np.ones(64, np.float32), np.zeros(128, np.float32)[:50], 64, BLOCK=64)


@triton.jit
def read_one_more(src, dst, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(src + offsets, mask=offsets <= n, other=0.0)  # BUG
    tl.store(dst + offsets, x, mask=offsets < n)


@case("asan")
def mask_off_by_one():
    read_one_more[(1,)](torch.ones(100), torch.zeros(100), 100, BLOCK=128)


@triton.jit
def read_before(src, dst, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(src + offsets - 1)  # BUG
    tl.store(dst + offsets, x)


@case("asan")
def load_before_the_begin():
    read_before[(1,)](torch.ones(64), torch.zeros(64), BLOCK=64)


@case("asan")
def load_before_a_view():
    read_before[(1,)](torch.ones(65)[1:], torch.zeros(64), BLOCK=64)


@triton.jit
def wrong_stride(src, dst, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, COLUMNS)[None, :]
    x = tl.load(src + rows * (COLUMNS + 1) + columns)  # BUG
    tl.store(dst + rows * COLUMNS + columns, x)


@case("asan")
def row_stride_too_large():
    wrong_stride[(1,)](torch.ones(8, 16), torch.zeros(8, 16), ROWS=8, COLUMNS=16)


@triton.jit
def columns_of_a_view(src, dst, stride, COLUMNS: tl.constexpr):
    rows = tl.arange(0, 4)[:, None]
    columns = tl.arange(0, COLUMNS)[None, :]
    x = tl.load(src + rows * stride + columns)  # BUG
    tl.store(dst + rows * COLUMNS + columns, x)


@case("asan")
def hole_between_rows_of_a_view():
    columns_of_a_view[(1,)](torch.ones(4, 32)[:, :12], torch.zeros(4, 16), 32, COLUMNS=16)


@triton.jit
def scalar_past(src, dst, at):
    tl.store(dst, tl.load(src + at))  # BUG


@case("asan")
def scalar_load_past_the_end():
    scalar_past[(1,)](torch.ones(4), torch.zeros(1), 4)


@case("asan")
def scalar_load_far_away():
    scalar_past[(1,)](torch.ones(4), torch.zeros(1), 1 << 20)


@triton.jit
def in_a_loop(src, dst, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(src + start + tl.arange(0, BLOCK))  # BUG
    tl.store(dst + tl.arange(0, BLOCK), total)


@case("asan")
def last_iteration_of_a_loop():
    in_a_loop[(1,)](torch.ones(100), torch.zeros(32), 100, BLOCK=32)


@triton.jit
def histogram(values, counts, BLOCK: tl.constexpr):
    x = tl.load(values + tl.arange(0, BLOCK))
    tl.atomic_add(counts + x, 1)  # BUG


@case("asan")
def atomic_past_the_end():
    histogram[(1,)](torch.arange(32, dtype=torch.int32), torch.zeros(31, dtype=torch.int32), BLOCK=32)


@triton.jit
def gather_rows(table, index, dst, WIDTH: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    columns = tl.arange(0, WIDTH)
    x = tl.load(table + row * WIDTH + columns)  # BUG
    tl.store(dst + tl.program_id(0) * WIDTH + columns, x)


@case("asan")
def index_read_from_memory():
    gather_rows[(3,)](torch.ones(4, 8), torch.tensor([0, 4, 2], dtype=torch.int32), torch.zeros(3, 8), WIDTH=8)


@triton.jit
def helper_store(pointer, value):
    tl.store(pointer, value)  # BUG


@triton.jit
def calls_a_helper(dst, BLOCK: tl.constexpr):
    helper_store(dst + tl.arange(0, BLOCK), 1.0)


@case("asan")
def in_a_helper():
    calls_a_helper[(1,)](torch.zeros(30), BLOCK=32)


@triton.jit
def compare_and_swap(lock):
    tl.atomic_cas(lock + 1, 0, 1)  # BUG


@case("asan")
def atomic_cas_past_the_end():
    compare_and_swap[(1,)](torch.zeros(1, dtype=torch.int32))


@triton.jit
def matmul_tile(a, b, c, K, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + rows * K + k + columns)
        right = tl.load(b + (k + rows) * BLOCK + columns)  # BUG
        total += tl.dot(left, right)
    tl.store(c + rows * BLOCK + columns, total)


@case("asan")
def second_operand_too_short():
    matmul_tile[(1,)](torch.ones(16, 32), torch.ones(31, 16), torch.zeros(16, 16), 32, BLOCK=16)


@triton.jit
def of_a_tuple(pair, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(pair[1] + offsets, tl.load(pair[0] + offsets))  # BUG


@case("asan")
def element_of_a_tuple():
    of_a_tuple[(1,)]((torch.ones(16), torch.zeros(15)), BLOCK=16)


@triton.jit
def into_another(a, b, c, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(b + offsets, tl.load(a + offsets))  # BUG


@case("asan")
def overrun_into_another_argument():
    whole = torch.zeros(48)
    into_another[(1,)](torch.ones(16), whole[16:24], whole[24:], BLOCK=16)


# Races ---------------------------------------------------------------------------------------------------------------------


@triton.jit
def same_place(dst, BLOCK: tl.constexpr):
    tl.store(dst + tl.arange(0, BLOCK), tl.program_id(0))  # BUG


@case("tsan")
def every_program_stores_to_the_same_places():
    same_place[(128,)](torch.zeros(2, dtype=torch.int32), BLOCK=2)


@triton.jit
def overlapping(dst, STEP: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(dst + tl.program_id(0) * STEP + tl.arange(0, BLOCK), 1.0)  # BUG


@case("tsan")
def blocks_overlap_by_one():
    overlapping[(8,)](torch.zeros(8 * 31 + 1), STEP=31, BLOCK=32)


@triton.jit
def sum_without_atomic(src, total, BLOCK: tl.constexpr):
    x = tl.load(src + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    old = tl.load(total)  # BUG
    tl.store(total, old + tl.sum(x))  # BUG


@case("tsan")
def lost_update():
    sum_without_atomic[(4,)](torch.ones(64), torch.zeros(1), BLOCK=16)


@triton.jit
def shift_in_place(data, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(data + offsets + 1)  # BUG
    tl.store(data + offsets, x)  # BUG


@case("tsan")
def neighbour_read_in_place():
    shift_in_place[(4,)](torch.ones(65), BLOCK=16)


@triton.jit
def plain_and_atomic(counter, BLOCK: tl.constexpr):
    tl.atomic_add(counter, 1)  # BUG
    x = tl.load(counter)  # BUG
    tl.store(counter + 1 + tl.program_id(0), x)


@case("tsan")
def plain_load_of_an_atomic_counter():
    plain_and_atomic[(4,)](torch.zeros(5, dtype=torch.int32), BLOCK=1)


@triton.jit
def transpose_in_place(data, N: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, N)
    x = tl.load(data + row * N + columns)  # BUG
    tl.store(data + columns * N + row, x)  # BUG


@case("tsan")
def transpose_over_itself():
    transpose_in_place[(16,)](torch.ones(16, 16), N=16)


@triton.jit
def split_k(dst, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + offsets, tl.program_id(1))  # BUG


@case("tsan")
def second_axis_writes_the_same():
    split_k[(2, 3)](torch.zeros(32, dtype=torch.int32), BLOCK=16)


@triton.jit
def lock_without_order(lock, data):
    while tl.atomic_cas(lock, 0, 1, sem="relaxed") == 1:
        pass
    tl.store(data, tl.load(data) + 1)  # BUG
    tl.atomic_xchg(lock, 0, sem="relaxed")


@case("tsan")
def relaxed_lock():
    lock_without_order[(4,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))


@triton.jit
def writes_after_the_flag(flag, data):
    if tl.program_id(0) == 0:
        tl.atomic_xchg(flag, 1)
        tl.store(data, 1)  # BUG
    else:
        while tl.atomic_add(flag, 0) == 0:
            pass
        tl.store(data + tl.program_id(0), tl.load(data))  # BUG


@case("tsan")
def release_too_early():
    writes_after_the_flag[(2,)](torch.zeros(1, dtype=torch.int32), torch.zeros(2, dtype=torch.int32))


@triton.jit
def halves(dst, words, BLOCK: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(words, 1)  # BUG
    else:
        tl.store(dst + tl.arange(0, BLOCK), 1)  # BUG


@case("tsan")
def accesses_of_two_sizes():
    whole = torch.zeros(4, dtype=torch.int32)
    halves[(2,)](whole.view(torch.int16), whole, BLOCK=4)


@triton.jit
def random_scatter(index, dst, BLOCK: tl.constexpr):
    x = tl.load(index + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(dst + x, tl.program_id(0))  # BUG


@case("tsan")
def one_index_twice():
    index = torch.arange(32, dtype=torch.int32)
    index[20] = 3
    random_scatter[(2,)](index, torch.zeros(32, dtype=torch.int32), BLOCK=16)


@triton.jit
def waits_for_two_of_three(flag, data, out):
    program = tl.program_id(0)
    if program < 3:
        tl.store(out + program, tl.load(data))  # BUG
        if program < 2:
            tl.atomic_add(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") < 2:
            pass
        tl.store(data, 7)  # BUG


@case("tsan")
def third_reader_is_not_ordered():
    zeros = torch.zeros(1, dtype=torch.int32)
    waits_for_two_of_three[(4,)](zeros, torch.zeros(1, dtype=torch.int32), torch.zeros(3, dtype=torch.int32))


# Reads of what nobody wrote --------------------------------------------------------------------------------------------------


@triton.jit
def accumulate(src, dst, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    old = tl.load(dst + offsets)  # BUG
    tl.store(dst + offsets, old + tl.load(src + offsets))


@case("msan")
def accumulates_into_an_empty_tensor():
    accumulate[(1,)](torch.ones(64), torch.empty(64), BLOCK=64)


@case("msan")
def accumulates_into_empty_like():
    x = torch.ones(64)
    accumulate[(1,)](x, torch.empty_like(x), BLOCK=64)


@case("msan")
def accumulates_into_a_numpy_array():
    accumulate[(1,)](np.ones(64, np.float32), np.empty(64, np.float32), BLOCK=64)


@case("msan")
def accumulates_into_new_empty_halves():
    x = torch.ones(64, dtype=torch.float16)
    accumulate[(1,)](x, x.new_empty(64), BLOCK=64)


@triton.jit
def fill(dst, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(dst + offsets, 1.0, mask=offsets < n)


@triton.jit
def total_of(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, tl.sum(tl.load(src + tl.arange(0, BLOCK))))  # BUG


@case("msan")
def first_kernel_fills_all_but_one():
    x = torch.empty(64)
    fill[(1,)](x, 63, BLOCK=64)
    total_of[(1,)](x, torch.zeros(1), BLOCK=64)


@case("msan")
def host_fills_the_first_half():
    x = torch.empty(64)
    x[:32] = 1
    total_of[(1,)](x, torch.zeros(1), BLOCK=64)


@triton.jit
def count(counter):
    tl.atomic_add(counter, 1)  # BUG


@case("msan")
def atomic_counter_without_a_start():
    count[(1,)](torch.empty(1, dtype=torch.int32))


# Arithmetic ----------------------------------------------------------------------------------------------------------------


@triton.jit
def large_offsets(dst, row, stride):
    tl.store(dst, (row * stride).to(tl.int64))  # BUG


@case("ub")
def product_of_row_and_stride():
    large_offsets[(1,)](torch.zeros(1, dtype=torch.int64), 70000, 40000)


@triton.jit
def sum_of_bytes(src, dst, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(src + offsets)
    tl.store(dst + offsets, x + x)  # BUG


@case("ub")
def sum_in_eight_bits():
    sum_of_bytes[(1,)](torch.full((16,), 100, dtype=torch.int8), torch.zeros(16, dtype=torch.int8), BLOCK=16)


@case("ub")
def sum_in_sixteen_bits():
    sum_of_bytes[(1,)](torch.full((16,), 20000, dtype=torch.int16), torch.zeros(16, dtype=torch.int16), BLOCK=16)


@triton.jit
def difference(a, b, dst):
    tl.store(dst, tl.load(a) - tl.load(b))  # BUG


@case("ub")
def difference_below_the_least():
    a, b = torch.tensor([-(1 << 31)], dtype=torch.int32), torch.tensor([1], dtype=torch.int32)
    difference[(1,)](a, b, torch.zeros(1, dtype=torch.int32))


@triton.jit
def shift_by(src, amount, dst, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(dst + offsets, tl.load(src + offsets) << tl.load(amount + offsets))  # BUG


@case("ub")
def shift_by_the_width():
    ints = torch.ones(8, dtype=torch.int32)
    shift_by[(1,)](ints, ints * 32, torch.zeros(8, dtype=torch.int32), BLOCK=8)


@case("ub")
def shift_by_a_negative_number():
    ints = torch.ones(8, dtype=torch.int32)
    shift_by[(1,)](ints, -ints, torch.zeros(8, dtype=torch.int32), BLOCK=8)


@triton.jit
def quotient(a, b, dst, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(dst + offsets, tl.load(a + offsets) // tl.load(b + offsets))  # BUG


@case("ub")
def division_by_zero_in_one_lane():
    divisors = torch.ones(8, dtype=torch.int32)
    divisors[5] = 0
    quotient[(1,)](torch.ones(8, dtype=torch.int32), divisors, torch.zeros(8, dtype=torch.int32), BLOCK=8)


@case("ub")
def least_number_by_minus_one():
    least = torch.full((8,), -(1 << 31), dtype=torch.int32)
    quotient[(1,)](least, -torch.ones(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32), BLOCK=8)


@triton.jit
def remainder(a, b, dst):
    tl.store(dst, tl.load(a) % tl.load(b))  # BUG


@case("ub")
def remainder_by_zero_of_unsigned():
    zero = torch.zeros(1, dtype=torch.uint8)
    remainder[(1,)](zero + 1, zero, torch.zeros(1, dtype=torch.uint8))


@triton.jit
def seconds(total, dst):
    tl.store(dst, tl.load(total) // (tl.load(total) - tl.load(total)))  # BUG


@case("ub")
def division_by_a_difference_that_is_zero():
    seconds[(1,)](torch.full((1,), 7, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))


@triton.jit
def through_a_number(address, dst):
    pointer = address.to(tl.pointer_type(tl.float32))
    tl.store(dst, tl.load(pointer))  # BUG


@case("asan")
def address_of_no_memory():
    through_a_number[(1,)](1 << 40, torch.zeros(1))


@triton.jit
def choose(a, b, which, dst, BLOCK: tl.constexpr):
    pointer = a if which > 0 else b
    tl.store(dst + tl.arange(0, BLOCK), tl.load(pointer + tl.arange(0, BLOCK)))  # BUG


@case("asan")
def one_of_two_arrays():
    whole = torch.ones(1 << 16)
    choose[(1,)](whole[: 1 << 10], whole[1 << 11 : (1 << 11) + 8], 0, torch.zeros(16), BLOCK=16)


@triton.jit
def sum_along_an_axis(src, dst, N: tl.constexpr, KEEP: tl.constexpr):
    x = tl.load(src + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :])
    y = tl.sum(x, axis=1, keep_dims=KEEP)  # BUG
    tl.store(dst + tl.arange(0, N), tl.reshape(y, (N,)))


@case("ub")
def sum_that_is_too_large():
    x = torch.ones(16, 16, dtype=torch.int32)
    x[3] = 2**27
    sum_along_an_axis[(1,)](x, torch.zeros(16, dtype=torch.int32), N=16, KEEP=False)


@case("ub")
def sum_of_negative_numbers_with_kept_axes():
    sum_along_an_axis[(1,)](torch.full((8, 8), -(2**30), dtype=torch.int32), torch.zeros(8, dtype=torch.int32), N=8, KEEP=True)


@triton.jit
def sum_of_all(src, dst, N: tl.constexpr):
    tl.store(dst, tl.sum(tl.load(src + tl.arange(0, N))))  # BUG


@case("ub")
def sum_of_a_whole_tile():
    sum_of_all[(1,)](torch.full((64,), 2**26, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), N=64)


@triton.jit
def running_sum(src, dst, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.cumsum(tl.load(src + i), 0, reverse=True))  # BUG


@case("ub")
def running_sum_that_leaves_and_comes_back():
    x = torch.zeros(32, dtype=torch.int32)
    x[10], x[20], x[30] = -(2**31), 2**30, 2**30
    running_sum[(1,)](x, torch.zeros(32, dtype=torch.int32), N=32)
