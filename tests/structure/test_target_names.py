"""Targets and devices stand behind compiler/targets/Target.h and runtime/Device.h: code outside their own folders does not know the CPU by
name. Looked at are identifiers, includes, and texts that are the name itself; comments and sentences may speak of CPUs."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("compiler", "runtime", "python/core", "python/nacre", "cli", "simulator", "profiler", "sanitizer", "viz", "include")
OWN = ("compiler/targets/cpu", "compiler/passes/cpu", "compiler/ir/cpu", "runtime/devices/cpu", "python/nacre/backends/cpu")
MADE = ("python/nacre/cpp",)  # a copy that `make install` puts there

# file -> why it may, and which words: registrations, and names that users write or that belong to others.
MAY = {
    "compiler/targets/Target.cpp": ("the list of targets", r"cpu|compiler/targets/cpu/CpuTarget\.h"),
    "compiler/support/PlantedBugs.def": ("an engine of the fuzzer", r"cpu"),
    "runtime/Device.cpp": ("the list of devices", r"cpu|runtime/devices/cpu/CpuDevice\.h"),
    "python/nacre/backends/__init__.py": ("the list of backends", r"cpu|CPUBackend|CPUDriver"),
    "python/nacre/backends/triton_shared/driver.py": ("a name under which packages look for that driver", r"cpu|CPUDriver"),
    "include/nacre/nacre.h": ("CompileSettings::cpu, which programs set", r"cpu"),
    "runtime/api/PublicInterface.cpp": ("CompileSettings::cpu, which programs set", r"cpu"),
    "runtime/Knobs.def": ("knobs.compilation.cpu_target and cpu_features", r"Cpu(Target|Features)|cpu_(target|features)"),
    "python/nacre/profiler/_device.py": ("the type of a device in profiles, as hatchet has them", r"CPU"),
    "python/nacre/profiler/specs.py": ("the type of a device in profiles, as hatchet has them", r"CPU"),
    "python/nacre/profiler/profile.py": ("proton.start(backend='cpu')", r"cpu"),
    "python/nacre/profiler/__init__.py": ("proton.cpu_timed_scope", r"cpu_timed_scope"),
    "python/nacre/profiler/scope.py": ("proton.cpu_timed_scope", r"cpu_timed_scope"),
    "python/nacre/profiler/_derive.py": ("names of the viewer's module", r"(avg_)?cpu_time_factor_dict"),
    "python/nacre/profiler/viewer.py": ("names of the viewer's module", r"(avg_)?cpu_time_factor_dict"),
    "python/nacre/backends/host_memory.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/sanitizer/_unwritten.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/viz/_record.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/runtime/tensors.py": ("a method of torch's tensors", r"cpu"),
    "python/nacre/torch/_inductor.py": ("Inductor's classes", r"cpu|_complete_the_cpu|_is_on_cpu|Cpu(Choices|Interface|DeviceOpOverrides)|cpu_device_op_overrides"),
    "python/nacre/torch/_blocks.py": ("torch's name of host memory, and Inductor's settings", r"cpu|cpu_backend|_is_on_cpu|CpuChoices"),
    "python/nacre/torch/_beside.py": ("Inductor's classes", r"Cpu(Choices|Interface)"),
    "python/nacre/torch/_lowerings.py": ("torch's name of host memory, Inductor's settings and functions", r"cpu|cpu_backend|lower_cpu"),
    "python/nacre/torch/_products.py": ("torch's name of host memory, and Inductor's settings", r"cpu|cpu_backend"),
    "python/nacre/torch/_attention.py": ("torch's name of its operation", r"_scaled_dot_product_flash_attention_for_cpu"),
    "python/nacre/tools/debug.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/_internal_testing.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/kernels/_arrays.py": ("torch's name of host memory", r"cpu"),
}

# Of Linux' sched.h and of the C++ compiler.
OTHERS = re.compile(r"CPU_(SETSIZE|ISSET|COUNT)|cpu_set_t|__builtin_cpu_supports")
C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*', re.S)


def parts(identifier):
    """hostCpuName, HOST_CPU_NAME -> host, cpu, name."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)]


def is_name(text):
    """Of what stands in quotes: the name itself, or a path through a folder of that name (an include)."""
    return text.lower() == "cpu" or (re.fullmatch(r"[\w./]+\.h", text) and "cpu" in text.split("/"))


def words_of_c(text):
    for match in C_TOKEN.finditer(text):
        token = match.group()
        line = text.count("\n", 0, match.start()) + 1
        if token.startswith('"'):
            if is_name(token[1:-1]):
                yield line, token[1:-1]
        elif token.isidentifier() and "cpu" in parts(token) and not OTHERS.fullmatch(token):
            yield line, token


def words_of_python(text):
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and "cpu" in parts(token.string):
            if not (token.string == "cpu" and before == "."):  # tensor.cpu(), torch.cpu
                yield token.start[0], token.string
        elif token.type == tokenize.STRING and is_name(token.string.strip("rbf\"'")):
            yield token.start[0], token.string.strip("rbf\"'")
        before = token.string


def findings():
    """(file, line, word) of every place that says it."""
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".h", ".cpp", ".c", ".def", ".py") or "test" in path.parts or name.startswith(OWN + MADE):
                continue
            read = words_of_python if path.suffix == ".py" else words_of_c
            for line, word in read(path.read_text()):
                yield name, line, word


def test_nothing_else_knows_the_cpu_by_name():
    wrong = [f"{file}:{line}: {word}" for file, line, word in findings() if not (file in MAY and re.fullmatch(MAY[file][1], word))]
    assert not wrong, "ask Target.h or Device.h instead of the name:\n" + "\n".join(wrong)


def test_every_exception_is_needed():
    found = {file for file, _, _ in findings()}
    assert not set(MAY) - found, "these do not say it any more"


@pytest.mark.parametrize("text, words", [
    ('if (target.name() == "cpu")', ["cpu"]),
    ("cpu::target().compile(module)", ["cpu"]),
    ('#include "compiler/passes/cpu/Emit.h"', ["compiler/passes/cpu/Emit.h"]),
    ("bool isCpu = hostCpuName().empty();", ["isCpu", "hostCpuName"]),
    ('// "cpu"\nfail("on the CPU there is none"); /* cpu */', []),
])  # fmt: skip
def test_it_finds_the_name(text, words):
    assert [word for _, word in words_of_c(text)] == words


def test_it_finds_the_name_in_python():
    text = '"""The CPU."""\nif driver.backend == "cpu" and not is_cpu():  # cpu\n    x.cpu()\n'
    assert [word for _, word in words_of_python(text)] == ["cpu", "is_cpu"]
