"""Ctrl-C ends a simulated launch, whichever way it was started: a script on the simulated device, the interface in Python, the command."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

HEAD = """
import os, signal, threading, time
import numpy as np
import nacre as triton
import nacre.language as tl
import nacre.simulator

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the parent ignores it, so would we
x = np.zeros(64, np.int32)


def interrupt_when_it_runs():
    while not x.any():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(launch):
    x[:] = 0
    threading.Thread(target=interrupt_when_it_runs, daemon=True).start()
    try:
        launch()
    except KeyboardInterrupt:
        return True
    return False
"""
DEVICE = HEAD + """
@triton.jit
def long_kernel(x, n, first):
    if tl.program_id(0) >= first:
        tl.store(x + 32 + tl.program_id(0), 1)
        i, mixed = 0, 0
        while i < n:
            mixed = (mixed ^ i) * 3 + 1
            i += 1
        tl.store(x + 48 + tl.program_id(0), mixed)
    tl.store(x + 2 + tl.program_id(0), 7)


assert interrupted(lambda: long_kernel[({grid},)](x, 2**30, {first}))
x[:] = 0
long_kernel[(4,)](x, 1, 0)  # the next launch is as any other
assert (x[2:6] == 7).all() and not x[6:32].any()
print("fine")
"""
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .global .u32 running;
.visible .entry endless()
{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
mov.u32 %r1, 1; st.global.u32 [running], %r1;
AGAIN: add.u32 %r1, %r1, 2; setp.ne.u32 %p1, %r1, 0;
@%p1 bra AGAIN;
ret;
}
"""
INTERFACE = HEAD + f"""
PTX = '''{PTX}'''
module = nacre.simulator.load(PTX)
x = module.variable("running", "int32")  # arrays are copied, a module's variables are not
assert interrupted(lambda: module.run("endless", 3, 64, [], schedule=SCHEDULE, threads=THREADS))
assert interrupted(lambda: module.run("endless", 1, 32, []))
print("fine")
"""


def run(folder, text, **environment):
    (folder / "script.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "nacre", "run", "script.py"], cwd=folder, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "TRITON_CACHE_DIR": str(folder / "cache"), **environment})  # fmt: skip
    assert done.stdout == "fine\n", done.stdout + done.stderr


@pytest.mark.parametrize("grid, first", [(1, 0), (8, 0), (8, 7)], ids=["one", "many", "only-another-thread"])
def test_a_launch_on_the_simulated_device(tmp_path, grid, first):
    run(tmp_path, DEVICE.format(grid=grid, first=first), NACRE_DEVICE="simulate")


@pytest.mark.parametrize("schedule, threads", [("fixed", 1), ("fixed", 3), ("random", 1)])
def test_the_interface(tmp_path, schedule, threads):
    run(tmp_path, f"SCHEDULE, THREADS = {schedule!r}, {threads}\n{INTERFACE}")


def catches_interrupts(process):
    caught = re.search(r"^SigCgt:\s*(\w+)", open(f"/proc/{process.pid}/status").read(), re.MULTILINE)[1]
    return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc")
def test_the_command(tmp_path):
    (tmp_path / "endless.ptx").write_text(PTX)
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from nacre._command_line import main; main()"
    process = subprocess.Popen([sys.executable, "-c", start, "simulate", "endless.ptx", "--block", "32", "--args", ""], cwd=tmp_path)
    try:
        for state in (True, False):  # Python has started; then the command leaves Ctrl-C to the system
            while process.poll() is None and catches_interrupts(process) is not state:
                time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == -signal.SIGINT
    finally:
        process.kill()
