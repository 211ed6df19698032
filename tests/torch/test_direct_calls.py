"""Kernels called directly by the code that Inductor writes (python/nacre/torch/_calls.py), and what is not called so."""

import ast
import gc
import weakref

import pytest
from compiled_programs import check

torch = pytest.importorskip("torch")

import nacre  # noqa: E402
import nacre.language as tl  # noqa: E402
import nacre.sanitizer  # noqa: E402
from nacre import _core  # noqa: E402


@nacre.jit
def scale(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * factor, mask=offsets < n)


# -(n // -16): as Inductor writes a ceiling
CEILING = (("argument", 3), ("number", -16), ("//", 0), ("negate", 0))
ONE = (("number", 1),)
SIGNATURE = {"x_ptr": "*fp32", "out_ptr": "*fp32", "factor": "fp32", "n": "i32", "BLOCK": "constexpr"}


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Where there is a GPU too: these calls say nothing of the device, and their tensors are the CPU's."""
    before = _core.set_active_device("cpu")
    yield
    _core.set_active_device(before)


@pytest.fixture
def direct():
    """A function for (x, out, factor, n), the calls that went the long way, and a switch."""
    source = nacre.compiler.ASTSource(scale, SIGNATURE, {"BLOCK": 16})
    compiled = nacre.compile(source)
    calls, switch = [], {"is_on": False}

    def long_way(*arguments, **keywords):
        calls.append((arguments, keywords))
        return "the long way"

    call = _core.direct_call(compiled._native, compiled.slot_types, tuple(SIGNATURE), (0, 1, 2, 3, -1), 4, (CEILING, ONE, ONE), False,
                             ((switch, "is_on"),), long_way)  # fmt: skip
    return call, calls, switch


def expect(call, n, offset=0):
    x = torch.randn(n + offset)[offset:]
    out = torch.zeros(n + 3)
    assert call(x, out, 2.5, n, stream=0) is None
    torch.testing.assert_close(out, torch.cat([x * 2.5, torch.zeros(3)]))


def test_sizes_and_alignment_change_from_call_to_call(direct):
    call, calls, _ = direct
    for n in (1, 16, 17, 1000, 4, 16):
        for offset in (0, 1, 3):
            expect(call, n, offset)
    assert not calls


def test_whatever_is_unusual_goes_the_long_way(direct):
    call, calls, switch = direct
    x, out = torch.ones(4), torch.zeros(4)
    usual = (x, out, 2.0, 4)
    cases = [((*usual, 5), {"stream": 0}), (usual[:3], {"stream": 0}), (usual, {"stream": 0, "benchmark_run": True}), (usual, {"grid": (1,)}),
             ((x, out, 2.0, True), {"stream": 0}), ((x, out, 2.0, 1 << 70), {"stream": 0}), ((x, out, 2.0, -32), {"stream": 0}),
             ((x, None, 2.0, 4), {"stream": 0}), ((torch.empty(0), out, 2.0, 4), {"stream": 0})]  # fmt: skip
    for arguments, keywords in cases:
        calls.clear()
        assert call(*arguments, **keywords) == "the long way", (arguments, keywords)
        assert len(calls[0][0]) == len(arguments) and all(a is b for a, b in zip(calls[0][0], arguments)) and calls[0][1] == keywords
    assert not out.any()
    switch["is_on"] = 3
    assert call(*usual, stream=0) == "the long way"
    switch["is_on"] = 0
    assert call(*usual, stream=0) is None and call(*usual) is None and out.eq(2).all()
    with pytest.raises(TypeError, match="'factor': expected a number"):
        call(x, out, "2", 4, stream=0)


def test_who_listens_to_launches_sees_the_long_way(direct, tmp_path):
    call, calls, _ = direct
    arguments = torch.ones(4), torch.zeros(4), 2.0, 4
    hook, seen = nacre.knobs.runtime.launch_enter_hook, []
    hook.add(seen.append)
    try:
        assert call(*arguments, stream=0) == "the long way"
    finally:
        hook.remove(seen.append)
    assert call(*arguments, stream=0) is None
    import nacre.profiler as profiler

    session = profiler.start(str(tmp_path / "profile"))
    assert call(*arguments, stream=0) == "the long way"
    profiler.finalize(session)
    assert call(*arguments, stream=0) is None
    nacre.sanitizer.start("asan")
    try:
        assert call(*arguments, stream=0) == "the long way"
    finally:
        nacre.sanitizer.stop()
    assert call(*arguments, stream=0) is None


def test_functions_are_collected_with_what_they_hold(direct):
    class Owner:
        def run(self):
            pass

    call, _, _ = direct
    source = nacre.compiler.ASTSource(scale, SIGNATURE, {"BLOCK": 16})
    compiled, owner = nacre.compile(source), Owner()
    owner.run = _core.direct_call(compiled._native, compiled.slot_types, tuple(SIGNATURE), (0, 1, 2, 3, -1), 4, (CEILING, ONE, ONE), False, (), owner.run)
    seen = weakref.ref(owner)
    del owner
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("steps", [(), (("number", 1), ("+", 0)), (("number", 1), ("number", 1)), (("argument", 4),), (("argument", -1),)])
def test_grids_that_are_none(steps):
    source = nacre.compiler.ASTSource(scale, SIGNATURE, {"BLOCK": 16})
    compiled = nacre.compile(source)
    with pytest.raises(ValueError, match="is not the way to a grid's extent"):
        _core.direct_call(compiled._native, compiled.slot_types, tuple(SIGNATURE), (0, 1, 2, 3, -1), 4, (steps, ONE, ONE), False, (), None)


@nacre.jit
def count(out_ptr, a, b, BLOCK: tl.constexpr):
    tl.atomic_add(out_ptr + tl.arange(0, BLOCK), tl.full([BLOCK], 1, tl.int32))


@pytest.mark.parametrize("text", ["a", "-(a // -b)", "a % b + 7 // b", "max(a, b, 3) - min(b, 2)", "(a * b) // 3", "a + 7 - (b - 1)", "-((-a) % b) + b"])
def test_expressions_of_grids_mean_what_python_says(text):
    from nacre.torch._calls import _steps

    signature = {"out_ptr": "*i32", "a": "i32", "b": "i32", "BLOCK": "constexpr"}
    compiled = nacre.compile(nacre.compiler.ASTSource(count, signature, {"BLOCK": 1}))
    steps = _steps(ast.parse(text, mode="eval").body, {"a": 1, "b": 2}, {})
    call = _core.direct_call(compiled._native, compiled.slot_types, tuple(signature), (0, 1, 2, -1), 3, (steps, ONE, ONE), False, (), None)
    for a in (1, 5, 16, 33):
        for b in (1, 2, 4, 7):
            out = torch.zeros(1, dtype=torch.int32)
            call(out, a, b, stream=0)
            assert out.item() == eval(text), (a, b)


def test_compiled_models_call_their_kernels_directly(tmp_path):
    check(tmp_path, """
        import gc, threading
        from torch._dynamo.utils import counters

        def f(x, y):
            return torch.softmax(x * y, -1).sum(0), (x.t() + 1).contiguous()

        def kernels():
            return [one for one in gc.get_objects() if type(one).__name__ == "CachingAutotuner"]

        compiled = torch.compile(f, backend="nacre", dynamic=True)
        for rows, columns in ((8, 100), (8, 100), (9, 33), (64, 16), (9, 33)):
            same(compiled, f, torch.randn(rows, columns), torch.randn(rows, columns))
            whole = torch.randn(rows * columns + 1)
            same(compiled, f, whole[1:].view(rows, columns), torch.randn(rows, columns))  # not aligned
        assert counters["stats"]["unique_graphs"] == 1, counters["stats"]
        found = kernels()
        direct = [kernel.__dict__.get("run") for kernel in found]
        assert len(found) >= 2 and all(type(one).__name__ == "builtin_function_or_method" for one in direct), direct

        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            same(compiled, f, torch.randn(7, 20), torch.randn(7, 20))
        assert any("triton_" in event.key for event in profile.key_averages()), profile.key_averages()

        import nacre
        seen = []
        hook = nacre.knobs.runtime.launch_enter_hook
        hook.add(seen.append)
        same(compiled, f, torch.randn(7, 20), torch.randn(7, 20))
        hook.remove(seen.append)
        assert len(seen) >= len(found), seen

        problems = []
        def work(seed):
            generator = torch.Generator().manual_seed(seed)
            try:
                for size in range(2, 60):
                    x, y = torch.randn(size, 40, generator=generator), torch.randn(size, 40, generator=generator)
                    same(compiled, f, x, y)
            except Exception as error:
                problems.append(error)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for one in threads: one.start()
        for one in threads: one.join()
        assert not problems, problems
        print("right")
    """)  # fmt: skip
