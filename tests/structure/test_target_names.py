"""Targets and devices stand behind compiler/targets/Target.h and runtime/Device.h: code outside their own folders does not know the CPU or a
maker of GPUs by name. Looked at are identifiers, includes, and texts that are the name itself; comments and sentences may speak of them."""

import functools
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("compiler", "runtime", "python/core", "python/nacre", "cli", "simulator", "profiler", "sanitizer", "viz", "include")
MADE = ("python/nacre/cpp",)  # a copy that `make install` puts there

# file or folder -> why it may, and which words: registrations, and names that users write or that belong to others.
CPU_MAY = {
    "compiler/targets/Target.cpp": ("the list of targets", r"cpu|compiler/targets/cpu/CpuTarget\.h"),
    "compiler/targets/amd/CodeObject.cpp": ("a function of LLVM", r"getTargetCPU"),
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
    "python/nacre/profiler/_torch_users.py": ("torch's ProfilerActivity.CPU", r"CPU"),
    "python/nacre/profiler/__init__.py": ("proton.cpu_timed_scope", r"cpu_timed_scope"),
    "python/nacre/profiler/scope.py": ("proton.cpu_timed_scope", r"cpu_timed_scope"),
    "python/nacre/profiler/_derive.py": ("names of the viewer's module", r"(avg_)?cpu_time_factor_dict"),
    "python/nacre/profiler/viewer.py": ("names of the viewer's module", r"(avg_)?cpu_time_factor_dict"),
    "python/nacre/backends/host_memory.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/sanitizer/_unwritten.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/viz/_record.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/runtime/tensors.py": ("a method of torch's tensors", r"cpu"),
    "python/nacre/torch/_inductor.py": (
        "Inductor's classes",
        r"cpu|_complete_the_cpu|_is_on_cpu|Cpu(Choices|Interface|DeviceOpOverrides)|cpu_device_op_overrides",
    ),
    "python/nacre/torch/_blocks.py": ("torch's name of host memory, and Inductor's settings", r"cpu|cpu_backend|_is_on_cpu|CpuChoices"),
    "python/nacre/torch/_beside.py": ("Inductor's classes", r"Cpu(Choices|Interface)"),
    "python/nacre/torch/_lowerings.py": ("torch's name of host memory, Inductor's settings and functions", r"cpu|cpu_backend|lower_cpu"),
    "python/nacre/torch/_products.py": ("torch's name of host memory, and Inductor's settings", r"cpu|cpu_backend"),
    "python/nacre/torch/_attention.py": ("torch's name of its operation", r"_scaled_dot_product_flash_attention_for_cpu"),
    "python/nacre/tools/debug.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/_internal_testing.py": ("torch's name of host memory", r"cpu"),
    "python/nacre/kernels/_arrays.py": ("torch's name of host memory", r"cpu"),
}

NVIDIA_MAY = {
    # Lists, and names that users of the language, of torch and of Triton's modules write.
    "compiler/targets/Target.cpp": ("the list of targets", r"cuda|compiler/targets/cuda/CudaTarget\.h"),
    "runtime/Device.cpp": ("the list of devices", r"cuda|runtime/devices/cuda/(Cuda|Simulated)Device\.h"),
    "python/nacre/backends/__init__.py": ("the list of backends", r"nvidia|CUDABackend|CudaDriver"),
    "compiler/targets/amd/": ("a wave, which the simt dialect calls a warp", r"\w*[wW]arps?\w*|isPtx"),
    "runtime/devices/gpu/": ("a unit that marks are told of", r"warp"),
    "compiler/support/PlantedBugs.def": ("what a bug of the fuzzer is in", r"WgmmaEarlyClobber|ScanWarpPlace"),
    "compiler/ir/layout/": ("a level of a layout, as num_warps of the language has it", r"\w*[wW]arp\w*"),
    "profiler/KernelScopes": ("a unit that marks are told of", r"warp"),
    "python/core/ProfilerListener.h": ("a unit that marks are told of", r"warp"),
    "runtime/Events.h": ("a unit that marks are told of", r"warp"),
    "python/nacre/profiler/mode.py": ("proton.mode: sampling by warp", r"warp"),
    "compiler/language/builtins/": (
        "triton.language.extra.cuda, libdevice, and inline assembly of PTX, which users write",
        r"cuda|cudaModule|isCuda|cudaCapability(AtLeast)?|isPtx|translatePtx",
    ),  # fmt: skip
    "compiler/language/meaning/AssemblyNotation.h": ("inline assembly of PTX, which other targets translate", r"isPtx"),
    "compiler/targets/cpu/Pipeline.cpp": ("inline assembly of PTX, which is translated", r"isPtx"),
    "compiler/language/meaning/LibraryMachine.cpp": ("the machine of a user's library, by the target's name", r"cudaTriple|cuda"),
    "compiler/targets/LaunchOptions.h": ("options that other backends take", r"insteadOnCuda"),
    "python/core/launching/LaunchCall.cpp": ("options that other backends take", r"cuda|refusedOnCuda|insteadOnCuda"),
    "python/core/launching/LaunchCall.h": ("options that other backends take", r"refusedOnCuda"),
    "python/nacre/language/": ("triton.language.extra.cuda, and target_info", r"cuda|is_cuda"),
    "runtime/Knobs.def": ("knobs.nvidia", r"nvidia|ptxas|Ptxas(Options)?|Cuda(Home|Driver|Features)|Cupti(Blackwell)?Folder"),
    "python/nacre/knobs.py": ("knobs.nvidia", r"nvidia|NvidiaKnobs|NvidiaTool|nvidia_knobs|ptxas|ptxas_blackwell"),
    "python/nacre/_variables.py": ("knobs.nvidia", r"env_nvidia_tool"),
    "python/nacre/_toolkit.py": ("where NVIDIA's toolkit is, for knobs.nvidia", r"nvidia|cuda_home|ptxas"),
    "python/nacre/_command_line.py": ("nacre info: the toolkit that is found", r"cuda|nvidia|_?ptxas"),
    "python/nacre/_C/libtriton.py": ("Triton's module, with a submodule for each maker", r"is_cuda|_?[nN]vidia"),
    "python/nacre/_internal_testing.py": ("a module of Triton's", r"is_cuda|cuda"),
    "python/nacre/backends/driver.py": ("what Triton's driver has, and torch.cuda", r"cuda|cuda_stream"),
    "python/nacre/compiler/compiler.py": ("stages of IR that users hand over as files", r"ptx|cubin"),
    "python/nacre/kernels/_blocks.py": ("target_info.is_cuda", r"is_cuda"),
    "python/nacre/runtime/autotuner.py": ("Triton's names", r"PTXASError|use_cuda_graph"),
    "python/nacre/runtime/errors.py": ("Triton's names", r"PTXASError"),
    "python/nacre/testing/": ("Triton's names, and torch.cuda", r"cuda|cuda_graph_without_gc|cuda_memcheck|CUDAGraph"),
    "python/nacre/tools/disasm.py": ("a module of Triton's, about cubins", r"_?(is_)?cubin(_text)?|nvidia"),
    "python/nacre/torch/_calls.py": ("Inductor's setting", r"store_cubin"),
    "python/nacre/profiler/profile.py": ("proton.start(backend='cupti')", r"cupti|cuda"),
    "python/nacre/profiler/hooks/instrumentation.py": ("a class of Proton's", r"CudaAllocator|cuda"),
    "python/nacre/profiler/specs.py": ("the makers of the devices in profiles, as hatchet has them", r"_NVIDIA_(WHOLE|PER_CLOCK)|CUDA"),
    # What simulates: PTX is what it takes.
    "python/nacre/simulator.py": ("the simulator takes PTX", r"ptx|ptx_line"),
    "python/core/SimulatorBinding.cpp": ("the simulator takes PTX", r"ptx"),
    "runtime/commands/Simulate.cpp": ("the simulator's counters", r"warpInstructions"),
    "runtime/api/ahead_of_time/": ("the C interface of kernels for CUDA, which programs include", r"nacre_cuda\w*|NACRE_CUDA_H"),
    "runtime/api/ExportedCode.cpp": ("the C interface of kernels for CUDA", r"cuda(Header|Source)"),
    # Decisions that a second maker of GPUs would be asked about too; each is to go behind Target.h or Device.h.
    "python/nacre/runtime/tuning/find_config.py": ("torch.cuda, and what a GPU is asked for", r"cuda"),
    "python/nacre/sanitizer/_gpu_program.py": ("compute-sanitizer, or the simulator", r"cuda"),
    "python/nacre/tools/debug.py": ("torch's name of a GPU's memory", r"cuda"),
    "python/nacre/viz/_gpu.py": ("what the simulator counts of the launch's twin", r"cuda|ptx"),
}

OWN = {
    "cpu": ("compiler/targets/cpu", "compiler/passes/cpu", "compiler/ir/cpu", "runtime/devices/cpu", "python/nacre/backends/cpu"),
    "nvidia": ("compiler/targets/cuda", "compiler/passes/gpu", "compiler/ir/simt", "runtime/devices/cuda", "python/nacre/backends/nvidia", "simulator"),
}
WORDS = {"cpu": {"cpu"}, "nvidia": {"nvidia", "cuda", "cupti", "ptx", "ptxas", "cubin", "wgmma", "warp"}}
MAY = {"cpu": CPU_MAY, "nvidia": NVIDIA_MAY}
# Anywhere: of Linux' sched.h and of the C++ compiler; what a target answers (warpSize), a hint of the language, a protocol for arrays.
OTHERS = {
    "cpu": re.compile(r"CPU_(SETSIZE|ISSET|COUNT)|cpu_set_t|__builtin_cpu_supports"),
    "nvidia": re.compile(r"warpSize|warp_size|warpSpecialize|__cuda_array_interface__"),
}
C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*', re.S)


def parts(identifier):
    """hostCpuName, HOST_CPU_NAME -> host, cpu, name."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)]


def is_name(text, maker):
    """Of what stands in quotes: the name itself, or a path through a folder of that name (an include)."""
    return text.lower() in WORDS[maker] or (re.fullmatch(r"[\w./]+\.h", text) and WORDS[maker] & set(text.split("/")))


def is_word(identifier, maker):
    return WORDS[maker] & set(parts(identifier)) and not OTHERS[maker].fullmatch(identifier)


def words_of_c(text, maker):
    for match in C_TOKEN.finditer(text):
        token = match.group()
        line = text.count("\n", 0, match.start()) + 1
        if token.startswith('"'):
            if is_name(token[1:-1], maker):
                yield line, token[1:-1]
        elif token.isidentifier() and is_word(token, maker):
            yield line, token


def words_of_python(text, maker):
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and is_word(token.string, maker):
            if not (token.string in WORDS[maker] and before == "."):  # tensor.cpu(), torch.cuda
                yield token.start[0], token.string
        elif token.type == tokenize.STRING and is_name(token.string.strip("rbf\"'"), maker):
            yield token.start[0], token.string.strip("rbf\"'")
        before = token.string


@functools.cache
def findings(maker):
    """(file, line, word) of every place that says it."""
    found = []
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".h", ".cpp", ".c", ".def", ".py") or "test" in path.parts or name.startswith(OWN[maker] + MADE):
                continue
            read = words_of_python if path.suffix == ".py" else words_of_c
            found += [(name, line, word) for line, word in read(path.read_text(), maker)]
    return found


def reason_for(file, maker):
    """The exception for the file: the longest that its path begins with."""
    return max((known for known in MAY[maker] if file.startswith(known)), key=len, default=None)


@pytest.mark.parametrize("maker", MAY)
def test_nothing_else_knows_it_by_name(maker):
    wrong = []
    for file, line, word in findings(maker):
        known = reason_for(file, maker)
        if known is None or not re.fullmatch(MAY[maker][known][1], word):
            wrong.append(f"{file}:{line}: {word}")
    assert not wrong, "ask Target.h or Device.h instead of the name:\n" + "\n".join(wrong)


@pytest.mark.parametrize("maker", MAY)
def test_every_exception_is_needed(maker):
    used = {reason_for(file, maker) for file, _, _ in findings(maker)}
    idle = set(MAY[maker]) - used
    assert not idle, f"these do not say it any more: {idle}"


@pytest.mark.parametrize("maker, text, words", [
    ("cpu", 'if (target.name() == "cpu")', ["cpu"]),
    ("cpu", "cpu::target().compile(module)", ["cpu"]),
    ("cpu", '#include "compiler/passes/cpu/Emit.h"', ["compiler/passes/cpu/Emit.h"]),
    ("cpu", "bool isCpu = hostCpuName().empty();", ["isCpu", "hostCpuName"]),
    ("cpu", '// "cpu"\nfail("on the CPU there is none"); /* cpu */', []),
    ("nvidia", "if (isCudaTarget(target) && lanes == warpSize)", ["isCudaTarget"]),
    ("nvidia", 'emit("PTX"); emitWgmma(b); // wgmma', ["PTX", "emitWgmma"]),
])  # fmt: skip
def test_it_finds_the_name(maker, text, words):
    assert [word for _, word in words_of_c(text, maker)] == words


def test_it_finds_the_name_in_python():
    text = '"""The CPU."""\nif driver.backend == "cpu" and not is_cpu():  # cpu\n    x.cpu()\n'
    assert [word for _, word in words_of_python(text, "cpu")] == ["cpu", "is_cpu"]
    assert [word for _, word in words_of_python(text.replace("cpu", "cuda"), "nvidia")] == ["cuda", "is_cuda"]
