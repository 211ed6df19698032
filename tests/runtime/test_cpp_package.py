"""The C++ package as programs outside of the project use it: by the compiler's flags and by find_package(nacre)."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nacre.cpp

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ["g++", "clang++-22"]

ERRORS = r"""
#include <cstdio>
#include <functional>
#include <nacre/nacre.h>

static const char *const text = R"(
import triton
import triton.language as tl

@triton.jit
def fill(out, value):
    tl.store(out + tl.program_id(0), value)

@triton.jit
def wrong(out):
    tl.store(out, unknown)

@triton.jit
def failing(out, limit):
    tl.device_assert(tl.program_id(0) < limit, "past the limit")
)";

static int failures = 0;

static void expect(const char *what, const std::function<void()> &body, const char *part) {
  try {
    body();
  } catch (const nacre::Error &error) {
    if (std::string(error.what()).find(part) != std::string::npos)
      return;
    std::printf("%s: %s\n", what, error.what());
    ++failures;
    return;
  }
  std::printf("%s: no error\n", what);
  ++failures;
}

int main() {
  using namespace nacre;
  float out[4] = {}, *null = nullptr;
  KernelSource source = KernelSource::fromString(text, "kernels.py");
  expect("file", [] { KernelSource::fromFile("/no/such/file.py"); }, "/no/such/file.py");
  expect("syntax", [] { KernelSource::fromString("def broken(:\n"); }, "broken");
  expect("name", [&] { source.kernel("missing"); }, "there is no function `missing`");
  expect("argument", [&] { source.kernel("fill").launch({1}, out); }, "value");
  expect("signature", [&] { source.kernel("fill").specialize("*fp99, 1"); }, "fp99");
  expect("type", [&] { source.kernel("fill").specialize("*fp32, fp32").launch({1}, 1, 1.0f); }, "out");
  expect("body", [&] { source.kernel("wrong").launch({1}, out); }, "unknown");
  expect("fault", [&] { source.kernel("fill").launch({1}, null, 1.0f); }, "accessed memory that is not there");
  CompileSettings debug;
  debug.debug = true;
  SpecializedKernel failing = source.kernel("failing").specialize("*fp32, i32", debug);
  expect("assertion", [&] { failing.launch({64}, out, 4); }, "past the limit");
  try {
    source.kernel("missing");
  } catch (const std::exception &) {
    source.kernel("fill").launch({4}, out, 7.0f);
  }
  failures += out[3] != 7.0f;
  std::printf("%d failures\n", failures);
  return failures;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(nacre {version} REQUIRED)
add_executable(user "{source}")
target_link_libraries(user PRIVATE nacre::nacre)
"""


def run(*command, **options):
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


@pytest.fixture(params=COMPILERS)
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip(f"there is no {request.param}")
    return request.param


@pytest.fixture(params=["example", "errors"])
def program(request, tmp_path):
    """(source, the end of what it prints)"""
    if request.param == "example":
        return ROOT / "examples" / "cpp" / "vector_add.cpp", "sums are right\n"
    path = tmp_path / "errors.cpp"
    path.write_text(ERRORS)
    return path, "0 failures\n"


def test_flags(compiler, program, tmp_path):
    flags = run(sys.executable, "-m", "nacre.cpp", "--flags", env={**os.environ, "PYTHONPATH": str(ROOT / "python")}).split()
    source, expected = program
    run(compiler, "-std=c++17", "-Wall", "-Werror", source, *flags, "-o", tmp_path / "program")
    assert run(tmp_path / "program", cwd=tmp_path).endswith(expected)


OWN_OPERATORS = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nacre/nacre.h>
#include <new>

// Each block has a mark before it.
static const uint64_t mark = 0x6e61637265;

void *operator new(std::size_t size) {
  auto *block = static_cast<uint64_t *>(std::malloc(size + 16));
  block[0] = mark;
  return block + 2;
}
void operator delete(void *memory) noexcept {
  if (!memory)
    return;
  auto *block = static_cast<uint64_t *>(memory) - 2;
  if (block[0] != mark) {
    std::fputs("freed what was not made\n", stderr);
    std::_Exit(1);
  }
  std::free(block);
}
void operator delete(void *memory, std::size_t) noexcept { operator delete(memory); }

int main() {
  std::string text = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef fill(out, value):\n"
                     "    tl.store(out + tl.program_id(0), value)\n";
  float out[4] = {};
  {
    std::string file = "a name that is longer than a string holds";
    nacre::KernelSource source = nacre::KernelSource::fromString(std::move(text), std::move(file));
    nacre::KernelHandle kernel = source.kernel("fill");
    kernel.launch({4}, out, 7.0f);
    std::string name = kernel.name() + ": ";
    for (const std::string &parameter : kernel.parameters())
      name += parameter + " ";
    std::string object = kernel.specialize("*fp32, fp32").object();
    try {
      source.kernel("missing");
    } catch (const nacre::Error &error) {
      nacre::Error copy = error;
    }
    std::printf("%s%d %d\n", name.c_str(), !object.empty(), out[3] == 7.0f);
  }
}
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the operators are AddressSanitizer's")
def test_a_program_with_operators_of_its_own(compiler, tmp_path):
    """What it makes the library frees, and the other way round."""
    (tmp_path / "main.cpp").write_text(OWN_OPERATORS)
    run(compiler, "-std=c++17", "-O1", tmp_path / "main.cpp", *nacre.cpp.flags(), "-o", tmp_path / "program")
    assert run(tmp_path / "program", cwd=tmp_path) == "fill: out value 1 1\n"


def build_project(prefix, compiler, source, folder):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT.format(version="0.1", source=source))
    run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")
    return folder / "build" / "user"


WITHOUT_PYTHON = r"""
#include <cstdio>
#include <nacre/nacre.h>

extern "C" int nacre_sees_python();

int main() { std::printf("%s, Python: %d\n", nacre::version(), nacre_sees_python()); }
"""


def test_one_library_with_and_without_python(compiler, tmp_path):
    """Python's extension loads the library of C++ programs, which asks nothing of Python where there is none."""
    (tmp_path / "main.cpp").write_text(WITHOUT_PYTHON)
    run(compiler, "-std=c++17", tmp_path / "main.cpp", *nacre.cpp.flags(), "-o", tmp_path / "program")
    assert run(tmp_path / "program") == f"{nacre.version}, Python: 0\n"
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith("/libnacre.so")}
    assert [os.path.realpath(path) for path in loaded] == [os.path.realpath(f"{nacre.cpp.prefix()}/lib/libnacre.so")]
    library = ctypes.PyDLL(*loaded)
    assert library.nacre_sees_python() == 1
    library.nacre_make_python_module.argtypes, library.nacre_make_python_module.restype = [ctypes.c_char_p], ctypes.py_object
    with pytest.raises(ImportError, match=f"libnacre.so of nacre {nacre.version}, and the package is nacre 0.0.9"):
        library.nacre_make_python_module(b"0.0.9")


@pytest.mark.skipif(not shutil.which("llvm-readelf-22"), reason="there is no llvm-readelf-22")
def test_nothing_but_ours_is_visible():
    """LLVM's symbols stay inside: torch, Numba and Triton bring an LLVM of their own into the process."""
    table = run("llvm-readelf-22", "--dyn-syms", "-W", f"{nacre.cpp.prefix()}/lib/libnacre.so").splitlines()
    defined = [line.split() for line in table if " GLOBAL " in line or " WEAK " in line]
    names = {row[7] for row in defined if row[6] != "UND"}
    assert len(names) > 10 and [name for name in names if "5nacre" not in name and not name.startswith("nacre_")] == []


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_find_package(compiler, program, tmp_path):
    source, expected = program
    assert run(build_project(nacre.cpp.prefix(), compiler, source, tmp_path / "project")).endswith(expected)


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_an_installation_elsewhere(tmp_path):
    """What `make install PREFIX=...` does, used after it was moved."""
    build = ROOT / os.environ.get("NACRE_BUILD_DIR", "build")
    run("cmake", "--install", build, "--component", "cpp", "--prefix", tmp_path / "first")
    os.rename(tmp_path / "first", tmp_path / "moved")
    program = build_project(tmp_path / "moved", "g++", ROOT / "examples" / "cpp" / "vector_add.cpp", tmp_path / "project")
    assert run(program).endswith("sums are right\n")
    installed = {str(path.relative_to(tmp_path / "moved")) for path in (tmp_path / "moved").rglob("*") if path.is_file()}
    assert {"include/nacre/nacre.h", "lib/libnacre.so", "lib/cmake/nacre/nacre-config.cmake"} <= installed
