"""Compiles a kernel ahead of time into C: a header, a source and its code, and the small runtime in C that launches it.

    python -m nacre.tools.compile add.py --kernel-name add --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024" \\
        --out-name add --grid "(n + 1023) / 1024, 1, 1"
    cc main.c add.*.c add.*.o nacre_kernel.c -lm -lpthread

The signature has one entry for each parameter, in order or by name (n=i32): a type, with :16 behind it when the value or the
address is divisible by 16 and :1 when the value is 1; or a constant, which is no parameter of the C function. The function is
called after --out-name, with what tells this variant from others behind it, and so are the files; `nacre.tools.link` joins
variants to one function that chooses among them.

With --target cuda:90 (or another GPU) functions have a stream as their first parameter, pointers are those of the GPU's memory, and
launches return at once. The code is part of the source:

    cc main.c add.*.c nacre_cuda.c -lpthread -ldl

The file is run by Python, with `import triton` meaning nacre. `nacre compile --emit c` does the same without Python, for kernels
that need nothing but their file.
"""

import argparse
import sys
from pathlib import Path


class CompileArgs:
    """What to compile, as the command line says it."""

    def __init__(self, path="", kernel_name="", signature="", grid="", target=None, num_warps=1, num_stages=3, out_name=None,
                 out_path=None):  # fmt: skip
        self.path = path
        self.kernel_name = kernel_name
        self.signature = signature
        self.grid = grid
        self.target = target
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.out_name = out_name
        self.out_path = out_path


def _load(path, name):
    import importlib.util

    path = Path(path)
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    if not hasattr(module, name):
        raise ValueError(f"{path} has no kernel {name!r}")
    return getattr(module, name)


def _device(target):
    """The device and the machine of a target, "" for this one."""
    from nacre import _core

    devices = list(_core.TARGETS)
    backend, _, rest = (target or devices[0]).partition(":")
    if backend not in devices:
        raise ValueError(f"--target {target}: there is no target {backend!r} to compile for ahead of time; targets: {', '.join(devices)}")
    return backend, rest.partition(":")[0]


def compile_kernel(args):
    """Writes the files; returns the name of the C function and the paths of the header, the source and the code."""
    from nacre import _core
    from nacre.runtime.jit import JITFunction

    device, architecture = _device(args.target)
    kernel = _load(args.path, args.kernel_name)
    while hasattr(kernel, "fn") and not isinstance(kernel, JITFunction):  # under @autotune and @heuristics
        kernel = kernel.fn
    if not isinstance(kernel, JITFunction):
        raise TypeError(f"{args.kernel_name} is not a kernel of nacre; does the file import another triton?")
    out_name = args.out_name or args.kernel_name
    out_path = Path(args.out_path or out_name)
    meta = f"warps{args.num_warps}xstages{args.num_stages}"
    function, files = _core.export_kernel(
        kernel, args.signature, out_name, out_path.name, args.grid, meta, device, architecture, args.num_warps, args.num_stages
    )
    paths = [out_path.parent / name for name, _ in files]
    for path, (_, content) in zip(paths, files):
        path.write_bytes(content)
    return function, paths[:3]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="compile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="the Python file that defines the kernel; it is run")
    parser.add_argument("--kernel-name", "-n", required=True, help="the kernel")
    parser.add_argument("--signature", "-s", required=True, help="its arguments' types and constants")
    parser.add_argument("--grid", "-g", default="", help="one to three expressions in C over the parameters and integer constants, "
                        "separated by commas; left out, the function takes the grid as its first three parameters")  # fmt: skip
    parser.add_argument("--out-name", "-on", help="what the C function's name begins with (default: the kernel's name)")
    parser.add_argument("--out-path", "-o", type=Path, help="where the files go, and what their names begin with (default: --out-name)")
    parser.add_argument("--target", "-t", help="cpu, for this machine (the default), cpu:NAME as LLVM names it (cpu:x86-64-v3), or a GPU: cuda:90")
    parser.add_argument("--num-warps", "-w", type=int, default=1, help="how many warps of a GPU run a program; part of the variant's name")
    parser.add_argument("--num-stages", "-ns", type=int, default=3, help="how deep a GPU's loops load ahead; part of the variant's name")
    args = CompileArgs(**vars(parser.parse_args(arguments)))

    from nacre import activate  # by its full name: this file is also run as a script
    from nacre.errors import TritonError

    activate()
    try:
        function, _ = compile_kernel(args)
    except (TritonError, ValueError, TypeError, OSError) as error:
        print(f"compile: {error}", file=sys.stderr)
        return 1
    print(function)
    return 0


if __name__ == "__main__":
    sys.exit(main())
