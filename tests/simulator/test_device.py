"""Every instruction gives the bits that an H200 gave; approximations stay within their stated bounds.

device/record.py made the results on the GPU, device/pack.py the file that is read here.
"""

from pathlib import Path

import numpy as np
import pytest

import nacre.simulator as simulator
from pack import digest
from programs import programs

PROGRAMS = {program.name: program for program in programs()}
with np.load(Path(__file__).parent / "device" / "recorded.npz") as file:
    RECORDED = {name: file[name] for name in file.files}
EXACT = dict(zip(RECORDED["names"].tolist(), RECORDED["digests"]))
APPROXIMATE = {name.removeprefix("output "): output for name, output in RECORDED.items() if name.startswith("output ")}


def test_every_program_was_run_on_the_gpu():
    assert [name for name in PROGRAMS if name not in EXACT and name not in APPROXIMATE] == []


def simulate(program):
    output = np.zeros(program.output_bytes, np.uint8)
    inputs = [array.copy() for array in program.inputs]
    if program.maps:
        fields = program.maps[0]
        tensor = simulator.TensorMap(
            output if fields["store"] else inputs[0], fields["box"][::-1], swizzle=fields["swizzle"], fill_nan=fields["fill_nan"], dtype=fields["dtype"],
            sizes=fields["sizes"][::-1], strides=fields["strides"][::-1],
        )  # fmt: skip
        arguments = [tensor, output, inputs[1]]
    else:
        arguments = [*inputs, output]
    report = simulator.run(program.ptx, "k", program.grid, program.block, arguments)
    assert report.clean, str(report)
    return output


@pytest.mark.parametrize("name", EXACT)
def test_equal_bits(name):
    assert (digest(simulate(PROGRAMS[name])) == EXACT[name]).all()


def as_float(output, kind):
    if kind == "b2":
        return (output.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return output.view({"f2": np.float16, "f4": np.float32, "f8": np.float64}[kind]).astype(np.float64)


def units(kind, value):
    """The distance of neighbouring numbers at a value."""
    mantissa, smallest = {"f2": (10, -14), "b2": (7, -126), "f4": (23, -126), "f8": (20, -1022)}[kind]  # f8: the upper word alone
    exponent = np.maximum(np.frexp(np.abs(value))[1] - 1, smallest)
    return np.exp2(exponent - float(mantissa))


@pytest.mark.parametrize("name", APPROXIMATE)
def test_within_bounds(name):
    program = PROGRAMS[name]
    ours, theirs = as_float(simulate(program), program.kind), as_float(APPROXIMATE[name], program.kind)
    assert (np.isnan(ours) == np.isnan(theirs)).all()
    assert (np.isinf(ours) == np.isinf(theirs)).all()
    finite = np.isfinite(theirs)
    with np.errstate(invalid="ignore"):
        difference, unit = np.abs(ours - theirs)[finite], units(program.kind, theirs)[finite]
    allowed = {"ex2": 2, "rcp": 1, "rsqrt": 1, "sqrt": 1, "div": 2, "half": 1}.get(program.bound)
    if allowed is not None:
        assert (difference <= allowed * unit).all()
    elif program.bound in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"):
        assert (difference <= unit).all()
    elif program.bound == "tanh":
        assert (difference <= 2.0**-16 * np.abs(theirs)[finite] + 2.0**-24).all()
    elif program.bound == "lg2":
        x = program.inputs[0].view(np.float32).astype(np.float64)[finite]
        assert (difference <= np.where((x >= 0.5) & (x <= 2), 2.0**-22, 2.0**-22 * np.abs(theirs[finite]))).all()
    else:
        assert program.bound in ("sin", "cos")
        x = np.abs(program.inputs[0].view(np.float32).astype(np.float64))[finite]
        assert (difference[x <= 3.1416] <= 2.0**-21).all()
        assert (difference[x <= 1000] <= 1e-4).all()  # the hardware reduces large arguments coarsely
