"""C that clang compiles for each processor: calls, scratch memory, LDS, atomics, grids of three dimensions."""

import functools

import numpy as np
import pytest
from amdgcn_program import PROGRAM, compile_c, run, tools

pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not tools(), reason="amdgcn-run, or clang and ld.lld of LLVM 22, are not there")
EVERY = pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])

SOURCE = r"""
#define KERNEL __attribute__((amdgpu_kernel))
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
typedef unsigned char u8;
typedef long long i64;

KERNEL void empty(void) {}

KERNEL void grid(int *out, int width, int height) {
  int x = __builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x();
  int y = __builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y();
  int z = __builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z();
  if (x < width && y < height)
    out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

static __attribute__((noinline)) int collatz(int n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}
KERNEL void steps(const int *x, int *out) { out[ITEM] = collatz(x[ITEM]); }

KERNEL void scratch(const int *x, int *out) {
  volatile int kept[24];
  for (int i = 0; i < 24; ++i)
    kept[i] = x[ITEM] * i;
  out[ITEM] = kept[x[ITEM] % 24] + kept[23];
}

__attribute__((address_space(3), loader_uninitialized)) int parts[256];
KERNEL void reverse(const int *x, int *out) {
  parts[ITEM] = x[GROUP * 256 + ITEM];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[GROUP * 256 + ITEM] = parts[255 - ITEM];
}

#pragma clang fp contract(off)
KERNEL void wide(const i64 *a, const i64 *b, i64 *out, const double *x, double *y) {
  int i = ITEM;
  out[4 * i] = a[i] * b[i];
  out[4 * i + 1] = a[i] / (b[i] | 1);
  out[4 * i + 2] = (a[i] >> (b[i] & 63)) ^ ((unsigned long long)a[i] << 7);
  out[4 * i + 3] = a[i] < b[i] ? a[i] - b[i] : __builtin_popcountll(a[i]);
  y[2 * i] = x[i] / (x[i] * x[i] + 1.5);
  y[2 * i + 1] = __builtin_sqrt(x[i] < 0 ? -x[i] : x[i]) + (double)(float)x[i] + (int)x[i];
}

KERNEL void bytes(const u8 *a, short *out, _Float16 *h) {
  int i = ITEM;
  out[i] = (signed char)a[i] * a[i] - (a[i] >> 3);
  h[i] = h[i] * (_Float16)1.5 + (_Float16)a[i];
}

KERNEL void atomics(int *x, float *f, unsigned long long *w) {
  int i = ITEM;
  __atomic_fetch_add(x, i, __ATOMIC_RELAXED);
  __atomic_fetch_max(x + 1, i * 7 % 64, __ATOMIC_RELAXED);
  __atomic_fetch_and(x + 2, ~(1 << (i & 15)), __ATOMIC_RELAXED);
  int old = 0;
  while (!__atomic_compare_exchange_n(x + 3, &old, old + 2, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  __atomic_fetch_add(w, 1ull << 33, __ATOMIC_RELAXED);
  __scoped_atomic_fetch_add(f, 0.5f, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

KERNEL void divide(const float *a, const float *b, float *out, const double *c, const double *d, double *wide) {
  int i = GROUP * 256 + ITEM;
  out[i] = a[i] / b[i];
  wide[i] = c[i] / d[i];
}

KERNEL void floats(const float *x, float *out) {
  int i = ITEM;
  out[4 * i] = x[i] / (x[i + 1] * 3);
  out[4 * i + 1] = __builtin_floorf(x[i]) + __builtin_truncf(x[i + 1]) + __builtin_rintf(x[i]);
  out[4 * i + 2] = __builtin_fmaxf(x[i], x[i + 1]) - __builtin_fminf(x[i], 0.25f);
  out[4 * i + 3] = (float)(unsigned)(x[i] * x[i]) + (float)(int)x[i] + __builtin_fabsf(x[i]);
}
"""


@pytest.fixture(scope="module")
def codes():
    return functools.cache(lambda arch: compile_c("kernels", arch, SOURCE))


@EVERY
def test_empty_and_grid(codes, arch):
    run(codes(arch), "empty", [])
    width, height, depth = 10, 7, 4
    out = np.zeros((depth, height, width), np.int32)
    run(codes(arch), "grid", [out, np.int32(width), np.int32(height)], groups=(3, 2, 2), size=(4, 4, 2))
    z, y, x = np.indices(out.shape)
    assert (out == x + 100 * y + 10000 * z).all()


@EVERY
def test_divergent_loop_call_and_scratch(codes, arch):
    def collatz(n):
        return 0 if n == 1 else 1 + collatz(3 * n + 1 if n % 2 else n // 2)

    x, out = np.arange(1, 101, dtype=np.int32), np.zeros(100, np.int32)
    run(codes(arch), "steps", [x, out], size=100)
    assert out.tolist() == [collatz(n) for n in x.tolist()]
    run(codes(arch), "scratch", [x, out], size=100)
    assert (out == x * (x % 24) + 23 * x).all()


@EVERY
def test_lds_and_barrier(codes, arch):
    x, out = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
    assert run(codes(arch), "reverse", [x, out], groups=2, size=256)["counters"]["barriers"] == 2
    assert (out.reshape(2, 256) == x.reshape(2, 256)[:, ::-1]).all()


@EVERY
def test_64_bits(codes, arch):
    random = np.random.default_rng(0)
    a, b = random.integers(-(2**62), 2**62, (2, 64))
    b[::3] >>= 40
    x, y, out = random.normal(size=64) * 1000, np.zeros((64, 2)), np.zeros((64, 4), np.int64)
    run(codes(arch), "wide", [a, b, out, x, y])
    d = b | 1
    assert (out[:, 0] == a * b).all()
    assert (out[:, 1] == np.sign(a) * np.sign(d) * (abs(a) // abs(d))).all()
    assert (out[:, 2] == (a >> (b & 63)) ^ (a << 7)).all()
    assert out[:, 3].tolist() == [p - q if p < q else (p % 2**64).bit_count() for p, q in zip(a.tolist(), b.tolist())]
    assert (y[:, 0] == x / (x * x + 1.5)).all()
    np.testing.assert_allclose(y[:, 1], np.sqrt(abs(x)) + x.astype(np.float32) + np.trunc(x), rtol=4e-16)


@EVERY
def test_small_types(codes, arch):
    a = np.arange(0, 256, 4, dtype=np.uint8)
    out, h = np.zeros(64, np.int16), np.linspace(-3, 3, 64).astype(np.float16)
    expected = h * np.float16(1.5) + a.astype(np.float16)
    run(codes(arch), "bytes", [a, out, h])
    assert (out == a.astype(np.int8).astype(np.int16) * a - (a >> 3)).all()
    assert (h == expected).all()


@EVERY
def test_atomics(codes, arch):
    x, f, w = np.array([0, 0, -1, 0], np.int32), np.zeros(1, np.float32), np.zeros(1, np.uint64)
    run(codes(arch), "atomics", [x, f, w])
    assert x.tolist() == [64 * 63 // 2, max(i * 7 % 64 for i in range(64)), ~0xFFFF, 128]
    assert f[0] == 32 and w[0] == 64 << 33


@EVERY
def test_floats(codes, arch):
    x = (np.random.default_rng(1).normal(size=65) * 100).astype(np.float32)
    out = np.zeros((64, 4), np.float32)
    run(codes(arch), "floats", [x, out])
    p, q = x[:-1], x[1:]
    assert (out[:, 0] == p / (q * np.float32(3))).all()  # a division is rounded correctly
    assert (out[:, 1] == np.floor(p) + np.trunc(q) + np.rint(p)).all()
    assert (out[:, 2] == np.maximum(p, q) - np.minimum(p, np.float32(0.25))).all()
    assert (out[:, 3] == (p * p).astype(np.uint32).astype(np.float32) + np.trunc(p) + abs(p)).all()


@EVERY
def test_division_is_rounded_correctly(codes, arch):
    """Of all bit patterns: denormals, quotients that overflow and underflow, infinities and NaNs."""
    random = np.random.default_rng(2)
    n = 1024
    a, b = random.integers(0, 2**32, (2, n), dtype=np.uint32).view(np.float32)
    c, d = random.integers(0, 2**64, (2, n), dtype=np.uint64).view(np.float64)
    for x, y, tiny in ((a, b, np.float32(1e-45)), (c, d, 5e-324)):
        x[:8], y[:8] = [0, 1, tiny, -tiny, np.inf, -1, np.nan, tiny], [0, 0, 1, tiny, np.inf, -np.inf, 2, np.inf]
        with np.errstate(all="ignore"):
            y[8:300] = x[8:300] * random.choice([0.37, 1.9, 1e-30, 1e30, 3e38], 292).astype(x.dtype)
    out, wide = np.zeros(n, np.float32), np.zeros(n)
    run(codes(arch), "divide", [a, b, out, c, d, wide], groups=4, size=256)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, a / b)
        np.testing.assert_array_equal(wide, c / d)
