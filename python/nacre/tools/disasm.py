"""The machine code of compiled kernels as text, each piece under the source line that it comes from.

    compiled = kernel[grid](x, y, n)
    print(disassembly(compiled))                       of a compiled kernel
    print(get_sass(compiled.asm["obj"]))               of an object file's bytes
    python -m nacre.tools.disasm kernel.o [function]   of an object file
"""

import functools
import sys


@functools.lru_cache
def get_sass(obj, fun=None):
    """The disassembly of an object file, given as bytes: of one function, or of all."""
    from .. import _core

    return "\n".join(_function_text(name, lines) for name, lines in _core.disassemble(bytes(obj), fun))


def disassembly(kernel):
    """The disassembly of a CompiledKernel."""
    return get_sass(kernel.asm["obj"])


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
