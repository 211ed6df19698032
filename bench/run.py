"""`make bench`: our kernels beside their peers, measured in the same run, one after the other, with two threads.

    nacre run bench/run.py [--only TEXT] [--quick] [--write] [--skip throughput|interpreter|latency|tuning ...]

The ratio is the better peer's time over ours: above 1 we are faster. --only keeps the rows whose key holds the text (matmul,
softmax, latency, ...). --write puts the tables in bench/RESULTS.md.
"""

import argparse
import datetime
import os
import platform
import sys
from pathlib import Path

THREADS = 2
os.environ.setdefault("NACRE_NUM_THREADS", str(THREADS))
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]

INTERPRETER_KEYS = ("vector_add", "softmax", "layer_norm", "gelu", "greyscale", "matmul", "attention")


def machine():
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    flags = Path("/proc/cpuinfo").read_text()
    width = "AVX-512" if " avx512f" in flags else "AVX2" if " avx2" in flags else "SSE"
    return f"{model}, {os.cpu_count()} cores, {width}"


def mark(passed):
    return "yes" if passed else "NO"


def throughput_table(rows):
    lines = ["| kernel | block | ours ms | eager ms | compiled ms | ratio | target | reached |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        compiled = f"{row.peers_ms['compiled']:.3f}" if "compiled" in row.peers_ms else "-"
        lines.append(
            f"| {row.name} | {row.block} | {row.ours_ms:.3f} | {row.peers_ms['eager']:.3f} | {compiled} "
            f"| {row.ratio:.2f} | {row.target:.2f} | {mark(row.passed)} |"
        )
    return lines


def interpreter_table(rows):
    lines = ["| kernel | ours ms | Triton's interpreter ms | ratio | target | reached |", "|---|---|---|---|---|---|"]
    for row in rows:
        theirs = row.peers_ms["interpreter"]
        lines.append(f"| {row.name} | {row.ours_ms:.3f} | {theirs:.1f} | {row.ratio:.0f} | {row.target} | {mark(row.passed)} |")
    return lines


def latency_table(rows):
    lines = ["| what | measured | target | reached |", "|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.name} | {row.value:.2f} {row.unit} | {row.target:.4g} {row.unit} | {mark(row.passed)} |")
    return lines


ELSEWHERE = ("Kernels of every kind", "torch.compile beside Inductor's C++", "What the sanitizers cost", "The PTX simulator", "Beside Triton on an H200",
             "Operators of nacre.kernels", "Attention, products and sampling of nacre.kernels")  # fmt: skip


def measured_elsewhere(text):
    """The sections of RESULTS.md that other programs measure: on a GPU, the simulator."""
    sections = ["\n## " + section.rstrip("\n") + "\n" for section in text.split("\n## ")[1:]]
    return "".join(section for section in sections if section[4:].split("\n")[0] in ELSEWHERE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose key holds this text")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--write", action="store_true", help="write bench/RESULTS.md")
    parser.add_argument("--skip", nargs="*", default=[], choices=["throughput", "interpreter", "latency", "tuning"])
    options = parser.parse_args()

    try:
        import torch
    except ImportError:
        print("skipped: every row is measured beside PyTorch, which is not installed")
        return 0
    torch.set_num_threads(THREADS)
    import interpreter
    import latency
    import throughput
    import triton

    notes = []

    def say(text):
        notes.append(text)
        print(text, file=sys.stderr, flush=True)

    sections = []

    def show(title, rows, table):
        if rows:
            sections.append((title, table(rows), rows))
            print(f"\n{title}\n" + "\n".join(table(rows)), flush=True)

    if "throughput" not in options.skip:
        rows = []
        for key in throughput.CASES:
            if options.only in key:
                print(f"measuring {key} ...", file=sys.stderr, flush=True)
                rows += throughput.measure(key, 3 if options.quick else 10, 0.5 if options.quick else 3.0, say)
        show("Beside PyTorch", rows, throughput_table)
    if "interpreter" not in options.skip:
        keys = [key for key in INTERPRETER_KEYS if options.only in key or options.only in "interpreter"]
        if keys:
            print("measuring Triton's interpreter ...", file=sys.stderr, flush=True)
        show("Beside Triton's interpreter, small sizes", interpreter.measure(keys, say), interpreter_table)
    if "latency" not in options.skip and options.only in "latency":
        print("measuring latency ...", file=sys.stderr, flush=True)
        show("Latency and code size", latency.measure(2 if options.quick else 5), latency_table)
    if "tuning" not in options.skip and options.only in "tuning":
        import tuning

        print("measuring tuning ...", file=sys.stderr, flush=True)
        show("Tuning", tuning.measure(1 if options.quick else 3), latency_table)

    everything = [row for _, _, rows in sections for row in rows]
    reached = sum(row.passed for row in everything)
    print(f"\n{reached} of {len(everything)} targets reached")
    if options.write:
        head = [
            "# Benchmark results", "",
            f"- machine: {machine()}; {THREADS} threads for everybody",
            f"- date: {datetime.date.today().isoformat()}",
            f"- versions: Python {platform.python_version()}, torch {torch.__version__}, nacre {getattr(triton, '__nacre_version__', triton.__version__)}",
            f"- command: `make bench ARGS='{' '.join(sys.argv[1:])}'`",
            "- ratio: the better peer's time over ours; contenders run in turn, the smallest times are compared",
        ]  # fmt: skip
        body = [line for title, table, _ in sections for line in ("", f"## {title}", "", *table)]
        tail = ["", f"{reached} of {len(everything)} targets reached.", *(f"\nNote: {note}" for note in notes)]
        file = ROOT / "bench" / "RESULTS.md"
        file.write_text("\n".join(head + body + tail) + "\n" + measured_elsewhere(file.read_text() if file.exists() else ""))
        print(f"written: {ROOT / 'bench' / 'RESULTS.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
