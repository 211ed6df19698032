"""Products on GPUs of each generation: which matrix instruction makes them, that they are right in every shape, type, order of
memory and number of warps, and what they cost in shared memory. The simulator's findings (races, missing fences and waits) are
failures. Numbers are small and whole: every order of summation gives the same."""

import random
import subprocess

import pytest
from test_gpu_data_movement import NACRE, NACRE_OPT, GpuKernel, simulate

pytestmark = pytest.mark.skipif(not NACRE_OPT.exists(), reason="nacre-opt is not built")

SUMS = {"i8": "i32", "f64": "f64"}


class DotKernel(GpuKernel):
    """For one GPU."""

    def __init__(self, warps, architecture, seed=0):
        super().__init__((1,), warps)
        self.architecture, self.options = architecture, (f"--architecture={architecture}",)
        self.random = random.Random(seed)

    def load(self, type, shape, is_transposed=False, bound=4, only_positive=False):
        """A tile of the shape; in memory it is in rows, or transposed in columns."""
        held = (*shape[:-2], shape[-1], shape[-2]) if is_transposed else shape
        count = 1
        for extent in shape:
            count *= extent
        numbers = [self.random.randint(1 if only_positive else -bound, bound) for _ in range(count)]
        places, place_type = self.pointers(type, held, "{" + ",".join(map(str, numbers)) + "}")
        value = self.add(f"tile.load {places} : {place_type} -> {self.tile(type, held)}")
        if not is_transposed:
            return value
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        return self.add(f"tile.permute {value} {order} : {self.tile(type, held)} -> {self.tile(type, shape)}")

    def zeros(self, type, shape):
        return self.add(f"arith.constant dense<{0 if type == 'i32' else '0.0'}> : {self.tile(type, shape)}")

    def dot(self, a, b, c, type, batch_m_n_k, sum_type, precision=""):
        *batch, m, n, k = batch_m_n_k
        left, right, result = (*batch, m, k), (*batch, k, n), (*batch, m, n)
        text = f"tile.dot {a}, {b}, {c} {precision} : {self.tile(type, left)}, {self.tile(type, right)} -> {self.tile(sum_type, result)}"
        return self.add(text)

    def text(self):
        self.parameters = [p if "{" in p else p + " {tile.divisibility = 16 : i64}" for p in self.parameters]
        return super().text()



def product(shape, type, warps, architecture, a_transposed=False, b_transposed=False):
    *batch, m, n, k = shape
    kernel = DotKernel(warps, architecture, seed=str(shape))
    sum_type = SUMS.get(type, "f32")
    a, b = kernel.load(type, (*batch, m, k), a_transposed), kernel.load(type, (*batch, k, n), b_transposed)
    c = kernel.load(sum_type, (*batch, m, n), bound=1000)
    kernel.output(sum_type, kernel.dot(a, b, c, type, shape, sum_type), (*batch, m, n))
    return kernel


# Of each GPU and type: what the instruction is called.
INSTRUCTIONS = [
    (75, "f16", "mma.sync.aligned.m16n8k8"), (75, "i8", "mma.sync.aligned.m8n8k16"), (75, "f8E5M2", "mma.sync.aligned.m16n8k8.row.col.f32.f16"),
    (80, "f16", "mma.sync.aligned.m16n8k16"), (80, "bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16"), (80, "f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32"),
    (80, "i8", "mma.sync.aligned.m16n8k32"), (80, "f64", "mma.sync.aligned.m8n8k4"), (80, "f8E4M3FN", "mma.sync.aligned.m16n8k16.row.col.f32.f16"),
    (89, "f8E4M3FN", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3"), (90, "f64", "mma.sync.aligned.m16n8k16.row.col.f64"),
    (90, "f16", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16"), (90, "bf16", "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16"),
    (90, "f32", "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32"), (90, "i8", "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8"),
    (90, "f8E5M2", "wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2"),
]  # fmt: skip


def stage_of(kernel, tmp_path, stage="ptx"):
    file = tmp_path / "kernel.mlir"
    file.write_text(kernel.text())
    command = [NACRE_OPT, file, "--run=k", "--engine=simulate", f"--architecture={kernel.architecture}", f"--show-stage={stage}",
               "--args=" + ",".join(kernel.arguments)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:1000]
    return done.stdout.split("argument 0:")[0]


@pytest.mark.parametrize("architecture, type, instruction", INSTRUCTIONS)
def test_the_instruction(architecture, type, instruction, tmp_path):
    kernel = product((64, 64, 64), type, 4, architecture)
    kernel.check(tmp_path, "simulate")
    ptx = stage_of(kernel, tmp_path)
    assert instruction in ptx, [line for line in ptx.splitlines() if "mma" in line][:1]
    assert "fma.rn.f32" not in ptx


@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize(
    "type, a_transposed, b_transposed",
    [("f16", False, True), ("f16", True, False), ("f16", True, True), ("f32", True, False), ("f32", False, True), ("i8", True, True)],
)
def test_orders_of_memory(type, architecture, a_transposed, b_transposed, tmp_path):
    product((64, 32, 128), type, 4, architecture, a_transposed, b_transposed).check(tmp_path, "simulate")


SHAPES = [(128, 128, 32), (64, 256, 64), (256, 64, 16), (64, 16, 128), (16, 64, 64), (65, 70, 32), (64, 64, 40), (96, 8, 16), (2, 64, 32, 32)]


@pytest.mark.parametrize("architecture, warps", [(80, 2), (90, 4), (90, 8)])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_and_warps(shape, architecture, warps, tmp_path):
    product(shape, "bf16", warps, architecture, b_transposed=shape[-1] == 64).check(tmp_path, "simulate")


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6"])
@pytest.mark.parametrize("architecture", [75, 80, 90])
def test_precisions(precision, architecture, tmp_path):
    """Numbers of sixteen bits, which one product by tf32 or bf16 would round; positive ones, so that sums are no smaller."""
    m, n, k = 64, 32, 16
    kernel = DotKernel(4, architecture)
    a, b = (kernel.load("f32", shape, bound=1 << 16, only_positive=True) for shape in ((m, k), (k, n)))
    result = kernel.dot(a, b, kernel.zeros("f32", (m, n)), "f32", (m, n, k), "f32", "precision " + precision)
    kernel.output("f32", result, (m, n))
    kernel.check(tmp_path, "simulate", tolerance={"tf32x3": 1e-6, "bf16x3": 2e-5, "bf16x6": 1e-6}[precision])
    assert stage_of(kernel, tmp_path).count("mma") > 0 or architecture == 75


@pytest.mark.parametrize("most", [0, 32, 64, 128])
def test_imprecise_sums_are_added_in_full(most, tmp_path):
    """An accumulator of seventeen bits: the hardware would keep thirteen of it."""
    m, n, k = 64, 16, 128
    kernel = DotKernel(4, 90)
    a, b = kernel.load("f8E4M3FN", (m, k)), kernel.load("f8E4M3FN", (k, n), is_transposed=True)
    c = kernel.load("f32", (m, n), bound=100000)
    result = kernel.dot(a, b, c, "f8E4M3FN", (m, n, k), "f32", f"{{maxImpreciseAcc = {most} : i32}}")
    kernel.output("f32", result, (m, n))
    kernel.check(tmp_path, "simulate")


@pytest.mark.parametrize("architecture, warps", [(80, 4), (90, 4), (90, 8)])
def test_a_product_of_a_product(architecture, warps, tmp_path):
    """The first one's result is the second one's operand where it is: in registers."""
    m, n, k = 128, 64, 32
    kernel = DotKernel(warps, architecture)
    a, b = kernel.load("bf16", (m, k), bound=2), kernel.load("bf16", (k, n), is_transposed=True, bound=2)
    first = kernel.dot(a, b, kernel.zeros("f32", (m, n)), "bf16", (m, n, k), "f32")
    narrow = kernel.add(f"arith.truncf {first} : {kernel.tile('f32', (m, n))} to {kernel.tile('bf16', (m, n))}")
    c = kernel.load("bf16", (n, k), bound=2)
    kernel.output("f32", kernel.dot(narrow, c, kernel.zeros("f32", (m, k)), "bf16", (m, k, n), "f32"), (m, k))
    kernel.check(tmp_path, "simulate")
    stage = stage_of(kernel, tmp_path, "gpu")
    between = stage[stage.index("arith.truncf"):]
    operand = [line for line in between.splitlines() if "simt.dot" in line][-1]
    assert "tensor<128x64xbf16" in operand
    if "simt.convert" in between.split("simt.dot")[0]:  # renamed registers at most
        assert "simt.scratch" not in between.split("simt.dot")[0]


@pytest.mark.skipif(not NACRE.exists(), reason="nacre is not built")
@pytest.mark.parametrize("b_transposed", [False, True])
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("type, shape, warps", [("f16", (64, 64, 64), 4), ("bf16", (128, 128, 32), 8), ("f32", (64, 64, 64), 4), ("i8", (64, 64, 128), 4)])
def test_no_bank_conflicts(shape, warps, type, architecture, b_transposed, tmp_path):
    kernel = product(shape, type, warps, architecture, b_transposed=b_transposed)
    report, status = simulate(stage_of(kernel, tmp_path), kernel, tmp_path)
    assert status == 0
    assert report["counters"]["shared_accesses"] > 0
    assert report["counters"]["bank_conflicts"] == 0
