"""Runs every example and ends with a table. `make demo` runs it through `nacre run`.

Without PyTorch only the NumPy example can run, and that is said aloud. The language model is compared with transformers where that is installed.
"""

import argparse
import importlib
import importlib.util
import sys
import traceback

NEEDS_TORCH = (
    "vector_add", "memory_copy", "greyscale", "softmax", "layer_norm", "rms_norm", "gelu", "swiglu", "rotary",
    "matmul", "dequantize", "attention", "llm",
)  # fmt: skip
NEEDS_NUMPY = ("numpy_arrays",)


def summary(rows):
    lines = [f"{'example':<44} {'max error':>10} {'first ms':>9} {'ours ms':>9} {'torch ms':>9} {'torch/ours':>10}"]
    for row in rows:
        lines.append(
            f"{row.name:<44} {row.error:>10.2e} {row.first_ms:>9.1f} {row.ours_ms:>9.3f} {row.torch_ms:>9.3f} "
            f"{row.torch_ms / row.ours_ms:>10.2f}"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Runs the examples, checked and timed, and ends with a table.")
    parser.add_argument("names", nargs="*", metavar="name", help="examples to run (all of them): " + ", ".join(NEEDS_NUMPY + NEEDS_TORCH))
    asked = parser.parse_args().names
    if unknown := set(asked) - {*NEEDS_NUMPY, *NEEDS_TORCH}:
        parser.error(f"there is no example {min(unknown)}")
    examples = [name for name in NEEDS_NUMPY + NEEDS_TORCH if not asked or name in asked]
    if not importlib.util.find_spec("torch"):
        if skipped := [name for name in examples if name in NEEDS_TORCH]:
            print("skipped, they compare with PyTorch and it is not installed:", ", ".join(skipped))
        examples = [name for name in examples if name in NEEDS_NUMPY]
    failed = []
    for name in examples:
        try:
            importlib.import_module(name).main()
        except Exception:
            traceback.print_exc()
            failed.append(name)
    if "compare" in sys.modules:
        print("\n" + summary(sys.modules["compare"].rows))
    print(f"\n{len(examples) - len(failed)} of {len(examples)} examples right" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
