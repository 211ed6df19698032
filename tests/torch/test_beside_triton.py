"""torch.compile(backend="nacre") where a Triton is installed too, which stays what it is."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from compiled_programs import check

torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of an environment that has torch, Triton and this package."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    if subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "triton==3.9.0"], capture_output=True).returncode:
        pytest.skip("no Triton can be installed here")
    subprocess.run([sys.executable, ROOT / "python/build_wheel.py", "--output", folder], check=True, capture_output=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", *folder.glob("*.whl")], check=True)
    (site,) = (folder / "venv/lib").glob("python3*/site-packages")
    for path in Path(torch.__file__).parents[1].iterdir():
        if not path.name.startswith(("nacre", "triton")) and path.suffix != ".pth" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    return python


def test_both_backends_in_one_process(tmp_path, installed):
    check(tmp_path, """
        def f(x):
            return torch.softmax(x * 2, -1).sum(0)
        x = torch.randn(64, 100)
        for backend in ("nacre", "inductor", "nacre"):
            torch.compiler.reset()
            same(torch.compile(f, backend=backend), f, x)
        import nacre, triton
        assert triton is not nacre and triton.__version__ == "3.9.0" and torch._inductor.runtime.triton_helpers.triton is triton
        from torch._inductor.utils import run_and_get_code
        torch.compiler.reset()
        torch._dynamo.config.suppress_errors = False
        _, (code,) = run_and_get_code(torch.compile(f, backend="nacre"), x + 1)
        assert "import nacre as triton" in code and "nacre.torch._runtime import triton_helpers" in code, code
        print("right")
    """, installed)  # fmt: skip


def test_kernels_of_both_packages_in_one_model(tmp_path, installed):
    check(tmp_path, """
        import nacre, triton
        import triton.language as tl
        import nacre.language as language

        @triton.jit
        def twice(x):
            return x * 2

        @triton.jit
        def theirs(x, out, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + offsets, twice(tl.load(x + offsets, mask=offsets < n)), mask=offsets < n)

        STEP = language.constexpr(3)

        @nacre.jit
        def more(x):
            return x + STEP

        @nacre.jit
        def ours(x, out, n, BLOCK: language.constexpr):
            offsets = language.program_id(0) * BLOCK + language.arange(0, BLOCK)
            language.store(out + offsets, more(language.load(x + offsets, mask=offsets < n)), mask=offsets < n)

        tuned = nacre.autotune([nacre.Config({"BLOCK": 64}), nacre.Config({"BLOCK": 128})], ["n"])(ours)

        def f(x):
            one, two, three = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
            theirs[(triton.cdiv(x.numel(), 128),)](x.sin(), one, x.numel(), BLOCK=128)
            ours[(nacre.cdiv(x.numel(), 128),)](one, two, x.numel(), BLOCK=128)
            tuned[lambda meta: (nacre.cdiv(x.numel(), meta["BLOCK"]),)](two, three, x.numel())
            return three.relu()

        x = torch.randn(1000)
        torch.testing.assert_close(torch.compile(f, backend="nacre", fullgraph=True)(x), (x.sin() * 2 + 6).relu())
        print("right")
    """, installed)  # fmt: skip


def test_compile_workers(tmp_path, installed):
    check(tmp_path, """
        import torch._inductor.async_compile as pool
        if __name__ == "__main__":
            def f(x, y):
                return torch.softmax(x + y, -1), (x * y).sum(0), x.argmax(1)
            x, y = torch.randn(64, 100), torch.randn(64, 100)
            pool.AsyncCompile.wait_pool_ready()
            same(torch.compile(f, backend="nacre"), f, x, y)
            print("right")
    """, installed, TORCHINDUCTOR_COMPILE_THREADS="2")  # fmt: skip


def test_threads_that_compile_with_both_backends(tmp_path, installed):
    """What a template keeps of one backend is never another's, whichever thread compiles when."""
    check(tmp_path, """
        import threading
        from torch._inductor import ir
        from torch._inductor.select_algorithm import GeneratedCodeCache
        from torch._inductor.virtualized import V

        problems = []
        def compile_with(backend, mode):
            try:
                for size in (24, 40, 56):
                    layer = torch.nn.Linear(size, size)
                    f = lambda x: torch.softmax(layer(x) * size, -1)
                    x = torch.randn(16, size)
                    with torch.no_grad():
                        same(torch.compile(f, backend=backend, mode=mode), f, x)
            except BaseException as error:
                problems.append(error)
        compile_with("nacre", "default")  # both are prepared
        threads = [threading.Thread(target=compile_with, args=one) for one in (("nacre", "max-autotune-no-cudagraphs"), ("inductor", "default"), ("nacre", "default"))]
        for one in threads: one.start()
        for one in threads: one.join()
        assert not problems, problems

        from nacre.torch._blocks import CpuChoices
        keys, meeting = {}, threading.Barrier(2)
        layout = ir.FixedLayout(torch.device("cpu"), torch.float32, [16, 16], [16, 1])
        def ask(name, choices):
            import inspect
            from torch._inductor.select_algorithm import identity
            wanted = [one for one in inspect.signature(GeneratedCodeCache.make_key).parameters if one != "self"]
            given = dict.fromkeys(wanted, None) | {"input_nodes": (), "call_sizes": [], "epilogue_fn": identity, "layout": layout, "kwargs": {}}
            with V.set_choices_handler(choices):
                meeting.wait()
                keys[name] = GeneratedCodeCache().make_key(**given)
                meeting.wait()
        from torch._inductor.choices import InductorChoices
        threads = [threading.Thread(target=ask, args=one) for one in (("ours", CpuChoices()), ("torchs", InductorChoices()))]
        for one in threads: one.start()
        for one in threads: one.join()
        assert keys["torchs"] is not None and keys["ours"] == "nacre " + keys["torchs"], keys
        print("right")
    """, installed)  # fmt: skip
