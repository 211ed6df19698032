"""Kernels compiled ahead of time for a GPU: C programs that launch them, through a driver whose GPUs the simulator runs."""

import os
import shutil
import subprocess

import pytest

from nacre.tools import compile as compile_tool
from nacre.tools import link as link_tool

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

KERNELS = """
import nacre as triton
import nacre.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

@triton.jit
def turn(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [BLOCK, BLOCK])
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([column, row], source.load([row, column]).T)

@triton.jit
def wrapped(x, out, back, N, BLOCK: tl.constexpr):
    own = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = (tl.program_id(0) - back) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + own, tl.load(x + N + offsets % N))

@triton.jit
def scale(pair, out, count, factor, wide, flag, MODE: tl.constexpr):
    x, n = pair
    offsets = tl.arange(0, 8)
    value = tl.load(x + offsets, mask=offsets < n, other=0).to(tl.float64) * factor + wide
    tl.store(out + offsets, tl.where(flag, value, -value) + count)
"""

# Memory of the mock's GPUs, and what it tells of its last launch.
MAIN = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
typedef struct { uint64_t launches, modules, unloaded, stream; int device, cooperative, serialized; unsigned grid[3], threads, shared; } record_type;
static void *mock;
static const record_type *record(void) { return (*(const record_type *(**)(void)) (void *[]){dlsym(mock, "mockRecord")})(); }
static void choose(int device) {
  void *context;
  (*(int (**)(void **, int)) (void *[]){dlsym(mock, "cuDevicePrimaryCtxRetain")})(&context, device);
  (*(int (**)(void *)) (void *[]){dlsym(mock, "cuCtxSetCurrent")})(context);
}
static void *allocate(size_t bytes) {
  unsigned long long address;
  (*(int (**)(unsigned long long *, size_t)) (void *[]){dlsym(mock, "cuMemAlloc")})(&address, bytes);
  return (void *)(uintptr_t)address;
}
static void begin(void) {
  mock = dlopen(getenv("NACRE_CUDA_DRIVER"), RTLD_NOW);
  choose(0);
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.setenv("TRITON_PTXAS_PATH", "driver")  # the mock takes PTX
    return tmp_path


def compile_kernel(folder, kernel, signature, grid="", target="cuda:90", **options):
    arguments = compile_tool.CompileArgs(str(folder / "kernels.py"), kernel, signature, grid, target=target, out_path=folder / kernel, **options)
    return compile_tool.compile_kernel(arguments)[0]


def run_program(folder, driver, text, status=0):
    """Compiles main.c with everything in the folder, runs it, and returns what it writes."""
    (folder / "main.c").write_text(MAIN + text)
    command = [COMPILER, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-O1", *map(str, folder.glob("*.c")), "-o", str(folder / "main"), "-lpthread", "-ldl"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([folder / "main"], capture_output=True, text=True, env={**os.environ, "NACRE_CUDA_DRIVER": driver}, timeout=600)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout


def test_variants_streams_and_devices(folder, mock_driver):
    grid = "(n + BLOCK - 1) / BLOCK, 1, 1"
    aligned = compile_kernel(folder, "add", "*fp32:16, *fp32:16, *fp32:16, i32, 128", grid, num_warps=2)
    compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32:1, 128", grid, num_warps=2)
    compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32, BLOCK=64", grid, num_warps=4)
    link_tool.link(sorted(folder.glob("add.*.h"), key=lambda path: "0d" not in path.name), folder / "add")
    output = run_program(folder, mock_driver, f"""
#include "add.h"
#include "{next(path for path in folder.glob("add.*.h") if "0d" in path.name).name}"
static int wrong(const float *x, const float *y, const float *out, int n, float after) {{
  for (int i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i])
      return 1;
  return out[n] != after;
}}
int main(void) {{
  enum {{ n = 1000 }};
  begin();
  for (int device = 0; device < 2; ++device) {{
    choose(device);
    float *x = allocate(4 * (n + 16)), *y = allocate(4 * (n + 16)), *out = allocate(4 * (n + 16));
    for (int i = 0; i < n + 16; ++i)
      x[i] = (float)i, y[i] = 0.5f * (float)i, out[i] = -1;
    if (device == 0) {{
      printf("%d ", {aligned}_load());
      printf("%d;", (int)record()->modules);
    }}
    printf("%d", add(NULL, x, y, out, n, 0) || wrong(x, y, out, n, -1));
    printf(" %d %u %u %d;", record()->device, record()->threads, record()->grid[0], (int)record()->stream);
    printf("%d ", add((void *)288, x + 1, y, out, n, 0)); /* none but n == 1 takes them */
    printf("%d", add((void *)288, x + 1, y, out, 1, 0));
    printf(" %d;", (int)record()->stream);
    printf("%d ", add_default(NULL, x, y, out, 0));
    printf("%d;", add(NULL, x + 1, y, out + 1, n - 1, 1) || wrong(x + 1, y, out + 1, n - 1, -1));
    printf("%u %d\\n", record()->threads, (int)record()->modules);
  }}
  {aligned}_unload();
  printf("%d\\n", (int)record()->unloaded);
  return 0;
}}
""")  # fmt: skip
    assert output.splitlines() == ["0 1;0 0 64 8 0;1 0 288;0 0;128 3", "0 1 64 8 0;1 0 288;0 0;128 6", "2"]


def test_every_kind_of_argument(folder, mock_driver):
    function = compile_kernel(folder, "scale", "(*i16, i32), *fp64, i64, fp32, fp64, i1, 'mode'", "1")
    output = run_program(folder, mock_driver, f"""
#include "{next(folder.glob("scale.*.h")).name}"
int main(void) {{
  begin();
  int16_t *x = allocate(16);
  double *out = allocate(64);
  for (int i = 0; i < 8; ++i)
    x[i] = (int16_t)(i == 1 ? -2 : i + 1);
  printf("%d", {function}(NULL, x, 5, out, 1ll << 40, 0.5f, 0.25, 0));
  for (int i = 0; i < 8; ++i)
    printf(" %.2f", out[i] - (double)(1ll << 40));
  return 0;
}}
""")  # fmt: skip
    assert output == "0 -0.75 0.75 -1.75 -2.25 -2.75 -0.25 -0.25 -0.25"


def test_arrays_that_the_gpu_copies_in_blocks(folder, mock_driver):
    function = compile_kernel(folder, "turn", "*fp32:16, *fp32:16, i32:16, i32:16, 32", num_warps=4)
    assert "nacre_cuda_array kernel_arrays[]" in next(folder.glob("turn.*.c")).read_text()
    output = run_program(folder, mock_driver, f"""
#include "{next(folder.glob("turn.*.h")).name}"
int main(void) {{
  enum {{ rows = 64, columns = 96 }};
  begin();
  float *x = allocate(4 * rows * columns), *out = allocate(4 * rows * columns);
  for (int i = 0; i < rows * columns; ++i)
    x[i] = (float)i, out[i] = -1;
  printf("%d\\n", {function}(NULL, 2, 3, 1, x, out, rows, columns));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (out[j * rows + i] != x[i * columns + j])
        return 1;
  return 0;
}}
""")  # fmt: skip
    assert output == "0\n"


def test_what_goes_wrong_is_told(folder, mock_driver):
    function = compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32, 128")
    header = next(folder.glob("add.*.h")).name
    main = f"""
#include "{header}"
int main(void) {{
  nacre_result result = {function}(NULL, 1, 70000, 1, NULL, NULL, NULL, 0);
  printf("%d %s", result == NACRE_ERROR_DEVICE, nacre_cuda_error_text());
  return 0;
}}
"""
    assert run_program(folder, mock_driver, main).startswith(f"1 launching the kernel `{function}_code` failed: CUDA_ERROR_INVALID_VALUE")
    assert run_program(folder, "/nowhere/libcuda.so", main).startswith("1 NVIDIA's driver cannot be opened: ")


def test_the_command_does_the_same(folder):
    import sys

    command = [sys.executable, "-m", "nacre", "compile", str(folder / "kernels.py"), "--kernel", "add", "--signature", "*fp32, *fp32, *fp32, i32, 128"]
    process = subprocess.run([*command, "--target", "cuda:80", "--emit", "c", "-o", str(folder / "add")], capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    made = {path.name.split(".")[-1] if "_" not in path.name.split(".")[0] else path.name for path in folder.iterdir()} - {"py", "__pycache__"}
    assert made == {"h", "c", "ptx", "nacre_cuda.c", "nacre_cuda.h", "nacre_kernel.h"}
    assert ".target sm_80" in next(folder.glob("add.*.ptx")).read_text()


def test_a_launch_takes_the_code_that_it_proves_right(folder, mock_driver):
    """Offsets modulo N are neighbours in memory where they are not negative; other code runs where the launch does not prove that."""
    function = compile_kernel(folder, "wrapped", "*fp32:16, *fp32:16, i32, i32:16, 512", "4")
    codes = {path.name.count("general"): path.read_text() for path in folder.glob("wrapped.*.ptx")}
    assert "ld.global.v4" in codes[0] and "ld.global.v4" not in codes[1]
    output = run_program(folder, mock_driver, f"""
#include "{next(folder.glob("wrapped.*.h")).name}"
int main(void) {{
  enum {{ n = 64, block = 512 }};
  begin();
  float *x = allocate(4 * 2 * n), *out = allocate(4 * 4 * block);
  for (int i = 0; i < 2 * n; ++i)
    x[i] = (float)i;
  const int backs[] = {{0, 2, 0, 3, -1, INT32_MAX, INT32_MIN}};
  for (int k = 0; k < 7; ++k) {{
    int status = {function}(NULL, x, out, backs[k], n), wrong = 0;
    for (int i = 0; i < 4 * block; ++i)
      wrong += out[i] != (float)(n + (int32_t)((uint32_t)i - (uint32_t)backs[k] * block) % n);
    printf("%d %d %d;", status, wrong, (int)record()->modules);
  }}
  {function}_unload();
  printf("%d ", {function}_load());
  printf("%d", (int)record()->modules);
  {function}_unload();
  printf(" %d", (int)record()->unloaded);
  return 0;
}}
""")  # fmt: skip
    assert output == "0 0 1;0 0 2;0 0 2;0 0 2;0 0 2;0 0 2;0 0 2;0 4 4"


def test_code_that_relies_on_nothing_is_alone(folder):
    compile_kernel(folder, "add", "*fp32:16, *fp32:16, *fp32:16, i32, 128", "1")
    assert not list(folder.glob("*general*")) and not (folder / "nacre_ranges.h").exists()
