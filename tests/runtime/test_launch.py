"""Launching: grids, options, binding, globals, the objects that a launch gives, and the errors that name what is wrong."""

import gc
import weakref

import numpy as np
import pytest

import nacre
import nacre.language as tl
from launches import add_kernel, arrays, launch


# Grids


@pytest.mark.parametrize("grid", [(8,), [8], 8, (8, 1), (8, 1, 1), (np.int64(8),), lambda meta: (nacre.cdiv(meta["n"], meta["BLOCK"]),)])
def test_every_form_of_a_grid(grid):
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x + y)


def test_a_grid_function_sees_defaults_and_options():
    seen = {}

    @nacre.jit
    def kernel(out, SIZE: tl.constexpr = 4):
        tl.store(out + tl.arange(0, SIZE), 1.0)

    def grid(meta):
        seen.update(meta)
        return (1,)

    out = np.zeros(4, np.float32)
    kernel[grid](out, num_warps=8)
    assert seen["SIZE"] == 4 and seen["num_warps"] == 8 and seen["out"] is out
    assert out.sum() == 4


@pytest.mark.parametrize("grid", [(0,), (4, 0), (1, 2, 0)])
def test_a_grid_with_a_zero_runs_nothing(grid):
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 1000, BLOCK=128)
    assert not out.any()


@pytest.mark.parametrize("grid, error", [
    ((), ValueError), ((1, 1, 1, 1), ValueError), ((-1,), ValueError), ((2**31,), ValueError), ((1.5,), TypeError), ("x", TypeError),
    (None, TypeError),
])  # fmt: skip
def test_bad_grids(grid, error):
    x, y, out = arrays()
    with pytest.raises(error):
        add_kernel[grid](x, y, out, 1000, BLOCK=128)


@pytest.mark.parametrize("interpret", [False, True])
def test_a_grid_function_that_asks_for_another_name(monkeypatch, interpret):
    monkeypatch.setattr(nacre.knobs.runtime, "interpret", interpret)

    @nacre.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    x = np.zeros(16, np.float32)
    with pytest.raises(KeyError) as raised:
        kernel[lambda meta: (nacre.cdiv(16, meta["BLOK"]),)](x, BLOCK=16)
    (note,) = raised.value.__notes__
    assert "the grid function of kernel() is called with its arguments, which are x, BLOCK" in note
    assert note.endswith("; did you mean 'BLOCK'?")
    with pytest.raises(KeyError) as raised:  # the name of an argument: it is another dictionary that lacks it
        kernel[lambda meta: ({}["BLOCK"],)](x, BLOCK=16)
    assert not hasattr(raised.value, "__notes__")


def test_grids_by_turns():
    grids = [(8,), (4,), (8,), tuple([8]), lambda meta: (8,), (8,)]
    for grid in grids:
        x, y, out = arrays()
        for _ in range(2):
            add_kernel[grid](x, y, out, 1000, BLOCK=128)
        count = 512 if grid == (4,) else 1000
        np.testing.assert_array_equal(out[:count], (x + y)[:count])
        assert not out[count:].any()


def test_a_grid_function_is_let_go():
    class Grid:
        def __call__(self, meta):
            return (8,)

    x, y, out = arrays()
    grid = Grid()
    add_kernel[grid](x, y, out, 1000, BLOCK=128)
    add_kernel[(grid,)]  # no grid: only a tuple that holds something
    seen = weakref.ref(grid)
    del grid
    gc.collect()
    assert seen() is None


def test_programs_of_three_axes():
    @nacre.jit
    def kernel(out):
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        tl.store(out + (z * tl.num_programs(1) + y) * tl.num_programs(0) + x, x + 10 * y + 100 * z)

    out = np.zeros((3, 4, 5), np.int32)
    kernel[(5, 4, 3)](out)
    z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, x + 10 * y + 100 * z)


# Binding


def test_positional_keyword_and_default_arguments():
    @nacre.jit
    def kernel(out, a, b=2, C: tl.constexpr = 3):
        tl.store(out, a * 100 + b * 10 + C)

    out = np.zeros(1, np.int32)
    for args, kwargs, expected in [((5,), {}, 523), ((5, 6), {}, 563), ((5, 6, 7), {}, 567), ((), {"a": 5, "C": 9}, 529),
                                   ((5,), {"C": tl.constexpr(4)}, 524)]:  # fmt: skip
        kernel[(1,)](out, *args, **kwargs)
        assert out[0] == expected


@pytest.mark.parametrize("args, kwargs, error, text", [
    ((1, 2, 3, 4, 5, 6), {}, TypeError, "takes 5 arguments, but 6 were given"),
    ((1, 2), {"BLOCK": 16}, TypeError, "missing the argument 'out'"),
    ((1, 2, 3, 4), {}, TypeError, "missing the argument 'BLOCK'"),
    ((1, 2, 3, 4), {"BLOCK": 16, "x": 1}, TypeError, "got the argument 'x' twice"),
    ((1, 2, 3, 4), {"BLOCK": 16, "blocksize": 1}, KeyError, "blocksize"),
    ((1, 2, 3, 4), {"BLOCK": 16, "num_warps": "four"}, TypeError, "num_warps"),
])  # fmt: skip
def test_wrong_arguments(args, kwargs, error, text):
    with pytest.raises(error, match=text):
        launch(add_kernel, *args, **kwargs)


def test_keywords_made_at_run_time():
    def made(name):
        return "".join(list(name))  # not interned

    class Name(str):
        pass

    x, y, out = arrays()
    add_kernel[(8,)](x, y, **{made("out"): out, made("BLOCK"): 128, made("num_warps"): 2, Name("n"): 1000})
    np.testing.assert_array_equal(out, x + y)
    with pytest.raises(TypeError, match="twice"):
        add_kernel[(8,)](x, y, out, 1000, 128, **{made("n"): 1000})
    with pytest.raises(KeyError, match="did you mean 'num_warps'"):
        add_kernel[(8,)](x, y, out, 1000, BLOCK=128, **{made("num_warp"): 2})


def test_every_launch_option_is_accepted():
    x, y, out = arrays(16)
    add_kernel[(1,)](x, y, out, 16, BLOCK=16, num_warps=2, num_stages=1, num_ctas=1, maxnreg=None, debug=False,
                     sanitize_overflow=False, enable_fp_fusion=False, launch_cooperative_grid=True, launch_pdl=False)  # fmt: skip
    np.testing.assert_array_equal(out, x + y)


# Globals


SIZE = tl.constexpr(1)


def test_a_changed_global_compiles_anew():
    global SIZE

    @nacre.jit
    def kernel(out):
        tl.store(out, SIZE)

    out = np.zeros(1, np.int32)
    for value in (1, 2, 3, 1):
        SIZE = tl.constexpr(value)
        kernel[(1,)](out)
        assert out[0] == value


def test_closures_differ():
    def make(value):
        @nacre.jit
        def kernel(out):
            tl.store(out, value)

        return kernel

    out = np.zeros(1, np.int32)
    for value in (4, 5, 4):
        make(tl.constexpr(value))[(1,)](out)
        assert out[0] == value


LIMIT = 5


def test_plain_globals_are_refused(monkeypatch):
    @nacre.jit
    def kernel(out):
        tl.store(out, LIMIT)

    out = np.zeros(1, np.int32)
    with pytest.raises(nacre.CompilationError, match="LIMIT.*a global of type int"):
        kernel[(1,)](out)
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    kernel[(1,)](out)
    assert out[0] == 5


@nacre.constexpr_function
def rounded(n):
    return -(-n // 16) * 16


@nacre.constexpr_function
def failing(n):
    raise ValueError("no such size")


def test_constexpr_functions():
    @nacre.jit
    def kernel(out, N: tl.constexpr):
        tl.store(out, rounded(N))

    @nacre.jit
    def wrong(out, N: tl.constexpr):
        tl.store(out, failing(N))

    out = np.zeros(1, np.int32)
    launch(kernel, out, N=17)
    assert out[0] == 32
    with pytest.raises(nacre.CompilationError, match="no such size"):
        launch(wrong, out, N=17)


# Objects


def test_compiled_kernel():
    x, y, out = arrays()
    compiled = add_kernel[(8,)](x, y, out, 1000, BLOCK=128, num_warps=8)
    assert compiled.name == "add_kernel" and len(compiled.hash) == 40
    assert compiled.metadata.num_warps == 8 and compiled.metadata.shared >= 1
    for stage in ("source", "tile", "cpu", "llvm", "asm", "ttir", "ttgir", "llir"):
        assert isinstance(compiled.asm[stage], str) and compiled.asm[stage], stage
    assert compiled.asm["obj"].startswith(b"\x7fELF")
    assert "tile.load" in compiled.asm["ttir"] and "define" in compiled.asm["llir"]
    with pytest.raises(KeyError):
        compiled.asm["ptx"]
    out[:] = 0
    compiled[(8,)](x, y, out, 1000, 128)
    np.testing.assert_array_equal(out, x + y)


def test_compiled_kernels_travel():
    import pickle

    x, y, out = arrays()
    compiled = add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    copied = pickle.loads(pickle.dumps({k: v for k, v in compiled.__getstate__().items() if k not in ("src", "metadata")}))
    native = nacre._core.NativeKernel.load(copied["_encoded"], copied["hash"])
    out[:] = 0
    native.launch((8,), ("*fp32", "*fp32", "*fp32", "i32", ""), ("x", "y", "out", "n", "BLOCK"), (x, y, out, 1000, 128))
    np.testing.assert_array_equal(out, x + y)
    with pytest.raises(ValueError):
        nacre._core.NativeKernel.load(copied["_encoded"][:-1], "x")


def test_warmup_compiles_without_running():
    torch = pytest.importorskip("torch")
    x, y, out = arrays()
    compiled = add_kernel.warmup(x, y, out, 1000, BLOCK=64, grid=(1,))
    assert compiled.name == "add_kernel" and not out.any()
    compiled = add_kernel.warmup(torch.float32, torch.float32, torch.float32, 1000, BLOCK=64, grid=(1,))
    assert compiled.src.signature["x"] == "*fp32"


DIVISIBLE = [["tt.divisibility", 16]]


def test_compile_from_a_signature():
    source = nacre.compiler.ASTSource(add_kernel, {"x": "*fp16", "y": "*fp16", "out": "*fp16", "n": "i64", "BLOCK": "constexpr"},
                                      {"BLOCK": 32}, {(0,): DIVISIBLE})  # fmt: skip
    compiled = nacre.compile(source, options={"num_warps": 1, "unknown": 3})
    assert compiled.src.signature["n"] == "i64" and compiled.src.attrs == {(0,): DIVISIBLE}
    x, y, out = arrays(32, np.float16)
    compiled[(1,)](x, y, out, 32, 32)
    np.testing.assert_array_equal(out, x + y)


@nacre.jit
def annotated_kernel(out, n: int, scale: tl.float32):
    tl.store(out, n * scale)


def test_a_signature_says_more_than_annotations():
    source = nacre.compiler.ASTSource(annotated_kernel, {"out": "*fp32", "n": "i64", "scale": "fp32"})
    assert nacre.compile(source).src.signature["n"] == "i64"
    source = nacre.compiler.ASTSource(annotated_kernel, {"out": "*fp32", "n": "constexpr", "scale": "fp32"}, {"n": 6})
    out = np.zeros(1, np.float32)
    nacre.compile(source)[(1,)](out, 6, 0.5)
    assert out[0] == 3


def test_calling_a_kernel_without_a_grid():
    with pytest.raises(RuntimeError, match="add_kernel\\[grid\\]"):
        add_kernel(1, 2)
    with pytest.raises(RuntimeError, match="inside a kernel"):
        tl.load(None)


def test_source_of_kernels():
    class Holder:
        @staticmethod
        @nacre.jit
        # a comment between
        def kernel(
            out,  # the result
            text: tl.constexpr = ")",
        ):
            """A docstring
        that is indented less."""
            tl.store(out, 1.0)  # the end

            # still inside

        other = 1

    assert Holder.kernel.src.startswith("def kernel(\n")
    assert Holder.kernel.src.rstrip().endswith("# the end")
    out = np.zeros(1, np.float32)
    Holder.kernel[(1,)](out)
    assert out[0] == 1


def test_hooks():
    calls = []

    @nacre.jit(launch_metadata=lambda grid, kernel, args: {"flops": 5, "grid": grid, "n": args["n"]})
    def kernel(out, n):
        tl.store(out, n)

    out = np.zeros(1, np.int32)
    runtime = nacre.knobs.runtime
    enter = lambda metadata: calls.append(("enter", metadata.get()))  # noqa: E731
    leave = lambda metadata: calls.append(("exit", metadata.get()))  # noqa: E731
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    try:
        kernel[(1,)](out, 7)
    finally:
        runtime.launch_enter_hook.remove(enter)
        runtime.launch_exit_hook.remove(leave)
    kernel[(1,)](out, 8)
    assert [name for name, _ in calls] == ["enter", "exit"]
    assert calls[0][1]["name"] == "kernel" and calls[0][1]["flops"] == 5 and calls[0][1]["n"] == 7

    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append(args[1]))
    kernel[(1,)](out, 9)
    assert calls[-1] == 9


def test_compile_hooks():
    calls = []
    runtime = nacre.knobs.runtime
    out = np.zeros(1, np.int32)

    @nacre.jit
    def kernel(out, n):
        tl.store(out, n)

    with runtime.scope():
        runtime.jit_post_compile_hook = lambda **info: calls.append(info)
        kernel[(1,)](out, 7)
        runtime.jit_cache_hook = lambda **info: True
        assert kernel[(1,)](out, 2**40) is None
    assert len(calls) == 1 and calls[0]["fn"].name == "kernel" and out[0] == 7


def test_kernels_are_collected():
    @nacre.jit
    def kernel(out):
        tl.store(out, 1.0)

    kernel[(1,)](np.zeros(1, np.float32))
    reference = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert reference() is None
