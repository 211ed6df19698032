"""The disassembly of kernels, with the lines they come from."""

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.tools import disasm


@nacre.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, value * 3.0, mask=offsets < n)


@pytest.fixture
def compiled():
    x = np.zeros(64, np.float32)
    return kernel[(1,)](x, x, 64, BLOCK=64)


def test_instructions_stand_under_their_lines(compiled):
    text = disasm.disassembly(compiled)
    lines = text.splitlines()
    assert lines[0] == "Function:kernel" and text == disasm.get_sass(compiled.asm["obj"])
    sources = [line for line in lines if line.startswith("; ")]
    assert any("value = tl.load(x + offsets, mask=offsets < n)" in line for line in sources)
    multiply = next(index for index, line in enumerate(lines) if "mulps" in line)
    above = next(line for line in reversed(lines[:multiply]) if line.startswith("; "))
    assert f"{__file__}:" in above and "tl.store(out + offsets, value * 3.0" in above
    assert lines[-1] == "\tretq"


def test_branches_have_labels(compiled):
    lines = disasm.disassembly(compiled).splitlines()
    labels = {line[:-1] for line in lines if line.startswith("L") and line.endswith(":")}
    jumps = [line.split() for line in lines if line.startswith("\tj")]
    assert jumps and labels and all(jump[1] in labels for jump in jumps)
    assert labels == {jump[1] for jump in jumps}


def test_one_function_of_a_file(compiled, tmp_path):
    path = tmp_path / "kernel.o"
    path.write_bytes(compiled.asm["obj"])
    assert disasm.extract(path, "kernel") == disasm.extract(path)
    with pytest.raises(ValueError, match="no function `missing`"):
        disasm.extract(path, "missing")


@pytest.mark.parametrize("data", [b"", b"not an object file", b"\x7fELF" + b"\0" * 100])
def test_what_is_no_object(data):
    with pytest.raises(ValueError, match="cannot be disassembled"):
        disasm.get_sass(data)


def test_the_command_line(compiled, tmp_path, capsys):
    path = tmp_path / "kernel.o"
    path.write_bytes(compiled.asm["obj"])
    assert disasm.main([str(path)]) == 0 and capsys.readouterr().out.startswith("Function:kernel\n")
    assert disasm.main([str(path), "missing"]) == 1 and "missing" in capsys.readouterr().err
    assert disasm.main([]) == 2 and "usage" in capsys.readouterr().err
    assert disasm.main(["--help"]) == 0 and capsys.readouterr().out.startswith("usage")
    assert disasm.main(["--frobnicate", str(path)]) == 2 and "no option --frobnicate" in capsys.readouterr().err
