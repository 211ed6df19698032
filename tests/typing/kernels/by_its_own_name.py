"""The same under the package's own name."""

import nacre
import nacre.language as tl
import nacre.profiler
import nacre.simulator
import nacre.testing
import numpy as np


@nacre.autotune([nacre.Config({"BLOCK": 128}), nacre.Config({"BLOCK": 1024}, num_warps=8)], key=["count"])
@nacre.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def main():
    nacre.activate()
    x = np.ones(1000, np.float32)
    out = np.empty_like(x)
    add[lambda meta: (nacre.cdiv(x.size, meta["BLOCK"]),)](x, x, out, x.size)
    nacre.testing.assert_close(out, x + x)
    nacre.knobs.runtime.interpret = False
    with nacre.profiler.scope("add"):
        add[(8,)](x, x, out, x.size)
    report = nacre.simulator.run("...", "add", grid=4, block=(256, 1), args=[x, x, out, 1000], schedule="random", seed=1)
    for finding in report.findings:
        print(finding.kind, finding.line, finding.message)
    assert report.clean and report.counters
