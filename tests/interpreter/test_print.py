"""Tiles as text and as arrays: print, f-strings, device_print, NumPy."""

import copy

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.usefixtures("interpret")


@triton.jit
def print_kernel(x_ptr, n, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, COUNT))
    print(x)
    print("first", x[0], "n", n, "program", tl.program_id(0)[0])
    print(f"{x.dtype} {x[1]:.2f} {n:>4} {COUNT}")


def test_print_and_f_strings(capsys):
    x = np.array([1.5, -2.25, 1e10, np.inf], dtype=np.float32)
    print_kernel[(1,)](x, 7, COUNT=4)
    assert capsys.readouterr().out == f"{x}\nfirst 1.5 n 7 program 0\nfp32 -2.25    7 4\n"


@triton.jit
def matrix_kernel(x_ptr, R: tl.constexpr, C: tl.constexpr):
    print(tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (40, 50)])
def test_a_tile_prints_as_numpy_does(capsys, dtype, shape):
    x = (np.arange(np.prod(shape)) * 7 % 11).reshape(shape).astype(dtype)
    matrix_kernel[(1,)](x, R=shape[0], C=shape[1])
    assert capsys.readouterr().out == f"{x}\n"


@triton.jit
def device_print_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.device_print("x", x)
    tl.device_print("scalar", tl.program_id(0) * 10)
    tl.device_print("only text")


def test_device_print(capsys):
    device_print_kernel[(2,)](np.arange(4, dtype=np.int32))
    lines = [f"({p}, 0, 0)  {text}" for p in range(2) for text in ("x:  [0 1 2 3]", f"scalar:  [{p * 10}]", "only text: ")]
    assert capsys.readouterr().out == "\n".join(lines) + "\n"


def test_a_tile_converts_to_an_array():
    seen = {}

    def keep(name, tile):
        seen[name] = np.asarray(tile)

    globals()["keep"] = keep
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 2.5, -3.0, 448.0])
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        convert_kernel[(1,)](x.to(dtype))
        np.testing.assert_array_equal(seen["tile"], x.to(dtype).float().numpy())
        assert seen["matrix"].shape == (2, 2) and seen["scalar"].shape == ()
        assert seen["mask"].dtype == np.bool_ and seen["mask"].tolist() == [True, True, False, True]


@triton.jit
def convert_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    keep("tile", x)  # noqa: F821  (any Python function can be called)
    keep("matrix", x.to(tl.float32).reshape(2, 2))  # noqa: F821
    keep("scalar", tl.program_id(0))  # noqa: F821
    keep("mask", x.to(tl.float32) > 0)  # noqa: F821


@triton.jit
def host_numbers_kernel(OUT: tl.constexpr, n):
    x = tl.arange(0, 4)
    OUT.append([10, 20, 30][x[1]])
    OUT.append(len(x))
    OUT.append(str(n))


def test_scalars_as_pythons_numbers():
    out = []
    host_numbers_kernel[(1,)](out, 2.5)
    assert out == [20, 4, "2.5"]


@triton.jit
def host_values_kernel(x_ptr, OUT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    OUT["format"] = f"{x:.1f}|{x[1]:6.2f}|{x.reshape(2, 2):+.0f}"
    OUT["list"] = x.tolist(), x[2].tolist(), x.reshape(2, 2).tolist()
    OUT["iterated"] = [float(v) for v in x], [row.tolist() for row in x.reshape(2, 2)], 2.5 in x, 7 in x
    OUT["python"] = float(sum(x)), any(x > 2), all(x > 2), round(x[1], 1), sorted(x.tolist())
    OUT["array"] = x.numpy()
    OUT["copies"] = copy.copy(x) is x, copy.deepcopy([x])[0] is x
    OUT["names"] = dir(x)
    OUT["tile"] = x
    OUT["address"] = str(x_ptr), str(x_ptr + tl.arange(0, 2)), repr(x_ptr)


def test_tiles_among_pythons_values():
    x = np.array([1, 2.25, 3, 0.5], np.float32)
    out = {}
    host_values_kernel[(1,)](x, out)
    assert out["format"] == "[1.0 2.2 3.0 0.5]|  2.25|[[+1 +2]\n [+3 +0]]"
    assert out["list"] == (x.tolist(), 3.0, x.reshape(2, 2).tolist())
    assert out["iterated"] == (x.tolist(), x.reshape(2, 2).tolist(), False, False)
    assert out["python"] == (6.75, True, False, 2.2, [0.5, 1, 2.25, 3])
    assert out["array"].dtype == np.float32 and out["array"].tolist() == x.tolist()
    assert out["copies"] == (True, True)
    assert {"shape", "dtype", "sum", "to", "argmax", "tolist", "numpy"} <= set(out["names"])
    address = x.ctypes.data
    assert out["address"] == (hex(address), f"[{hex(address)} {hex(address + 4)}]", f"tensor({hex(address)}, pointer<fp32>)")


@triton.jit
def numpy_kernel(x_ptr, OUT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    OUT.append([float(np.sum(x)), float(np.max(x)), int(np.argmax(x)), float(np.mean(x)), np.isnan(x).tolist()])
    OUT.append(np.concatenate([x, x]).tolist() + np.where(x > 2, x, 0).tolist() + np.stack((x, x), axis=1).ravel().tolist())
    OUT.append(bool(np.allclose(x, [1, 2.25, 3, 0.5])))


def test_numpys_functions_take_tiles():
    x = np.array([1, 2.25, 3, 0.5], np.float32)
    out = []
    numpy_kernel[(1,)](x, out)
    assert out[0] == [6.75, 3.0, 2, 1.6875, [False] * 4]
    assert out[1] == [*x, *x, 0, 2.25, 3, 0, 1, 1, 2.25, 2.25, 3, 3, 0.5, 0.5] and out[2] is True


def test_a_tile_becomes_a_torch_tensor():
    torch = pytest.importorskip("torch")
    out = {}
    host_values_kernel[(1,)](np.array([1, 2, 3, 4], np.float32), out)
    assert torch.from_dlpack(out["tile"]).tolist() == [1, 2, 3, 4]
    assert torch.from_numpy(out["tile"].numpy()).dtype == torch.float32


@triton.jit
def one_number_kernel(HOW: tl.constexpr):
    x = tl.arange(0, 4)
    if HOW == "int":
        [1, 2, 3, 4][x]
    elif HOW == "float":
        "%f" % x
    else:
        for _ in tl.program_id(0):
            pass


def test_a_tile_is_not_one_number():
    for how in ("int", "float"):
        with pytest.raises(triton.CompilationError, match=r"int32 tensor of shape \[4\] has no single") as raised:
            one_number_kernel[(1,)](how)
        assert "x[0] takes one element" in str(raised.value)
    with pytest.raises(TypeError, match="a scalar cannot be iterated over"):
        one_number_kernel[(1,)]("loop")
