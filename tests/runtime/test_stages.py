"""A kernel's stages in the user's hands: dumped, replaced, compiled from, looked at while they are made."""

import shutil
import subprocess

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre import knobs

KERNEL = """
    import numpy as np
    import nacre
    import nacre.language as tl

    @nacre.jit
    def scale_kernel(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out + offsets, tl.load(x + offsets, mask=mask) * 3.0, mask=mask)

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    compiled = scale_kernel[(2,)](x, out, 64, BLOCK=32)
    print(out[2], nacre._core.cache_counts()["compiles"])
"""

# What turns "times 3" into "times 5" in each stage's text.
EDITS = {"tile": ("3.000000e+00", "5.000000e+00"), "cpu": ("3.000000e+00", "5.000000e+00"),
         "llvm": ("3.000000e+00", "5.000000e+00"), "asm": ("0x40400000", "0x40a00000")}  # fmt: skip
ALIASES = {"tile": "ttir", "cpu": "ttgir", "llvm": "llir", "asm": "s"}


@nacre.jit
def scale_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) * 3.0, mask=mask)


def arrays():
    return np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


def changed(stage, text):
    before, after = EDITS[stage]
    assert before in text, stage
    return text.replace(before, after)


# TRITON_KERNEL_DUMP, edit, TRITON_KERNEL_OVERRIDE


@pytest.mark.parametrize("stage", list(EDITS))
@pytest.mark.parametrize("suffix", ["ours", "theirs"])
def test_a_dumped_stage_is_edited_and_taken(script, tmp_path, stage, suffix):
    path, dump, override = script.write(KERNEL), tmp_path / "dump", tmp_path / "override"
    assert script.finish(script.start(path, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(dump))) == "6.0 1\n"
    shutil.copytree(dump, override)
    (folder,) = override.iterdir()
    for file in folder.iterdir():
        if file.suffix == f".{stage}":
            file.with_suffix(f".{stage if suffix == 'ours' else ALIASES[stage]}").write_text(changed(stage, file.read_text()))
        if file.suffix != f".{stage}" or suffix == "theirs":
            file.unlink()
    overridden = {"TRITON_KERNEL_OVERRIDE": "1", "TRITON_OVERRIDE_DIR": str(override)}
    assert script.finish(script.start(path, **overridden)) == "10.0 1\n"
    assert script.finish(script.start(path, **overridden)) == "10.0 1\n"  # never from the cache
    assert script.finish(script.start(path)) == "6.0 0\n"  # nor in it


@pytest.mark.parametrize("stage", list(EDITS))
def test_a_copy_of_all_stages_with_one_edited(script, tmp_path, stage):
    """As the guide says it: the files that were not edited do not undo the one that was."""
    path, dump, override = script.write(KERNEL), tmp_path / "dump", tmp_path / "override"
    script.finish(script.start(path, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(dump)))
    shutil.copytree(dump, override)
    (file,) = override.glob(f"*/*.{stage}")
    file.write_text(changed(stage, file.read_text()))
    process = script.start(path, TRITON_KERNEL_OVERRIDE="1", TRITON_OVERRIDE_DIR=str(override))
    out, err = process.communicate(timeout=600)
    assert (out, err) == ("10.0 1\n", "")


def test_an_override_that_cannot_be_meant_is_said(script, tmp_path):
    path, dump, override = script.write(KERNEL), tmp_path / "dump", tmp_path / "override"
    script.finish(script.start(path, TRITON_KERNEL_DUMP="1", TRITON_DUMP_DIR=str(dump)))
    variables = {"TRITON_KERNEL_OVERRIDE": "1", "TRITON_OVERRIDE_DIR": str(override)}

    def said():
        process = script.start(path, **variables)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        return out, err

    out, err = said()
    assert out == "6.0 1\n" and f"there is no folder {override}" in err and err.count("\n") == 1
    shutil.copytree(dump, override)
    assert said() == ("6.0 1\n", "")  # a copy in which nothing was edited
    (folder,) = override.iterdir()
    for stage, after in (("tile", "5.000000e+00"), ("llvm", "7.000000e+00")):
        file = folder / f"scale_kernel.{stage}"
        file.write_text(file.read_text().replace("3.000000e+00", after))
    (folder / "scale_kernel.cpu").unlink()
    (folder / "scale_kernel.asm").unlink()
    out, err = said()
    assert out == "14.0 1\n" and "scale_kernel.llvm hides what" in err and "scale_kernel.tile says" in err
    folder.rename(override / "other")
    out, err = said()
    assert out == "6.0 1\n" and "is of another version of scale_kernel" in err and err.count("\n") == 1


def test_an_override_folder_without_the_kernel_changes_nothing(script, tmp_path):
    (tmp_path / "override").mkdir()
    variables = {"TRITON_KERNEL_OVERRIDE": "1", "TRITON_OVERRIDE_DIR": str(tmp_path / "override")}
    assert script.run(KERNEL, **variables) == "6.0 1\n"


def test_the_text_of_a_kernel_with_a_replaced_stage_shows_it(tmp_path):
    x, out = arrays()
    path = tmp_path / "kernel.ttir"
    path.write_text(changed("tile", scale_kernel[(2,)](x, out, 64, BLOCK=32).asm["ttir"]))
    compiled = scale_kernel[(2,)](x, out, 64, BLOCK=32, ir_override=str(path))
    assert EDITS["tile"][1] in compiled.asm["ttir"] and EDITS["llvm"][1] in compiled.asm["llir"]
    assert EDITS["asm"][1] in compiled.asm["asm"]


# ir_override


@pytest.mark.parametrize("stage", list(EDITS))
def test_a_launch_with_a_stage_of_its_own(tmp_path, stage):
    x, out = arrays()
    plain = scale_kernel[(2,)](x, out, 64, BLOCK=32)
    path = tmp_path / f"mine.{ALIASES[stage]}"
    path.write_text(changed(stage, plain.asm[stage]))
    compiled = scale_kernel[(2,)](x, out, 64, BLOCK=32, ir_override=path)
    np.testing.assert_array_equal(out, x * 5)
    assert compiled.hash != plain.hash and compiled.metadata.ir_override == str(path) and plain.metadata.ir_override is None
    scale_kernel[(2,)](x, out, 64, BLOCK=32)
    np.testing.assert_array_equal(out, x * 3)


def test_a_configuration_with_a_stage_of_its_own(tmp_path):
    x, out = arrays()
    path = tmp_path / "mine.ttir"
    path.write_text(changed("tile", scale_kernel[(2,)](x, out, 64, BLOCK=32).asm["ttir"]))
    configs = [nacre.Config({"BLOCK": 32}, ir_override=str(path))]
    tuned = nacre.autotune(configs, key=["n"])(scale_kernel)
    tuned[(2,)](x, out, 64)
    np.testing.assert_array_equal(out, x * 5)
    assert configs[0] != nacre.Config({"BLOCK": 32}) and str(path) in str(configs[0])


@pytest.mark.parametrize("name, text, error, message", [
    ("mine.ttir", "module { func.func", nacre.CompilationError, "the stage `tile` cannot be used: line 1"),
    ("mine.ttir", "module {}", nacre.CompilationError, "no func.func"),
    ("mine.ttir", "module { func.func @other() attributes {tile.kernel} { return } }", nacre.CompilationError, "@other of type"),
    ("mine.ttir", "module attributes {a = array< index: 1>} {}", nacre.CompilationError, "write array<i64"),
    ("mine.ttir", "module { func.call @f(%a#4294967295) : (i32) -> () }", nacre.CompilationError, "larger than the number of results"),
    ("mine.llir", "define i32 @other() { ret i32 0 }", nacre.CompilationError, "does not define @scale_kernel"),
    ("mine.llir", "define i32", nacre.CompilationError, "the stage `llvm` cannot be used: line 1"),
    ("mine.s", "nonsense %rax", nacre.CompilationError, "the stage `asm` cannot be used: line 1"),
    ("mine.ptx", "", ValueError, "the suffix names no stage"),
    ("mine", "", ValueError, "the suffix names no stage"),
])  # fmt: skip
def test_stages_that_cannot_be_used(tmp_path, name, text, error, message):
    x, out = arrays()
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(error, match=message):
        scale_kernel[(2,)](x, out, 64, BLOCK=32, ir_override=str(path))
    with pytest.raises(FileNotFoundError, match="nowhere.ttir"):
        scale_kernel[(2,)](x, out, 64, BLOCK=32, ir_override=str(tmp_path / "nowhere.ttir"))


# Compiling from IR


def test_compile_from_ir(tmp_path):
    x, out = arrays()
    plain = scale_kernel[(2,)](x, out, 64, BLOCK=32)
    path = tmp_path / "kernel.ttir"
    path.write_text(plain.asm["ttir"])
    compiled = nacre.compile(str(path))
    assert compiled.name == "scale_kernel" and compiled.asm["source"] == plain.asm["ttir"]
    assert compiled.src.signature == {0: "*fp32", 1: "*fp32", 2: "i32"} and compiled.metadata.num_warps == 4
    out[:] = 0
    compiled[(2, 1, 1)](x, out, 64)
    np.testing.assert_array_equal(out, x * 3)
    source = nacre.compiler.IRSource(path, None, None)
    again = nacre.compile(source, options={"num_warps": 8})
    assert again.hash == compiled.hash and again.metadata.num_warps == 8 and source.name == "scale_kernel"
    assert source.ext == "ttir" and len(source.hash()) == 40 and source.attrs == {(2,): [["tt.divisibility", 16]]} | source.attrs


def test_ir_that_cannot_be_compiled(tmp_path):
    path = tmp_path / "kernel.ttir"
    path.write_text("module {")
    with pytest.raises(nacre.CompilationError, match="line 1"):
        nacre.compile(str(path))
    path.write_text("module { func.func @f() { return } }")
    with pytest.raises(nacre.CompilationError, match="tile.kernel"):
        nacre.compile(str(path))
    (tmp_path / "kernel.llir").write_text("")
    with pytest.raises(ValueError, match="compiled from tile IR"):
        nacre.compile(str(tmp_path / "kernel.llir"))
    with pytest.raises(FileNotFoundError):
        nacre.compile(str(tmp_path / "nowhere.ttir"))
    with pytest.raises(TypeError, match="ASTSource or the path"):
        nacre.compile(7)


# Looking


def test_llvm_passes_are_shown(script, tmp_path):
    process = script.start(script.write(KERNEL), LLVM_IR_ENABLE_DUMP="1")
    out, err = process.communicate(timeout=600)
    assert out == "6.0 1\n" and "; ---- after instcombine" in err and "define" in err and ": no change" in err
    path = tmp_path / "passes.txt"
    process = script.start(script.write(KERNEL), LLVM_IR_ENABLE_DUMP="1", MLIR_DUMP_PATH=str(path), TRITON_ALWAYS_COMPILE="1")
    out, err = process.communicate(timeout=600)
    assert out == "6.0 1\n" and err == "" and "; ---- after" in path.read_text()


def test_passes_go_to_a_file_and_of_one_kernel_alone(script, tmp_path):
    path = tmp_path / "passes.txt"
    path.write_text("before\n")
    script.run(KERNEL, MLIR_ENABLE_DUMP="scale_kernel", MLIR_DUMP_PATH=str(path))
    told = path.read_text()
    assert told.startswith("before\n// ---- after canonicalize-inner-regions") and "// ---- after canonicalize" in told and "tile.load" in told
    script.run(KERNEL, MLIR_ENABLE_DUMP="another_kernel", MLIR_DUMP_PATH=str(path), TRITON_ALWAYS_COMPILE="1")
    assert path.read_text() == told
    failed = script.start(script.write(KERNEL), MLIR_ENABLE_DUMP="1", MLIR_DUMP_PATH="/proc/no/such", TRITON_ALWAYS_COMPILE="1")
    assert "cannot be written to /proc/no/such" in failed.communicate(timeout=600)[1] and failed.returncode == 1


@pytest.mark.parametrize("stage, ours", [("ttir", "tile"), ("cpu", "cpu")])
def test_lines_of_a_stage(script, tmp_path, stage, ours):
    text = KERNEL + "\n    print(compiled.asm['obj'].find(b'scale_kernel." + ours + "') > 0)\n"
    dump = tmp_path / "dump"
    assert script.run(text, USE_IR_LOC=stage, TRITON_DUMP_DIR=str(dump)) == "6.0 1\nTrue\n"
    (file,) = dump.glob(f"*/scale_kernel.{ours}")
    assert "func.func @scale_kernel" in file.read_text()
    script_path = script.write(text)
    assert script.finish(script.start(script_path)) == "6.0 1\nFalse\n"
    failed = script.start(script_path, USE_IR_LOC="llir")
    assert "USE_IR_LOC=llir: expected tile or cpu" in failed.communicate(timeout=600)[1]


def test_only_the_binary_is_kept():
    @nacre.jit
    def kernel(out):
        tl.store(out, 4.0)

    out = np.zeros(1, np.float32)
    with knobs.compilation.scope():
        knobs.compilation.store_binary_only = True
        compiled = kernel[(1,)](out)
        assert out[0] == 4 and set(compiled.asm) == {"source", "obj"}
        with pytest.raises(KeyError, match="only the machine code was kept"):
            compiled.asm["ttir"]


def test_what_other_targets_have_is_a_clear_error():
    x, out = arrays()
    asm = scale_kernel[(2,)](x, out, 64, BLOCK=32).asm
    for key in ("ptx", "cubin", "sass"):
        with pytest.raises(KeyError, match=f"{key}: the kernel was compiled for the CPU, which has no such stage; there are source,"):
            asm[key]
        assert key not in asm and asm.get(key) is None
    with pytest.raises(KeyError, match="nonsense: there is no such stage"):
        asm["nonsense"]
    for theirs, ours in ALIASES.items():
        assert asm[theirs] == asm[ours]


# Changing stages while they are made


def test_stages_are_inspected():
    calls = []

    def hook(*args):
        if not args:
            return "times five", hash("times five")
        backend, stages, options, language, capability = args
        calls.append((backend, list(stages), options.num_warps))
        original = stages["ttir"]
        stages["ttir"] = lambda source, metadata: changed("tile", original(source, metadata))

    @nacre.jit
    def kernel(x, out, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets) * 3.0)

    x, out = arrays()
    kernel[(1,)](x, out, BLOCK=64)
    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        for _ in range(2):
            kernel[(1,)](x, out, BLOCK=64, num_warps=2)
            np.testing.assert_array_equal(out, x * 5)
    assert calls == [(calls[0][0], ["ttir", "ttgir", "llir", "s"], 2)] and calls[0][0].binary_ext == "obj"
    kernel[(1,)](x, out, BLOCK=64)
    np.testing.assert_array_equal(out, x * 3)


def test_errors_of_inspection():
    x, out = arrays()

    def with_function(function):
        def hook(*args):
            if not args:
                return "key", repr(function)
            args[1]["ttgir"] = function

        with knobs.runtime.scope():
            knobs.runtime.add_stages_inspection_hook = hook
            scale_kernel[(2,)](x, out, 64, BLOCK=32)

    with pytest.raises(nacre.CompilationError, match="ZeroDivisionError"):
        with_function(lambda source, metadata: 1 // 0)
    with pytest.raises(nacre.CompilationError, match="must return its text, not int"):
        with_function(lambda source, metadata: 1)
    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = lambda *args: args[1].clear() if args else ("key", "hash")
        with pytest.raises(ValueError, match="a stage can be changed, not added or taken away"):
            scale_kernel[(2,)](x, out, 64, BLOCK=32)


def test_an_assembled_stage_has_gdb_lines(tmp_path):
    """The assembler takes what the compiler prints, debug information included."""
    x, out = arrays()
    compiled = scale_kernel[(2,)](x, out, 64, BLOCK=32)
    path = tmp_path / "mine.s"
    path.write_text(compiled.asm["asm"])
    again = scale_kernel[(2,)](x, out, 64, BLOCK=32, ir_override=str(path))
    (tmp_path / "kernel.o").write_bytes(again.kernel)
    told = subprocess.run(["readelf", "-S", str(tmp_path / "kernel.o")], capture_output=True, text=True).stdout
    assert ".debug_line" in told


# Every stage of kernels of all kinds is taken back as it was printed


@nacre.jit
def maximum(a, b):
    return tl.maximum(a, b)


@nacre.jit
def product_kernel(x, out):
    offsets = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    a = tl.load(x + offsets)
    acc = tl.zeros((32, 32), tl.float32)
    for i in range(3):
        acc = tl.dot(a, a, acc, input_precision="ieee")
        acc = acc * 0.5 + i
    tl.store(out + offsets, acc)


@nacre.jit
def reductions_kernel(x, out):
    offsets = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    a = tl.load(x + offsets)
    row = tl.softmax(a, 1) + tl.cumsum(a, 1) + tl.sort(a)
    best = tl.reduce(row, 1, maximum)
    index = tl.argmax(a, 1)
    tl.store(out + offsets, row + best[:, None] + index[:, None] + tl.exp(tl.sin(a)))


@nacre.jit
def control_kernel(x, out, n):
    count = 0
    value = tl.load(x)
    while value < 100.0:
        if count == 7:
            break
        value = value * 1.5 + 1.0
        count += 1
    tl.atomic_add(out + tl.program_id(0), value, sem="relaxed")
    tl.atomic_max(out + 1, value)
    bits = (tl.load(x + tl.arange(0, 16)) * n).to(tl.float16).to(tl.int16, bitcast=True)
    tl.store(out + 16 + tl.arange(0, 16), tl.where(bits > 0, bits, -bits) * 1.0)
    tl.device_assert(count < 8, "too many rounds")
    tl.device_print("count", count)


@pytest.mark.parametrize("kernel, more", [(product_kernel, ()), (reductions_kernel, ()), (control_kernel, (3,))])
@pytest.mark.parametrize("stage", list(EDITS))
def test_stages_are_taken_back_as_printed(tmp_path, capsys, kernel, more, stage):
    x = np.random.default_rng(0).random(1024).astype(np.float32)
    expected, found = np.zeros(1024, np.float32), np.zeros(1024, np.float32)
    compiled = kernel[(1,)](x, expected, *more, debug=True)
    path = tmp_path / f"same.{stage}"
    path.write_text(compiled.asm[stage])
    printed = capsys.readouterr().out
    again = kernel[(1,)](x, found, *more, debug=True, ir_override=path)
    np.testing.assert_array_equal(found, expected)
    assert again.metadata.scratch_bytes == compiled.metadata.scratch_bytes and capsys.readouterr().out == printed
