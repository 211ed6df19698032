"""How the time of a compile grows with the kernel: each family of kernels at sizes n, 2n and 4n.

    nacre run bench/compile_scaling.py [--only TEXT] [--repetitions N]

Twice the size should take about twice the time; a ratio above 2.3 is marked. Times are of compiling alone (the front end up to object
code), the smallest of a few, with the time of an empty kernel taken away.
"""

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

LARGEST_RATIO = 2.3
HEAD = "import triton\nimport triton.language as tl\n\n\n"


def kernel(*body, before="", tile=64):
    lines = [f"i = tl.arange(0, {tile})", "a = tl.load(x + i)", *body, "tl.store(y + i, a)"]
    return HEAD + before + "@triton.jit\ndef kernel(x, y, n):\n" + "".join(f"    {line}\n" for line in lines)


def chain(n):
    return kernel(*(f"a = a * 1.5 + {k % 7}.0" for k in range(n)))


def scalars(n):
    return kernel("s = n", *["s = s * s + s"] * n, "a += tl.load(x + (i + s) % 64)")


def loads(n):
    return kernel(*(f"a += tl.load(x + i + {k})" for k in range(n)))


def loads_and_stores(n):
    return kernel(*(f"tl.store(y + i + {k}, tl.load(x + i + {k}) + 1)" for k in range(n)))


def carried(n):
    before = [f"c{k} = a + {k}.0" for k in range(n)]
    inside = [f"    c{k} = c{k} * 1.5 + c{(k + 1) % n}" for k in range(n)]
    return kernel(*before, "for t in range(n):", *inside, *(f"a += c{k}" for k in range(n)))


def branches(n):
    return kernel(*(line for k in range(n) for line in (f"if tl.load(x + {k}) > {k}:", f"    a += {k}")))


def nested_branches(n):
    return kernel(*("    " * k + f"if tl.load(x + {k}) > {k}:" for k in range(n)), "    " * n + "a += 1")


def unrolled(n):
    return kernel(f"for k in tl.static_range({n}):", "    a = tl.exp(a) + tl.sin(a)")


def reductions(n):
    return kernel(*(f"a = a - tl.sum(a) + {k}" for k in range(n)))


def dots(n):
    return kernel("o = i[:, None] * 32 + i[None, :]", "m = tl.load(x + o)", "c = m", f"for k in tl.static_range({n}):",
                  "    c = tl.dot(c, m)", "tl.store(y + o, c)", tile=32)  # fmt: skip


def calls(n):
    helper = "@triton.jit\ndef helper(v, k):\n    if k > 3:\n        v = v * 2\n    return v + k\n\n\n"
    return kernel(*(f"a = helper(a, {k})" for k in range(n)), before=helper)


def wide(n):
    """Wider tiles are longer loops, not more code."""
    return kernel("a = tl.exp(a) + tl.sum(a)", "a = tl.cumsum(a)", tile=n)


def lines(n):
    """A long file of which the kernel is a small part."""
    return kernel("a += 1", before="".join(f"x{k} = {k}\n" for k in range(n)) + "\n\n")


FAMILIES = {
    chain: 1000, scalars: 250, loads: 250, loads_and_stores: 200, carried: 32, branches: 100, nested_branches: 20, unrolled: 32, reductions: 100,
    dots: 16, calls: 250, wide: 4096, lines: 10000,
}  # fmt: skip


class Compiler:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.count = 0

    def milliseconds(self, text):
        """The time from the kernel's text to object code, of a kernel that was never compiled before."""
        import numpy

        self.count += 1
        path = self.folder / f"kernel_{self.count}.py"
        path.write_text(text + f"# {self.count}\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        arrays = [numpy.zeros(16, numpy.float32) for _ in range(2)]
        start = time.process_time()
        module.kernel.warmup(*arrays, 1 << 20, grid=(1,))
        return (time.process_time() - start) * 1e3


def measure(family, size, compiler, repetitions, base):
    times = []
    for n in (size, 2 * size, 4 * size):
        text = family(n)
        times.append(max(min(compiler.milliseconds(text) for _ in range(repetitions)) - base, 0.1))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="families whose name holds the text")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    steep = 0
    with tempfile.TemporaryDirectory(prefix="nacre-scaling-") as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        compiler = Compiler(folder)
        compiler.milliseconds(kernel())
        base = min(compiler.milliseconds(kernel()) for _ in range(5))
        print(f"an empty kernel: {base:.1f} ms, taken away below")
        print("| kernel | n | ms at n | ms at 2n | ms at 4n | ratio | ratio |\n|---|---|---|---|---|---|---|")
        for family, size in FAMILIES.items():
            if options.only not in family.__name__:
                continue
            first, second, third = measure(family, size, compiler, options.repetitions, base)
            ratios = [second / first, third / second]
            # what takes no time to speak of does not grow
            too_steep = [ratio > LARGEST_RATIO and time > base for ratio, time in zip(ratios, (second, third))]
            steep += sum(too_steep)
            shown = [f"{ratio:.2f}{' STEEP' if bad else ''}" for ratio, bad in zip(ratios, too_steep)]
            row = [family.__name__, str(size), *(f"{t:.1f}" for t in (first, second, third)), *shown]
            print(f"| {' | '.join(row)} |", flush=True)
    print(f"{steep} ratios above {LARGEST_RATIO}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
