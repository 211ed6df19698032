"""What only a GPU and torch with CUDA can show: graphs, streams, threads, forks, launches that overlap, C, torch.compile. Each runs in a process
of its own."""

import shutil
import subprocess
import sys

import pytest


def has_gpu():
    program = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=600).returncode == 0


@pytest.fixture(scope="module", autouse=True)
def gpu():
    if not shutil.which("nvidia-smi") or not has_gpu():
        pytest.skip("there is no GPU here, or no torch that uses it")


KERNELS = """
import os
import threading
import torch
import nacre
import nacre.language as tl

@nacre.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

@nacre.jit
def add_late(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    other = tl.load(y + offsets, mask=mask)
    tl.extra.cuda.gdc_wait()
    value = tl.load(x + offsets, mask=mask)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out + offsets, value + other, mask=mask)

n = 100001
grid = ((n + 1023) // 1024,)
x, y, out = torch.randn(n, device="cuda"), torch.randn(n, device="cuda"), torch.zeros(n, device="cuda")
"""


@pytest.fixture
def run(run_script):
    def script(text):
        process = run_script(KERNELS + text)
        assert process.returncode == 0, process.stderr
        return process.stdout

    return script


def test_a_graph_holds_launches(run):
    assert run("""
add[grid](x, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
out.zero_()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    add[grid](x, y, out, n, BLOCK=1024)
    add[grid](out, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
print(bool((out == 0).all()))
x.fill_(1)
graph.replay()
torch.cuda.synchronize()
print(torch.equal(out, x + y + y))
""") == "True\nTrue\n"  # fmt: skip


def test_the_first_launch_may_be_captured(run):
    assert run("""
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    add[grid](x, y, out, n, BLOCK=1024)
graph.replay()
torch.cuda.synchronize()
print(torch.equal(out, x + y))
""") == "True\n"  # fmt: skip


def test_launches_go_to_torchs_stream(run):
    assert run("""
add[grid](x, y, out, n, BLOCK=1024)
out.zero_()
torch.cuda.synchronize()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    torch.cuda._sleep(200_000_000)
    x.fill_(7)
    add[grid](x, y, out, n, BLOCK=1024)
before = out.clone()  # on the default stream, where nothing waits
stream.synchronize()
print(bool((before == 0).all()), torch.equal(out, y + 7))
""") == "True True\n"  # fmt: skip


def test_threads_with_streams_of_their_own(run):
    assert run("""
right = []
def work(number):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b = torch.full((n,), float(number), device="cuda"), torch.zeros(n, device="cuda")
        for _ in range(200):
            add[grid](a, b, b, n, BLOCK=1024)
        stream.synchronize()
        right.append(bool((b == 200 * number).all()))
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(right == [True] * 8)
""") == "True\n"  # fmt: skip


def test_a_child_after_fork_is_told_to_spawn(run):
    assert run("""
add[grid](x, y, out, n, BLOCK=1024)
torch.cuda.synchronize()
pid = os.fork()
if pid == 0:
    try:
        add[grid](x, y, out, n, BLOCK=1024)
    except Exception as error:
        print("spawn" in str(error), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
add[grid](x, y, out, n, BLOCK=1024)
print(torch.equal(out, x + y))
""") == "True\nTrue\n"  # fmt: skip


def test_launches_that_overlap_keep_their_order(run):
    assert run("""
one = torch.ones(n, device="cuda")
for kernel in (add, add_late):
    a, b = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
    for _ in range(500):
        kernel[grid](a, one, b, n, BLOCK=1024, launch_pdl=True)
        kernel[grid](b, one, a, n, BLOCK=1024, launch_pdl=True)
    print(bool((a == 1000).all()))
""") == "True\nTrue\n"  # fmt: skip


def test_a_graph_over_two_streams(run):
    assert run("""
first, second = torch.cuda.Stream(), torch.cuda.Stream()
between = torch.zeros(n, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, stream=first):
    add[grid](x, y, between, n, BLOCK=1024)
    second.wait_stream(first)
    with torch.cuda.stream(second):
        add[grid](between, y, out, n, BLOCK=1024)
    first.wait_stream(second)
graph.replay()
torch.cuda.synchronize()
print(torch.equal(out, x + y + y))
""") == "True\n"  # fmt: skip


def test_programs_of_a_cooperative_grid_meet(run):
    assert run("""
@nacre.jit
def meet(counter, seen, COUNT: tl.constexpr):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < COUNT:
        pass
    tl.store(seen + tl.program_id(0), tl.atomic_add(counter, 0))

count = torch.cuda.get_device_properties(0).multi_processor_count
counter, seen = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(count, dtype=torch.int32, device="cuda")
meet[(count,)](counter, seen, COUNT=count, launch_cooperative_grid=True)
print(bool((seen == count).all()))
try:
    meet[(1 << 20,)](counter, seen, COUNT=count, launch_cooperative_grid=True)
except nacre.runtime.errors.OutOfResources as error:
    print("launch fewer programs" in str(error))
""") == "True\nTrue\n"  # fmt: skip


COMPILED = """
import nacre
nacre.activate()
import torch
import triton
assert triton is nacre or triton.__file__ == nacre.__file__
torch._inductor.config.compile_threads = 1

def check(function, *arguments, **options):
    torch._dynamo.reset()
    expected, compiled = function(*arguments), torch.compile(function, **options)
    for _ in range(2):
        result = compiled(*arguments)
    error = (expected.float() - result.float()).abs().max() / expected.float().abs().max().clamp(min=1)
    assert error < 2e-2, error

x, h = torch.randn(1024, 1000, device="cuda"), torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
"""


@pytest.mark.parametrize("text", [
    "check(lambda a: torch.sin(a) * 2 + a.exp(), x)",
    "check(lambda a: torch.softmax(a * 2 + 1, -1), x, dynamic=True)",
    "check(lambda a: torch.cumsum(a, 0) + torch.sort(a[:, :256], 1)[0].sum(), x)",
    "check(lambda a: torch.nn.functional.layer_norm(a, (1000,)).relu(), x, mode='reduce-overhead')",
    "from nacre.torch import backend\\ncheck(lambda a: torch.softmax(a, -1).sin(), x, backend=backend)",
    "torch._inductor.config.max_autotune_gemm_backends = 'TRITON'\\ncheck(lambda a: torch.relu(a @ a.T), h, mode='max-autotune-no-cudagraphs')",
])  # fmt: skip
def test_torch_compile(run_script, text):
    process = run_script(COMPILED + text.replace("\\n", "\n") + "\nprint('right')\n", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert process.returncode == 0 and process.stdout.endswith("right\n"), process.stderr[-3000:]
