"""Runs every example and ends with a table. `make demo` runs it through `nacre run`.

Without PyTorch only the NumPy example can run, and that is said aloud.
"""

import importlib
import importlib.util
import sys
import traceback

NEEDS_TORCH = (
    "vector_add", "memory_copy", "greyscale", "softmax", "layer_norm", "rms_norm", "gelu", "swiglu", "rotary",
    "matmul", "dequantize", "attention",
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
    examples = list(NEEDS_NUMPY)
    if importlib.util.find_spec("torch"):
        examples += NEEDS_TORCH
    else:
        print("skipped, they compare with PyTorch and it is not installed:", ", ".join(NEEDS_TORCH))
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
