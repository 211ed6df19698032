"""The machine code of compiled kernels as text, each piece under the source line that it comes from.

compiled = kernel[grid](x, y, n)
print(disassembly(compiled))                       of a compiled kernel
print(get_sass(compiled.asm["obj"]))               of an object file's bytes, or of a cubin's
python -m nacre.tools.disasm kernel.o [function]   of an object file
"""

import functools
import os
import sys


@functools.lru_cache
def get_sass(obj, fun=None):
    """The disassembly of an object file or of a cubin, given as bytes: of one function, or of all."""
    from .. import _core

    if _is_cubin(obj):
        return _cubin_text(obj, fun)

    return "\n".join(_function_text(name, lines) for name, lines in _core.disassemble(bytes(obj), fun))


def _is_cubin(data):
    """Whether the ELF header says NVIDIA's GPUs."""
    return data[:4] == b"\x7fELF" and int.from_bytes(data[18:20], "little") == 190


def _cubin_text(cubin, fun):
    """By a program of the CUDA toolkit: the code of GPUs is documented nowhere else."""
    import subprocess
    import tempfile

    from .. import knobs

    cuobjdump, nvdisasm = (knobs.nvidia.knob_descriptors[name].found() for name in ("cuobjdump", "nvdisasm"))
    if cuobjdump is None and nvdisasm is None:
        raise RuntimeError("a GPU's machine code as text needs cuobjdump or nvdisasm of the CUDA toolkit, and neither is there: install one (the "
                           "package nvidia-cuda-nvdisasm has nvdisasm), or name it by TRITON_CUOBJDUMP_PATH or TRITON_NVDISASM_PATH")  # fmt: skip
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        ended = None
        if cuobjdump is not None:
            named = [] if fun is None else ["-fun", fun]
            ended = subprocess.run([cuobjdump.path, "-sass", *named, file.name], capture_output=True, text=True, env=_with_folder_of(nvdisasm))
        if nvdisasm is not None and (ended is None or ended.returncode != 0):
            if fun is not None:
                raise RuntimeError("the code of one function among those of a cubin needs cuobjdump, which is not there")
            ended = subprocess.run([nvdisasm.path, "-c", file.name], capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"{ended.args[0]} cannot show this cubin: {ended.stderr.strip()}")
    return ended.stdout


def _with_folder_of(tool):
    """The environment with that program on the PATH: cuobjdump looks for nvdisasm there."""
    folder = os.path.dirname(tool.path) if tool is not None else ""
    return {**os.environ, "PATH": os.pathsep.join(filter(None, (os.environ.get("PATH"), folder)))}


def disassembly(kernel):
    """The disassembly of a CompiledKernel."""
    return get_sass(kernel.kernel)


def extract(file_path, fun=None):
    """The disassembly of an object file."""
    with open(file_path, "rb") as file:
        return get_sass(file.read(), fun)


def _function_text(name, lines):
    import linecache

    text, here = [f"Function:{name}"], None
    for _, file, line, instruction in lines:
        if instruction.endswith(":"):
            text.append(instruction)
            continue
        if file is not None and (file, line) != here:
            here = file, line
            text.append(f"; {file}:{line}  {linecache.getline(file, line).strip()}".rstrip())
        text.append("\t" + instruction)
    return "\n".join(text) + "\n"


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    usage = "usage: python -m nacre.tools.disasm OBJECT [FUNCTION]"
    if any(argument in ("-h", "--help") for argument in arguments):
        print(usage)
        return 0
    unknown = next((argument for argument in arguments if argument.startswith("-")), None)
    if unknown is not None or not 1 <= len(arguments) <= 2:
        print(usage if unknown is None else f"disasm: there is no option {unknown}\n{usage}", file=sys.stderr)
        return 2
    try:
        print(extract(*arguments), end="")
    except (OSError, ValueError) as error:
        print(f"disasm: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
