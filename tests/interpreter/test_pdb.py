"""A debugger inside a kernel: it stops at the kernel's own lines, steps through them and into helpers, and shows tiles."""

import re
import sys

# From 3.13 on a breakpoint in the text stops at its own line, not at the next.
OWN_LINE = sys.version_info >= (3, 13)

SCRIPT = """\
import nacre; nacre.activate()
import numpy as np
import triton
import triton.language as tl


@triton.jit
def square(x):
    result = x * x
    return result


@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    {stop}
    y = square(x)
    scale = 3
    tl.store(out_ptr + offsets, y * scale)


x = np.arange(8, dtype=np.int32)
out = np.zeros(8, dtype=np.int32)
kernel[(2,)](x, out, BLOCK=4)
print("result", out.tolist())
"""


def stops(output, script):
    """The lines at which pdb stopped: (line, function)."""
    return [(int(line), name) for line, name in re.findall(rf"> {re.escape(str(script))}\((\d+)\)(\w+)\(\)", output)]


def test_step_print_and_continue(run_script):
    commands = ["n"] * OWN_LINE + ["p x", "p offsets + 100", "p BLOCK", "n", "p y", "n", "p scale", "p scale.dtype", "c", "p x", "c"]
    output, script = run_script(SCRIPT.format(stop="breakpoint()"), "\n".join(commands) + "\n", TRITON_INTERPRET="1")
    first = [(17, "kernel")] * OWN_LINE
    assert stops(output, script) == [*first, (18, "kernel"), (19, "kernel"), (20, "kernel"), *(first or [(18, "kernel")])]
    assert "-> y = square(x)" in output  # the kernel's own text
    shown = re.findall(r"\(Pdb\) (tensor\(.*\)|\d+|triton\S+)", output)
    assert shown == [
        "tensor([0 1 2 3], int32)", "tensor([100 101 102 103], int32)", "4", "tensor([0 1 4 9], int32)", "tensor(3, int32)",
        "triton.language.int32", "tensor([4 5 6 7], int32)",
    ]  # fmt: skip
    assert output.rstrip().endswith("result [0, 3, 12, 27, 48, 75, 108, 147]")


def test_step_into_a_helper(run_script):
    commands = ["n"] * OWN_LINE + ["s", "s", "n", "p result", "up", "p x", "c", "c"]
    output, script = run_script(SCRIPT.format(stop="import pdb; pdb.set_trace()"), "\n".join(commands) + "\n", TRITON_INTERPRET="1")
    seen = stops(output, script)[OWN_LINE:][:4]
    assert seen == [(18, "kernel"), (8, "square"), (9, "square"), (10, "square")]
    assert "tensor([0 1 4 9], int32)" in output and "tensor([0 1 2 3], int32)" in output


def test_a_variable_can_be_changed(run_script):
    output, script = run_script(SCRIPT.format(stop="breakpoint()"), "!x = x + 10\nc\nc\n", TRITON_INTERPRET="1")
    assert output.rstrip().endswith(str([3 * v * v for v in (10, 11, 12, 13, 4, 5, 6, 7)]))


def test_a_breakpoint_by_line(run_script):
    output, script = run_script(SCRIPT.format(stop="pass"), "b 19\nc\np y\ncl 1\nc\nq\n", check=False, module="pdb", TRITON_INTERPRET="1")
    assert (19, "kernel") in stops(output, script), output
    assert "tensor([0 1 4 9], int32)" in output


def test_post_mortem(run_script):
    text = SCRIPT.format(stop="tl.static_assert(BLOCK == 5, 'five')").replace(
        "kernel[(2,)](x, out, BLOCK=4)", "import pdb\ntry:\n    kernel[(2,)](x, out, BLOCK=4)\nexcept Exception:\n    pdb.post_mortem()"
    )
    output, script = run_script(text, "p x\np x.sum()\nc\n", TRITON_INTERPRET="1")
    assert stops(output, script) == [(17, "kernel")]
    assert "tensor([0 1 2 3], int32)" in output and "tensor(6, int32)" in output


CONDITIONAL = SCRIPT.replace("import numpy as np", "import numpy as np\nfrom nacre.tools.debug import breakpoint_if, print_if")


def test_breakpoint_if_and_print_if(run_script):
    lines = ['print_if(f"{x = }", "<1")', 'print_if("never", ">5")', 'print_if("both", ">=0,=0")', 'breakpoint_if("=1")']
    output, script = run_script(CONDITIONAL.format(stop="\n    ".join(lines)), "p x\nc\n", TRITON_INTERPRET="1")
    assert stops(output, script) == [(21 if OWN_LINE else 22, "kernel")]
    assert output.count("x = tensor([0 1 2 3], int32)") == 1 and "tensor([4 5 6 7], int32)" in output
    assert output.count("both") == 2 and "never" not in output


LOOP = """\
import nacre; nacre.activate()
import numpy as np
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(3):
        total += x * i
    y = tl.softmax(total) + tl.max(total)
    last = y[0] if n > 3 else y[1]
    tl.store(out_ptr + offsets, y, mask=offsets < n)


x = np.arange(8, dtype=np.float32)
out = np.zeros(8, dtype=np.float32)
kernel[(2,)](x, out, 8, BLOCK=4)
"""


def test_steps_pass_over_the_library(run_script):
    output, script = run_script(LOOP, "b 14\nc\ns\ns\np last\nq\n", check=False, module="pdb", TRITON_INTERPRET="1")
    assert stops(output, script) == [(14, "kernel"), (15, "kernel"), (16, "kernel")], output
    assert "--Call--" not in output


def test_display_follows_a_tile(run_script):
    output, script = run_script(LOOP, "b 12\nc\ndisplay total\nn\nn\nn\nn\nq\n", check=False, module="pdb", TRITON_INTERPRET="1")
    assert "display total: tensor([0. 0. 0. 0.], fp32)" in output
    assert "display total: tensor([0. 1. 2. 3.], fp32)  [old: tensor([0. 0. 0. 0.], fp32)]" in output, output


def test_a_breakpoint_with_a_condition_on_tiles(run_script):
    commands = "b 13, i == 2\nc\np i, total\ncl 1\nb 16, y > 15\nc\np tl.program_id(0)\nq\n"
    output, script = run_script(LOOP, commands, check=False, module="pdb", TRITON_INTERPRET="1")
    assert "(tensor(2, int32), tensor([0. 1. 2. 3.], fp32))" in output, output
    assert stops(output, script) == [(13, "kernel"), (16, "kernel")]
    assert "tensor(1, int32)" in output  # no element of the first program's is above 15


def test_only_the_kernels_own_variables_are_seen(run_script):
    output, script = run_script(LOOP, "b 15\nc\np sorted(locals())\na\nuntil\nr\nq\n", check=False, module="pdb", TRITON_INTERPRET="1")
    assert "['BLOCK', 'i', 'n', 'offsets', 'out_ptr', 'total', 'x', 'x_ptr', 'y']" in output, output
    assert "n = tensor(8, int32)\nBLOCK = 4" in output
    assert stops(output, script)[1:3] == [(16, "kernel"), (16, "kernel")] and "--Return--" in output


def test_a_condition_in_the_kernel_is_still_one_element(run_script):
    text = LOOP.replace("last = y[0] if n > 3 else y[1]", "last = 1 if y > 3 else 0")
    output, script = run_script(text, check=False, TRITON_INTERPRET="1")
    assert "a condition must be a scalar, not int1 tensor of shape [4]" in output
    assert re.search(r"    last = 1 if y > 3 else 0\n {11}( {5})?\^~", output)  # the whole expression, or from 3.12 on its condition
