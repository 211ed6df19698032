"""The stages that docs/how-it-works.md shows are what the compiler writes:

    stages.py            compiles the page's kernel and writes every stage into the page again
    stages.py --check    fails when the page is out of step

A comment before a block of code says what it shows: the target, the stage, the lines to keep (from a line that one expression finds
to a line that another finds) and, after `without`, the lines to leave out:

    <!-- stage cpu:x86-64-v3 asm `first` to `last`, `first` to `last` without `expression` -->

"..." stands for lines between those that are kept.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-it-works.md"
KERNEL, SIGNATURE = "scaled_sum", "*fp32:16,*fp32:16,fp32,i32:16,1024"
BLOCK = re.compile(
    r"<!-- stage (?P<target>\S+) (?P<stage>\S+)(?P<lines>.*?)(?: without `(?P<without>.*?)`)? -->\n```(?P<name>\w*)\n.*?^```$",
    re.MULTILINE | re.DOTALL,
)


def compiled(folder, target, stage):
    command = [sys.executable, "-m", "nacre", "compile", "row_sum.py", "--kernel", KERNEL, "--signature", SIGNATURE]
    command += ["--target", target, "--emit", stage]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def find(lines, expression, begin):
    for number in range(begin, len(lines)):
        if re.search(expression, lines[number]):
            return number
    raise SystemExit(f"docs/how-it-works.md: no line after line {begin} matches {expression}")


def excerpt(text, ranges, without):
    """The lines of the ranges, each a pair of expressions, or all lines."""
    lines = [line for line in text.rstrip("\n").expandtabs(4).splitlines() if not (without and re.search(without, line))]
    if not ranges:
        return "\n".join(lines)
    kept, end = [], 0
    for first, last in ranges:
        begin = find(lines, first, end)
        if begin > end:
            kept.append("...")
        end = find(lines, last, begin) + 1
        kept += lines[begin:end]
    return "\n".join(kept + ["..."] * (end < len(lines)))


def page(text):
    """The page with every stage compiled again."""
    kernel = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "row_sum.py").write_text(kernel)

        def block(match):
            ranges = re.findall(r"`(.*?)` to `(.*?)`", match["lines"])
            shown = excerpt(compiled(folder, match["target"], match["stage"]), ranges, match["without"])
            return f"{match[0].partition(' -->')[0]} -->\n```{match['name']}\n{shown}\n```"

        return BLOCK.sub(block, text)


def main():
    text = PAGE.read_text()
    written = page(text)
    if "--check" not in sys.argv:
        PAGE.write_text(written)
    elif written != text:
        raise SystemExit("docs/how-it-works.md is out of step with the compiler: run make docs")


if __name__ == "__main__":
    main()
