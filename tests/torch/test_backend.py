"""torch.compile(model, backend="nacre"), as from an installed wheel: no alias, no variable, no C++ compiler."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from compiled_programs import check, run

torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of a fresh environment that has the wheel, and torch from the one that runs this."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, ROOT / "python/build_wheel.py", "--output", folder], check=True, capture_output=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", *folder.glob("*.whl")], check=True)
    # torch and what it needs, by links: that environment's own nacre must not be seen.
    (site,) = (folder / "venv/lib").glob("python3*/site-packages")
    for path in Path(torch.__file__).parents[1].iterdir():
        if not path.name.startswith(("nacre", "triton")) and path.suffix != ".pth" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    return python


@pytest.fixture
def no_compiler(tmp_path):
    """A PATH with no program on it but what a shell script needs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "env", "uname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return {"PATH": str(folder), "CXX": str(folder / "none"), "CC": str(folder / "none")}


def test_a_transformer_block_from_the_wheel_without_a_compiler(tmp_path, installed, no_compiler):
    text = """
        block = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        compiled = torch.compile(block, backend="nacre")
        x = torch.randn(2, 24, 64, requires_grad=True)
        for run in range(2):
            gradients = []
            for model in (compiled, block):
                model(x).square().sum().backward()
                gradients.append([x.grad.clone(), *(p.grad.clone() for p in block.parameters())])
                x.grad = None
                block.zero_grad()
            torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-3)
        block.eval()
        with torch.no_grad():
            same(compiled, block, x)
        import nacre, triton
        assert triton is nacre and nacre.__file__.startswith(sys.prefix), nacre.__file__
        print("right")
    """
    check(tmp_path, text, installed, **no_compiler)


def test_torch_knows_its_name(tmp_path):
    result = run(tmp_path, "import torch._dynamo\nprint('nacre' in torch._dynamo.list_backends(), 'nacre' in sys.modules)")
    assert result.stdout == "True False\n", result.stdout + result.stderr


def test_after_inductors_own_backend(tmp_path):
    """torch has then looked for triton and found none."""
    text = """
        def f(x):
            return torch.softmax(x * 2, -1).sum(0)
        x = torch.randn(64, 100)
        same(torch.compile(f), f, x)
        torch.compiler.reset()
        same(torch.compile(f, backend="nacre"), f, x)
        torch.compiler.reset()
        same(torch.compile(f), f, x)
        print("right")
    """
    check(tmp_path, text)


def test_inductors_options_pass_through(tmp_path):
    text = """
        from torch._inductor.utils import run_and_get_code
        def f(x):
            return (x + 1).relu().sum(1) @ x
        x = torch.randn(64, 64)
        same(torch.compile(f, backend="nacre", options={"triton.use_block_ptr": True}), f, x)
        names = []
        for options in ({"triton.unique_kernel_names": True}, {"triton.unique_kernel_names": False}):
            torch.compiler.reset()
            result, (code,) = run_and_get_code(torch.compile(f, backend="nacre", options=options), x)
            torch.testing.assert_close(result, f(x), rtol=1e-4, atol=1e-4)
            names.append("def triton_(" in code)
        assert names == [False, True], names
        print("right")
    """
    check(tmp_path, text)


def test_products_of_max_autotune_are_templates_of_the_language(tmp_path):
    text = """
        import torch._inductor.config
        def f(x, y):
            return torch.relu(x @ y)
        x, y = torch.randn(128, 96), torch.randn(96, 64)
        options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}
        compiled = torch.compile(f, backend="nacre", options=options)
        from torch._inductor.utils import run_and_get_code
        result, (code,) = run_and_get_code(compiled, x, y)
        torch.testing.assert_close(result, f(x, y), rtol=1e-4, atol=1e-4)
        assert "triton_tem_fused" in code and "extern_kernels.mm" not in code, code
        assert torch._inductor.config.cpu_backend == "cpp"  # the settings were of that compile alone
        torch.compiler.reset()
        same(torch.compile(f, backend="nacre", mode="max-autotune"), f, x, y)
        torch.compiler.reset()
        convolution = torch.nn.Conv2d(8, 16, 3)
        options = {"max_autotune": True, "max_autotune_conv_backends": "TRITON"}
        with torch.no_grad():  # a template adds no bias
            same(torch.compile(convolution, backend="nacre", options=options), convolution, torch.randn(2, 8, 9, 11))
        print("right")
    """
    check(tmp_path, text)


def test_a_kernel_has_one_block_size_unless_tuning_is_asked_for(tmp_path):
    text = """
        from torch._inductor.utils import run_and_get_code
        functions = {
            "rows": lambda x: torch.softmax(x, -1),
            "columns": lambda x: x.sum(0),
            "squares": lambda x: x.t() + 1 + x,
            "scan": lambda x: x.cumsum(1),
            "all": lambda x: (x * 2).sum() + x.amax(),
        }
        x = torch.randn(256, 256)
        for name, f in functions.items():
            for options in (None, {"max_autotune_pointwise": True}):
                torch.compiler.reset()
                result, codes = run_and_get_code(torch.compile(f, backend="nacre", options=options), x)
                torch.testing.assert_close(result, f(x), rtol=1e-4, atol=1e-4)
                code = "".join(codes)
                assert ("@triton_heuristics.fixed_config" in code) == (options is None), (name, options, code)
                assert options is not None or code.count("@triton_heuristics.") == code.count("@triton_heuristics.fixed_config"), code
        print("right")
    """
    check(tmp_path, text)


def test_many_rows_need_no_third_axis(tmp_path):
    """A GPU's grid has at most 65,535 rows; on the CPU rows beyond that are rows as all others, with no mask where blocks divide them."""
    text = """
        from torch._inductor.utils import run_and_get_code
        def f(x):
            return x.clone(memory_format=torch.channels_last)
        x = torch.randn(256, 320, 3, 3)
        result, (code,) = run_and_get_code(torch.compile(f, backend="nacre"), x)
        assert torch.equal(result, x) and result.stride() == f(x).stride()
        assert "ynumel = 81920" in code and "tl.program_id(2)" not in code and "ymask = yindex" not in code, code
        assert "'XBLOCK': 16, 'YBLOCK': 256" in code, code  # rows of nine: many of them
        def g(x):
            return x.permute(0, 2, 1).contiguous() * 2
        x = torch.randn(2, 64, 1024)
        result, (code,) = run_and_get_code(torch.compile(g, backend="nacre"), x)
        assert torch.equal(result, g(x))
        assert "'XBLOCK': 64, 'YBLOCK': 16" in code, code  # all of x in one block: strips
        print("right")
    """
    check(tmp_path, text, OMP_NUM_THREADS="2")


def test_sums_over_what_lies_two_ways(tmp_path):
    """One operand lies along the rows that are summed, the other across them: blocks have both sides, and no element is fetched by itself."""
    text = """
        from torch._inductor.utils import run_and_get_code
        def f(x, y):
            return (x.permute(0, 2, 3, 1) * y).sum((0, 1, 2))
        x, y = torch.randn(4, 32, 64, 64), torch.randn(4, 64, 64, 32)
        result, (code,) = run_and_get_code(torch.compile(f, backend="nacre"), x, y)
        torch.testing.assert_close(result, f(x, y), rtol=1e-3, atol=1e-2)
        assert "'YBLOCK': 1," not in code, code
        print("right")
    """
    check(tmp_path, text)


def test_inductors_cache_knows_what_chose(tmp_path):
    text = """
        from torch._dynamo.utils import counters
        import nacre.torch
        nacre.torch.prepare()
        from nacre.torch import _blocks
        def f(x):
            return torch.softmax(x, -1)
        x, found = torch.randn(64, 100), []
        for name in ("one", "one", "two"):
            torch.compiler.reset()
            counters.clear()
            _blocks.CpuChoices.uuid = lambda self: name
            same(torch.compile(f, backend="nacre"), f, x)
            found.append(counters["inductor"]["fxgraph_cache_hit"])
        assert found == [0, 1, 0], found
        print("right")
    """
    check(tmp_path, text)


def test_other_shapes_than_the_first(tmp_path):
    text = """
        def f(x, y):
            return torch.softmax(x, -1).sum(0) + (x.t() + y).sum(1), x.cumsum(0)
        compiled = torch.compile(f, backend="nacre", dynamic=True)
        for rows, columns in ((64, 100), (7, 33), (1, 5), (300, 1025), (2, 2)):
            x, y = torch.randn(rows, columns), torch.randn(columns, rows)
            same(compiled, f, x, y)
        print("right")
    """
    check(tmp_path, text)


def test_training_follows_eager(tmp_path):
    """Steps of an optimizer that is compiled too, on a model with an embedding, attention, norms and a loss."""
    text = """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = torch.nn.Embedding(50, 32)
                self.block = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
                self.head = torch.nn.Linear(32, 50)
            def forward(self, tokens):
                return self.head(self.block(self.embedding(tokens)))
        def train(wrap):
            torch.manual_seed(0)
            model = Model()
            # The gradient of the keys' bias is zero but for rounding: with a small eps Adam would make whole steps of that.
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
            def loss_of(tokens):
                return torch.nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            loss_of, step = wrap(loss_of), wrap(optimizer.step)
            losses = []
            for number in range(4):
                tokens = torch.randint(0, 50, (3, 13), generator=torch.Generator().manual_seed(number))
                loss = loss_of(tokens)
                optimizer.zero_grad()
                loss.backward()
                step()
                losses.append(loss.item())
            return losses, [parameter.detach() for parameter in model.parameters()]
        eager = train(lambda function: function)
        compiled = train(lambda function: torch.compile(function, backend="nacre"))
        torch.testing.assert_close(compiled, eager, rtol=1e-2, atol=1e-3)
        print("right")
    """
    check(tmp_path, text)


def test_indices_are_checked(tmp_path):
    """The assertions that Inductor writes around computed indices are live; accesses that cannot go wrong are not checked."""
    text = """
        def f(table, index):
            return table[index] * 2
        compiled = torch.compile(f, backend="nacre")
        table = torch.randn(10, 40)
        same(compiled, f, table, torch.tensor([0, 9, -10, 3]))
        try:
            compiled(table, torch.tensor([0, 1, 2, 10]))
        except Exception as error:
            assert "index out of bounds" in str(error), error
            print("right")
    """
    check(tmp_path, text)


def test_sums_at_computed_places_of_every_type(tmp_path):
    """Integers of 8 and 16 bits have no atomics in the language: those sums are ATen's."""
    text = """
        def f(x, index, values):
            return (x.index_put((index,), values, accumulate=True), x.scatter_add(0, index, values), x.index_add(0, index, values),
                    x.scatter_reduce(0, index, values, "mean", include_self=False), x.scatter(0, index[:9], 1, reduce="add"))
        index = torch.randint(0, 10, (40,))
        for type in (torch.int16, torch.int8, torch.uint8, torch.int32, torch.float16):
            torch.compiler.reset()
            same(torch.compile(f, backend="nacre"), f, torch.arange(10).to(type), index, torch.randint(0, 2, (40,)).to(type))
        print("right")
    """
    check(tmp_path, text)


def test_the_sign_of_zero(tmp_path):
    text = """
        def f(x):
            return x.signbit(), -x.abs().signbit().int()
        for type in (torch.float64, torch.float32, torch.bfloat16, torch.int32):
            torch.compiler.reset()
            same(torch.compile(f, backend="nacre"), f, torch.tensor([-0.0, 0.0, -1.0, 2.0]).to(type))
        print("right")
    """
    check(tmp_path, text)


def test_flexible_attention_without_a_compiler(tmp_path, no_compiler):
    """Many queries and one, masks by blocks, groups of heads, buffers that the score takes."""
    text = """
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        bias = torch.randn(4, 150)
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 150, 150, device="cpu")
        cases = [
            (150, 4, dict(block_mask=mask)),
            (150, 2, dict(score_mod=lambda score, b, h, i, j: score + bias[h, j], enable_gqa=True)),
            (1, 4, dict(score_mod=lambda score, b, h, i, j: torch.where(j % 3 == 0, -float("inf"), score))),
        ]
        for queries, heads, options in cases:
            torch.compiler.reset()
            def f(q, k, v):
                return flex_attention(q, k, v, **options).relu()
            same(torch.compile(f, backend="nacre"), f, torch.randn(2, 4, queries, 32), *torch.randn(2, 2, heads, 150, 32))
        print("right")
    """
    check(tmp_path, text, **no_compiler)


def test_kernels_of_the_user_inside(tmp_path):
    text = """
        import nacre
        nacre.activate()
        import triton
        import triton.language as tl

        @triton.jit
        def scale(x, out, factor, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + offsets, tl.load(x + offsets) * factor)

        def f(x):
            out = torch.empty_like(x)
            scale[(x.numel() // 64,)](x, out, 3.0, BLOCK=64)
            return out.sin() + 1
        x = torch.randn(256)
        torch.testing.assert_close(torch.compile(f, backend="nacre", fullgraph=True)(x), (x * 3).sin() + 1)
        print("right")
    """
    check(tmp_path, text)


@pytest.mark.parametrize("arguments, message", [
    ("options={'cpu_backend': 'cpp'}", "torch.compile's own backend, inductor"),
    ("options={'cpp_wrapper': True}", "leave out cpp_wrapper"),
    ("options={'no_such_option': 1}", "no_such_option"),
    ("options={'max_autotune': 'yes'}", "max_autotune, got str should be bool"),
    ("mode='fastest'", "fastest"),
])  # fmt: skip
def test_settings_that_cannot_be_meant(tmp_path, arguments, message):
    result = run(tmp_path, f"torch.compile(lambda x: x + 1, backend='nacre', {arguments})(torch.ones(4))")
    assert result.returncode != 0 and message in result.stderr, result.stderr


def test_another_triton_that_was_imported_is_said(tmp_path):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton/__init__.py").write_text("__version__ = '3.6.0'\n")
    text = """
        import triton
        import nacre.torch
        try:
            nacre.torch.backend(None, [])
        except RuntimeError as error:
            print(error)
    """
    result = run(tmp_path, text)
    assert "nacre.activate()" in result.stdout and "another package named triton" in result.stdout, result.stdout + result.stderr


def test_other_devices_keep_their_own_words(tmp_path):
    """Words of wrappers: "with torch.cuda._DeviceGuard(0)". The function is as torch 2.11 has it."""
    check(tmp_path, """
        from torch._inductor.codegen import common

        def get_device_op_overrides(device):
            known = common.device_op_overrides_dict
            if not known:
                from torch._inductor.codegen import cpu_device_op_overrides
                from torch._inductor.codegen.cuda import device_op_overrides
            if device not in known:
                from torch._inductor.codegen.cpu_device_op_overrides import CpuDeviceOpOverrides

                common.register_device_op_overrides(device, CpuDeviceOpOverrides())
            return known[device]

        assert not common.device_op_overrides_dict
        common.get_device_op_overrides = get_device_op_overrides
        from nacre.torch._inductor import prepare

        prepare()
        assert "cuda" in common.get_device_op_overrides("cuda").device_guard(0)
        assert common.get_device_op_overrides("cpu").import_get_raw_stream_as("stream") == "stream = {None: 0}.get"
        print("right")
    """)  # fmt: skip


def test_settings_that_this_torch_does_not_have_are_left_out(monkeypatch):
    from nacre.torch import _inductor

    monkeypatch.setitem(_inductor._OUR_SETTINGS, "cpp.of_a_later_torch", 1)
    monkeypatch.setitem(_inductor._OUR_SETTINGS, "of_a_later_torch.too", 1)
    settings = _inductor.configuration(None, None)
    assert settings["cpu_backend"] == "triton" and not any("later" in name for name in settings)
    assert _inductor.configuration(None, {"max-autotune": True})["max_autotune"] is True


def test_finders_of_modules_can_be_told_of_new_files():
    import importlib

    import nacre.torch._runtime  # noqa: F401  (it puts a finder of its own among Python's)

    importlib.invalidate_caches()
