"""Kernels compiled ahead of time: C programs that link and run them, with no Python in their processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nacre
from nacre.tools import compile as compile_tool
from nacre.tools import link as link_tool

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "cli" / "nacre"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

KERNELS = '''
import nacre as triton
import nacre.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

@triton.jit
def scale(pair, out, count, factor, wide, flag, MODE: tl.constexpr):
    x, n = pair
    offsets = tl.arange(0, 8)
    value = tl.load(x + offsets, mask=offsets < n, other=0).to(tl.float64) * factor + wide
    tl.store(out + offsets, tl.where(flag, value, -value) + count)

@triton.jit
def sort_rows(x, stride, COLUMNS: tl.constexpr):
    offsets = tl.program_id(0) * stride + tl.arange(0, COLUMNS)
    tl.store(x + offsets, tl.sort(tl.load(x + offsets)))

@triton.jit
def show(x, y, n):
    tl.device_print("ints: ", tl.arange(0, 3) - 1, tl.program_id(0))
    tl.device_print("floats", tl.load(x + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]))
    tl.device_print("hex", n, hex=True)
    tl.device_print("")
    bytes = tl.arange(0, 256).to(tl.uint8)
    tl.device_print("nv", bytes.to(tl.float8e4nv, bitcast=True))
    tl.device_print("e5", bytes.to(tl.float8e5, bitcast=True))
    tl.device_print("b15", bytes.to(tl.float8e4b15, bitcast=True))
    tl.device_print("b8", bytes.to(tl.float8e4b8, bitcast=True))
    tl.device_print("b16", bytes.to(tl.float8e5b16, bitcast=True))
    short = (tl.arange(0, 64) * 1023).to(tl.uint16)
    tl.device_print("half", short.to(tl.float16, bitcast=True), short.to(tl.bfloat16, bitcast=True))
    tl.device_print("others", (tl.arange(0, 2) > 0), tl.full([1], 1 << 63, tl.uint64), tl.full([1], -5, tl.int64), tl.load(y))

@triton.jit
def check(x, n):
    tl.device_assert(tl.program_id(0) < n, "too many programs")
    tl.store(x + tl.program_id(0), 1)

@triton.jit
def hand_over(flags, out):
    pid = tl.program_id(0)
    last = tl.num_programs(0) - 1
    if pid < last:
        while tl.atomic_add(flags + pid + 1, 0) == 0:
            pass
    tl.atomic_xchg(flags + pid, 1)
    tl.store(out + pid, pid)

@triton.jit
def count_under_lock(lock, count):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    tl.atomic_xchg(lock, 0)
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def compile_kernel(folder, kernel, signature, grid="", **options):
    arguments = compile_tool.CompileArgs(str(folder / "kernels.py"), kernel, signature, grid, out_path=folder / kernel, **options)
    return compile_tool.compile_kernel(arguments)[0]


def run_program(folder, text, *, environment=None, status=0):
    """Compiles main.c with everything in the folder, runs it, and returns what it writes."""
    (folder / "main.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + text)
    files = [*folder.glob("*.c"), *folder.glob("*.o")]
    command = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", *map(str, files), "-o", str(folder / "main"), "-lm", "-lpthread"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([folder / "main"], capture_output=True, text=True, env={**os.environ, **(environment or {})}, timeout=600)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout


def test_variants_and_their_dispatcher(folder):
    grid = "(n + BLOCK - 1) / BLOCK, 1, 1"
    aligned = compile_kernel(folder, "add", "*fp32:16, *fp32:16, *fp32:16, i32, 128", grid)
    one = compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32:1, 128", grid)
    other = compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32, BLOCK=64", grid)
    assert (aligned.split("_")[2], one.split("_")[2], other.split("_")[2]) == ("0d1d2d", "3c", "")
    headers = sorted(folder.glob("add.*.h"), key=lambda path: "0d" not in path.name)
    link_tool.link(headers, folder / "add")
    output = run_program(folder, """
#include "add.h"
static int wrong(const float *x, const float *y, const float *out, int n, float after) {
  for (int i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i])
      return 1;
  return out[n] != after;
}
int main(void) {
  enum { n = 100000 };
  float *x = aligned_alloc(64, 4 * (n + 16)), *y = aligned_alloc(64, 4 * (n + 16)), *out = aligned_alloc(64, 4 * (n + 16));
  for (int i = 0; i < n + 16; ++i)
    x[i] = (float)i, y[i] = 0.5f * (float)i, out[i] = -1;
  const int id = 0; /* the first header's */
  printf("%d\\n", add_get_num_algos());
  for (int again = 0; again < 20; ++again)
    printf("%d", add(x, y, out, n, id) || wrong(x, y, out, n, -1));
  printf("\\n%d %d\\n", add(x + 1, y, out, n, id), add(x + 1, y, out, 1, id));       /* none but n == 1 takes them */
  add(x, y + 1, out, n, id);
  printf("%s\\n", nacre_error_text());
  printf("%d %d\\n", add(x + 1, y, out + 1, n - 1, 1 - id) || wrong(x + 1, y, out + 1, n - 1, -1), out[0] == x[1] + y[0]);
  printf("%d %d\\n", add(x, y, out, n, 7), add_default(x, y, out, 0));
  add(x, y, out, n, 7);
  printf("%s\\n", nacre_error_text());
  return 0;
}
""")  # fmt: skip
    refused = "add: no variant takes these arguments: `x`, `y`, `out` must be divisible by 16; or `n` must be 1"
    assert output.splitlines() == ["2", "0" * 20, "1 0", refused, "0 1", "1 0", "add: there is no algorithm of this number"]


def test_every_kind_of_argument(folder):
    function = compile_kernel(folder, "scale", "(*i16, i32), *fp64, i64, fp32, fp64, i1, 'mode'", "1")
    output = run_program(folder, f"""
#include "{next(folder.glob("scale.*.h")).name}"
int main(void) {{
  int16_t x[8] = {{1, -2, 3, 4, 5, 6, 7, 8}};
  double out[8];
  nacre_result result = {function}(x, 5, out, 1ll << 40, 0.5f, 0.25, 0);
  printf("%d", result);
  for (int i = 0; i < 8; ++i)
    printf(" %.2f", out[i] - (double)(1ll << 40));
  return 0;
}}
""")  # fmt: skip
    assert output == "0 -0.75 0.75 -1.75 -2.25 -2.75 -0.25 -0.25 -0.25"


def test_scratch_memory_on_many_threads(folder):
    function = compile_kernel(folder, "sort_rows", "*fp32:16, i32:16, 256")
    output = run_program(folder, f"""
#include "{next(folder.glob("sort_rows.*.h")).name}"
int main(void) {{
  enum {{ rows = 300, columns = 256 }};
  static _Alignas(64) float x[rows * columns];
  for (int threads = 1; threads < 9; threads += 3) {{
    nacre_set_threads(threads);
    for (int i = 0; i < rows * columns; ++i)
      x[i] = (float)((i * 7919) % 1009);
    if ({function}(rows, 1, 1, x, columns) != NACRE_SUCCESS)
      return 1;
    for (int i = 0; i < rows * columns; ++i)
      if (i % columns && x[i - 1] > x[i])
        return 2;
  }}
  return {function}(0, 1, 1, x, columns);
}}
""")  # fmt: skip
    assert output == ""


def test_device_print_is_the_same_text(folder, capsys):
    x, y = np.array([1.5, -2.0, np.inf, np.nan], np.float32), np.array([1e300], np.float64)
    function = compile_kernel(folder, "show", "*fp32, *fp64, i32")
    output = run_program(folder, f"""
#include "{next(folder.glob("show.*.h")).name}"
#include <math.h>
int main(void) {{
  float x[] = {{1.5f, -2.0f, INFINITY, NAN}};
  double y = 1e300;
  return {function}(2, 1, 1, x, &y, 255);
}}
""", environment={"NACRE_NUM_THREADS": "1"})  # fmt: skip
    kernel = compile_tool._load(folder / "kernels.py", "show")
    capsys.readouterr()
    with nacre.knobs.runtime.scope():
        nacre.knobs.runtime.num_threads = 1  # or the second program may be the first to print
        kernel[(2,)](x, y, 255)
    expected = capsys.readouterr().out
    assert output == expected and len(expected.splitlines()) > 2 * (5 * 256 + 128)


def test_device_assert(folder, monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "1")
    function = compile_kernel(folder, "check", "*i32, i32")
    output = run_program(folder, f"""
#include "{next(folder.glob("check.*.h")).name}"
int main(void) {{
  int32_t x[8] = {{0}};
  printf("%d [%s]\\n", {function}(4, 1, 1, x, 4), nacre_error_text());
  printf("%d\\n%s\\n", {function}(5, 1, 1, x, 4), nacre_error_text());
  return x[3] != 1;
}}
""")  # fmt: skip
    first, second, text = output.splitlines()
    line = KERNELS.splitlines().index('    tl.device_assert(tl.program_id(0) < n, "too many programs")') + 1
    assert (first, second) == ("0 []", "3")
    assert text.endswith(f"kernels.py:{line}: device_assert failed in program (4, 0, 0): too many programs")


def test_programs_that_wait_for_each_other(folder):
    function = compile_kernel(folder, "hand_over", "*i32, *i32")
    output = run_program(folder, f"""
#include "{next(folder.glob("hand_over.*.h")).name}"
int main(void) {{
  static int32_t flags[64], out[64];
  nacre_set_threads(2);
  if ({function}(64, 1, 1, flags, out) != NACRE_SUCCESS)
    return 1;
  if (flags[0] != 1 || out[63] != 63)
    return 2;
  static int32_t more_flags[3000], more_out[3000];
  return {function}(3000, 1, 1, more_flags, more_out) != NACRE_ERROR_TOO_MANY_PROGRAMS;
}}
""")  # fmt: skip
    assert output == ""


def test_a_lock_that_many_programs_want(folder):
    function = compile_kernel(folder, "count_under_lock", "*i32, *i32")
    run_program(folder, f"""
#include "{next(folder.glob("count_under_lock.*.h")).name}"
int main(void) {{
  int32_t lock = 0, count = 0;
  return {function}(20000, 1, 1, &lock, &count) != NACRE_SUCCESS || count != 20000;
}}
""")  # fmt: skip


def test_launches_from_several_threads_and_after_fork(folder):
    function = compile_kernel(folder, "sort_rows", "*fp32:16, i32:16, 256")
    run_program(folder, f"""
#include "{next(folder.glob("sort_rows.*.h")).name}"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
enum {{ rows = 64, columns = 256 }};
static void *work(void *unused) {{
  (void)unused;
  float *x = aligned_alloc(64, rows * columns * sizeof(float));
  for (int again = 0; again < 20; ++again) {{
    for (int i = 0; i < rows * columns; ++i)
      x[i] = (float)((i * 7919 + again) % 1009);
    if ({function}(rows, 1, 1, x, columns) != NACRE_SUCCESS)
      exit(1);
    for (int i = 0; i < rows * columns; ++i)
      if (i % columns && x[i - 1] > x[i])
        exit(2);
  }}
  free(x);
  return NULL;
}}
int main(void) {{
  nacre_set_threads(3);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {{
    work(NULL);
    return 0;
  }}
  int status;
  waitpid(child, &status, 0);
  return status;
}}
""")  # fmt: skip


@pytest.mark.skipif(not PROGRAM.exists(), reason="the nacre program is not built")
def test_without_python(folder):
    done = subprocess.run([PROGRAM, "compile", folder / "kernels.py", "--kernel", "add", "--signature", "*fp32, *fp32, *fp32, i32, 32", "--emit", "c",
                           "--out-name", "sum", "--grid", "(n + 31) / 32", "-o", folder / "sums"], capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (header,) = folder.glob("sums.*.h")
    output = run_program(folder, f"""
#include "{header.name}"
int main(void) {{
  float x[] = {{1, 2, 3}}, y[] = {{10, 20, 30}}, out[] = {{0, 0, 0}};
  int result = {done.stdout.strip()}(x, y, out, 3);
  printf("%d %g %g %g", result, out[0], out[1], out[2]);
  return 0;
}}
""")  # fmt: skip
    assert output == "0 11 22 33" and done.stdout.startswith("sum_")


@pytest.mark.skipif(not PROGRAM.exists(), reason="the nacre program is not built")
@pytest.mark.parametrize("options, status, text", [
    (("--grid", "1"), 2, "are for --emit c"), (("--emit", "c", "--out-name", "1st"), 1, "not the name of a function"),
    (("--emit", "c", "-o", "/no/folder/add"), 1, "No such file or directory"),
])  # fmt: skip
def test_wrong_use_without_python(folder, options, status, text):
    done = subprocess.run([PROGRAM, "compile", folder / "kernels.py", "--kernel", "add", "--signature", "*fp32, *fp32, *fp32, i32, 32", *options],
                          capture_output=True, text=True, cwd=folder)  # fmt: skip
    assert done.returncode == status and text in done.stderr


def tool(name, *args):
    environment = {**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parents[1])}
    return subprocess.run([sys.executable, "-m", f"nacre.tools.{name}", *map(str, args)], capture_output=True, text=True, env=environment)


def test_the_command_lines(folder):
    (folder / "kernels.py").write_text(KERNELS.replace("nacre as triton", "triton").replace("nacre.language", "triton.language"))
    done = tool("compile", folder / "kernels.py", "--kernel-name", "add", "--signature", "*fp32:16,*fp32:16,*fp32:16,i32,128", "--grid",
                "(n+127)/128,1,1", "--out-name", "add", "--out-path", folder / "add", "--num-warps", "2", "-ns", "1", "--target", "cpu:x86-64-v3")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (header,) = folder.glob("add.*.h")
    text = header.read_text()
    assert "x86-64-v3" in text and f"nacre_result {done.stdout.strip()}(float *x, float *y, float *out, int32_t n);" in text
    done = tool("link", header, "--out", folder / "linked", "--prefix", "my_")
    assert done.returncode == 0, done.stderr
    assert "my_add_128_warps2xstages1(" in (folder / "linked.h").read_text()
    done = tool("disasm", next(folder.glob("add.*.o")))
    assert done.returncode == 0 and "ymm" in done.stdout and "zmm" not in done.stdout


def test_the_files_as_scripts(folder):
    (folder / "kernels.py").write_text(KERNELS)
    tools, environment = Path(nacre.__file__).parent / "tools", {**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parents[1])}
    compiled = [tools / "compile.py", folder / "kernels.py", "-n", "add", "-s", "*fp32,*fp32,*fp32,i32,128", "-o", folder / "add"]
    linked = [tools / "link.py", "nacre_kernel.h", "add.h", "-o", "linked"]  # as "*.h" names them
    for command in (compiled, linked):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, cwd=folder)
        assert done.returncode == 0, done.stderr
        next(folder.glob("add.*.h")).rename(folder / "add.h") if command is compiled else None
    assert (folder / "linked.h").exists()


def test_under_the_alias(folder):
    (folder / "kernels.py").write_text(KERNELS.replace("nacre as triton", "triton").replace("nacre.language", "triton.language"))
    environment = {**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parents[1])}
    command = [sys.executable, "-m", "nacre", "run", "-m", "triton.tools.compile", folder / "kernels.py", "--kernel-name", "add",
               "--signature", "*fp32,*fp32,*fp32,i32,128", "-o", folder / "add"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "Error" not in done.stderr, done.stderr
    assert len(list(folder.glob("add.*.o"))) == 1


@pytest.mark.parametrize("options, text", [
    (("--kernel-name", "missing", "--signature", ""), "has no kernel 'missing'"),
    (("--kernel-name", "triton", "--signature", ""), "not a kernel"),
    (("--kernel-name", "add", "--signature", "*fp32"), "`y` is missing"),
    (("--kernel-name", "add", "--signature", "*fp32,*fp32,*fp32,i32,64", "--target", "rocm:gfx942:64"), "no target 'rocm'"),
    (("--kernel-name", "add", "--signature", "*fp32,*fp32,*fp32,i32,64", "--grid", "1,1,1,1"), "one to three expressions"),
    (("--kernel-name", "add", "--signature", "*fp32,*fp32,*fp32,i32,64", "--out-name", "a b"), "not the name of a function"),
])  # fmt: skip
def test_wrong_use(folder, options, text):
    done = tool("compile", folder / "kernels.py", "-o", folder / "out", *options)
    assert done.returncode == 1 and text in done.stderr and not list(folder.glob("out.*"))


def test_headers_that_cannot_be_linked(folder):
    compile_kernel(folder, "add", "*fp32, *fp32, *fp32, i32, 128")
    compile_kernel(folder, "add", "*fp16, *fp16, *fp16, i32, 128")
    with pytest.raises(link_tool.LinkerError, match="different parameters"):
        link_tool.link(sorted(folder.glob("add.*.h")), folder / "out")
    with pytest.raises(link_tool.LinkerError, match="given twice"):
        link_tool.link([next(folder.glob("add.*.h"))] * 2, folder / "out")
    (folder / "other.h").write_text("int other(void);")
    with pytest.raises(link_tool.LinkerError, match="not a header"):
        link_tool.link([folder / "other.h"], folder / "out")
    with pytest.raises(link_tool.LinkerError, match="no header of a kernel"):
        link_tool.link([folder / "nacre_kernel.h"], folder / "out")
