"""The doors of the simulator: Python, the command line, JSON, schedules, and what is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest

import nacre.simulator as simulator

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
ADD = HEADER + """
.file 1 "add.cu"
.visible .entry add(.param .u64 x, .param .u64 y, .param .f32 scale, .param .u32 n)
{
.reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f3, [scale]; ld.param.u32 %r5, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
setp.ge.u32 %p1, %r4, %r5;
@%p1 bra DONE;
mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
.loc 1 7 3
ld.global.f32 %f1, [%rd4];
fma.rn.f32 %f1, %f1, %f3, %f3;
st.global.f32 [%rd5], %f1;
DONE: ret;
}
"""
WHOLE = np.zeros(16, np.float32)
# Blocks add their number to a list in the order in which they come.
ORDER = HEADER + """
.visible .entry order(.param .u64 next, .param .u64 list)
{
.reg .b32 %r<6>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [next]; ld.param.u64 %rd2, [list]; mov.u32 %r1, %ctaid.x;
atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd2, %rd3; st.global.u32 [%rd3], %r1;
ret;
}
"""


def test_arrays_and_numbers():
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    report = simulator.run(ADD, "add", 2, 64, [x, y, 2.0, 100])
    assert report.clean and report.completed
    assert (y == 2 * x + 2).all()
    assert report.counters["classes"]["float"] == 4
    assert json.loads(report.json)["version"] == 1


def test_without_counters_lines_are_not_counted():
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    report = simulator.run(ADD, "add", 2, 64, [x, y, 2.0, 100], counters=False)
    assert report.clean and (y == 2 * x + 2).all()


def test_without_counters():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    module = simulator.load(ADD)
    for counters in (False, True, False):
        report = module.run("add", 1, 64, [x, y, 1.0, 64], counters=counters)
        assert report.clean and (y == x + 1).all()
        assert bool(report.lines) == counters and bool(report.counters["global_sectors"]) == counters


def test_read_only_arrays():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    y.flags.writeable = False
    report = simulator.run(ADD, "add", 1, 64, [x, y, 1.0, 64])
    assert [finding.kind for finding in report.findings] == ["read-only-store"]


def test_finding_has_its_place():
    x, y = np.zeros(60, np.float32), np.zeros(64, np.float32)
    finding = simulator.run(ADD, "add", 1, 64, [x, y, 1.0, 64]).findings[0]
    assert (finding.kind, finding.file, finding.line, finding.thread, finding.count) == ("out-of-bounds", "add.cu", 7, (60, 0, 0), 4)
    assert "`x` (240 bytes)" in finding.message and finding.instruction.startswith("ld.global.f32")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("nothing", 1, 32, []), "there is no kernel 'nothing'"),
        (("add", 1, 32, [1]), "takes 4 arguments, not 1"),
        (("add", 1, 2048, [np.zeros(1), np.zeros(1), 1.0, 1]), "a block's x dimension has at most 1024, not 2048"),
        (("add", 1, (64, 32), [np.zeros(1), np.zeros(1), 1.0, 1]), "at most 1024 threads, not 2048"),
        (("add", 1, (1, 1, 65), [np.zeros(1), np.zeros(1), 1.0, 1]), "z dimension has at most 64, not 65"),
        (("add", (1, 65536), 32, [np.zeros(1), np.zeros(1), 1.0, 1]), "the grid's y dimension has at most 65535, not 65536"),
        (("add", (1, 1, 65536), 32, [np.zeros(1), np.zeros(1), 1.0, 1]), "the grid's z dimension has at most 65535"),
        (("add", 1, 32, [np.zeros(1), np.zeros(4, ">f4"), 1.0, 1]), "`y` has the other byte order"),
        (("add", 1, 32, [np.zeros(1), np.array([None]), 1.0, 1]), "`y` holds Python objects"),
        (("add", 0, 32, [np.zeros(1), np.zeros(1), 1.0, 1]), "the grid is at least 1"),
        (("add", 2**32 + 1, 32, [np.zeros(1), np.zeros(1), 1.0, 1]), "the grid is at least 1 and less than 2"),
        (("add", 1, 1.5, [np.zeros(1), np.zeros(1), 1.0, 1]), "the block is a whole number, not 1.5"),
        (("add", 1, 32, [np.zeros(1), np.zeros(1), 1.0, 2**32 + 5]), "4294967301 does not fit the kernel's parameter `n`"),
        (("add", 1, 32, [np.zeros(1), np.zeros(1), 1.0, 1.9]), "is a whole number, not 1.9"),
        (("add", 1, 32, [WHOLE, WHOLE[4:], 1.0, 4]), "the arrays for `x` and `y` overlap"),
        (("add", 1, 32, [np.zeros(1), np.zeros((4, 4))[:, 1], 1.0, 1]), "not contiguous"),
    ],
)
def test_wrong_launches(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        simulator.load(ADD).run(*arguments)


UNKNOWN = HEADER + """
.func helper()
{
.reg .b32 %r<2>;
tcgen05.alloc.b32 [%r1], 32;
ret;
}
.visible .entry calls() { call.uni helper; ret; }
.visible .entry holds() { .reg .b32 %r<2>; frobnicate.b32 %r1, %r1; ret; }
.visible .entry clean() { ret; }
"""


def test_only_kernels_with_unknown_instructions_are_refused():
    module = simulator.load(UNKNOWN)
    assert module.run("clean", 1, 32, []).clean and module.kernels["clean"]["refusal"] is None
    with pytest.raises(ValueError, match=r"PTX line 8: `tcgen05.alloc.*does not know the instruction `tcgen05`.*in `helper`, which `calls` calls"):
        module.run("calls", 1, 32, [])
    with pytest.raises(ValueError, match="PTX line 12: `frobnicate.b32 %r1, %r1`: the simulator does not know"):
        module.run("holds", 1, 32, [])
    assert "frobnicate" in module.kernels["holds"]["refusal"]


@pytest.mark.parametrize(
    "ptx, error, message",
    [
        (None, TypeError, "PTX is text .*, not NoneType"),
        ("hello", ValueError, "PTX line 1: `hello` is not known at module level"),
        ("", ValueError, "this is not PTX"),
        (HEADER.replace("8.0", "6.5"), ValueError, "PTX line 1: PTX 6.5 is not simulated: versions 7.0 to 9.x are"),
        (HEADER.replace("8.0", "10.0"), ValueError, "PTX 10.0 is not simulated"),
        (HEADER.replace("sm_90", "sm_100a"), ValueError, "PTX line 2: the target `sm_100a` is not simulated: sm_75 to sm_90a are"),
        (HEADER.replace("sm_90", "sm_70"), ValueError, "the target `sm_70` is not simulated"),
    ],
)
def test_what_is_not_ptx(ptx, error, message):
    with pytest.raises(error, match=message):
        simulator.load(ptx)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"box": (64,)}, ValueError, r"a tensor map of 2 dimensions has a box of 2 numbers, not \(64,\)"),
        ({"box": 64}, TypeError, "the box of a tensor map is one number a dimension, not 64"),
        ({"box": (8, -64)}, ValueError, "box of a tensor map is at least 0"),
        ({"box": (8, 257)}, ValueError, "the box of a tensor map has numbers from 1 to 256, not 257"),
        ({"box": (8, 1.5)}, TypeError, "is a whole number, not 1.5"),
        ({"box": (8, 64), "strides": (128, 2)}, ValueError, "has a strides of 1 numbers"),
        ({"box": (8, 64), "element_strides": (0, 1)}, ValueError, "has numbers from 1 to 8, not 0"),
        ({"box": (8, 64), "swizzle": 7}, ValueError, "a swizzle is 0, 32, 64 or 128 bytes, not 7"),
    ],
)
def test_wrong_tensor_maps(options, error, message):
    ptx = HEADER + ".visible .entry k(.param .align 64 .b8 map[128]) { ret; }"
    with pytest.raises(error, match=message):
        simulator.run(ptx, "k", 1, 32, [simulator.TensorMap(np.zeros((64, 64), np.float16), **options)])


def test_empty_arrays_have_names():
    finding = simulator.run(ADD, "add", 1, 32, [np.zeros(0, np.float32), np.zeros(32, np.float32), 1.0, 32]).findings[0]
    assert finding.kind == "out-of-bounds" and "past the end of `x` (0 bytes)" in finding.message


GRID = HEADER + """
.visible .entry k(.param .u64 out)
{
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd2, {%r2, %r1};
setp.ne.u64 %p, %rd2, 0;
@%p bra GOOD;
trap;
GOOD: mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3], %r3;
atom.add.release.gpu.u32 %r5, [%rd2+4], 1;
WAIT: ld.acquire.gpu.u32 %r6, [%rd2+4]; setp.lt.u32 %p, %r6, %r4; @%p bra WAIT;
sub.u32 %r7, %r4, %r3; sub.u32 %r7, %r7, 1; mul.wide.u32 %rd4, %r7, 4; add.u64 %rd4, %rd1, %rd4; ld.global.u32 %r7, [%rd4];
st.global.u32 [%rd3+1024], %r7;
ret;
}
"""


def test_cooperative_launches():
    out = np.zeros(512, np.uint32)
    assert simulator.run(GRID, "k", 40, 1, [out], cooperative=True).clean
    assert (out[256:296] == np.arange(40)[::-1]).all()
    report = simulator.run(GRID, "k", 40, 1, [out])
    assert report.findings[0].kind == "trap" and "cooperative=True" in report.findings[0].message
    with pytest.raises(ValueError, match="a cooperative launch of such blocks has at most 264, not 300"):
        simulator.run(GRID, "k", 300, 1024, [out], cooperative=True)


def order(**options):
    following, listed = np.zeros(1, np.uint32), np.zeros(40, np.uint32)
    assert simulator.run(ORDER, "order", 40, 1, [following, listed], **options).clean
    assert sorted(listed) == list(range(40))
    return listed.tolist()


def test_schedules():
    assert order() == order() == list(range(40))
    assert order(schedule="random", seed=3) == order(schedule="random", seed=3)
    assert order(schedule="random", seed=3) != order(schedule="random", seed=4)


def test_instruction_limit():
    loop = HEADER + ".visible .entry k()\n{\nL: bra L;\n}"
    report = simulator.run(loop, "k", 1, 32, [], instruction_limit=10000)
    assert [finding.kind for finding in report.findings] == ["limit-reached"] and not report.completed


def test_variables_keep_their_values():
    ptx = HEADER + ".global .u32 count = 5;\n.visible .entry k()\n{\n.reg .b32 %r<2>;\nred.global.add.u32 [count], 1;\nret;\n}"
    module = simulator.load(ptx)
    module.run("k", 2, 32, [])
    module.run("k", 1, 32, [])
    assert module.variable("count", np.uint32)[0] == 5 + 96
    assert module.variable("nothing") is None


def nacre(*arguments):
    return subprocess.run([sys.executable, "-m", "nacre", *arguments], capture_output=True, text=True)


def test_command_line(tmp_path):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    result = nacre("simulate", str(path), "--grid", "2", "--block", "64", "--args", "f32[100]=iota,f32[100],f32=2,u32=100", "--show", "3", "--write", f"1={tmp_path}/y")
    assert result.returncode == 0, result.stderr
    assert "argument 1: 2 4 6" in result.stdout and "0 findings" in result.stdout
    assert (np.fromfile(tmp_path / "y", np.float32) == 2 * np.arange(100) + 2).all()
    result = nacre("simulate", str(path), "--grid", "2", "--block", "64", "--args", "f32[100]=iota,f32[90],f32=2,u32=100", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["findings"][0]["kind"] == "out-of-bounds"
    assert "add(.u64 x, .u64 y, .f32 scale, .u32 n)" in nacre("simulate", str(path), "--list").stdout
    assert nacre("simulate", str(path), "--args", "f99=1").returncode == 2
    path.write_text(ADD.replace("fma.rn.f32", "fma.rx.f32"))
    result = nacre("simulate", str(path), "--args", "f32[1],f32[1],f32=1,u32=1")
    assert result.returncode == 1 and "add.ptx:16: error:" in result.stderr and "`.rx`" in result.stderr


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--grid", "4294967297", "--grid is a whole number of at most 2147483647, not `4294967297`"),
        ("--block", "-1", "--block is a whole number"),
        ("--shared", "1e3", "--shared is a whole number"),
        ("--threads", "99999999999", "--threads is a whole number of at most 1024"),
        ("--args", "u8=256", "`256` does not fit into 8 bits without a sign"),
        ("--args", "i8=-129", "`-129` does not fit into 8 bits"),
        ("--args", "i32=2147483648", "`2147483648` does not fit into 32 bits"),
        ("--args", "u64=18446744073709551616", "`18446744073709551616` is not a whole number of 64 bits"),
        ("--args", "i32=1.5", "`1.5` is not a whole number"),
        ("--args", "i32[4]=x", "`x` is not a number"),
        ("--args", "f16=1e6", "`1e6` is too large for its type of 16 bits"),
        ("--args", "i8[4]=200", "`200` does not fit into 8 bits"),
        ("--args", "f32[99999999999x99999999999]", "an array's size is a whole number"),
    ],
)
def test_numbers_that_do_not_fit(tmp_path, option, value, message):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    result = nacre("simulate", str(path), option, value)
    assert result.returncode == 2 and message in result.stderr


CARRIES = HEADER + """
.visible .entry carries(.param .u64 out, .param .u32 a, .param .u32 b)
{
.reg .b32 %r<9>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
sub.cc.u32 %r3, %r1, %r2; subc.u32 %r4, 0, 0;
sub.cc.u32 %r3, %r1, %r2; addc.u32 %r5, 0, 0;
add.cc.u32 %r6, %r1, %r2; addc.u32 %r7, 0, 0;
st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r7};
ret;
}
"""


@pytest.mark.parametrize("a, b", [(5, 3), (3, 5), (7, 7), (2**32 - 1, 1), (0, 2**32 - 1)])
def test_one_flag_carries_sums_and_differences(a, b):
    """After a difference the flag is set where there was no borrow, as the code that nvcc makes of wide divisions expects."""
    out = np.zeros(4, np.uint32)
    assert simulator.run(CARRIES, "carries", 1, 1, [out, a, b]).clean
    borrows = a < b
    np.testing.assert_array_equal(out, [(a - b) % 2**32, 2**32 - 1 if borrows else 0, not borrows, (a + b) >> 32])


@pytest.mark.parametrize("options", [{}, {"schedule": "random", "seed": 3}], ids=["fixed", "random"])
def test_the_limit_is_exact(options):
    """A kernel of two warps with as many instructions as the limit allows comes to its end; with one fewer it does not."""
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    module = simulator.load(ADD)
    count = module.run("add", 1, 64, [x, y, 1.0, 64], **options).counters["warp_instructions"]
    for limit in (1, 3, count - 1):
        report = module.run("add", 1, 64, [x, y, 1.0, 64], instruction_limit=limit, **options)
        assert [finding.kind for finding in report.findings] == ["limit-reached"] and not report.completed
        assert report.counters["warp_instructions"] == limit
    assert module.run("add", 1, 64, [x, y, 1.0, 64], instruction_limit=count, **options).clean


def test_findings_past_the_limit_are_counted():
    x, y = np.zeros(60, np.float32), np.zeros(60, np.float32)
    for limit, kept in ((0, 0), (1, 1), (5, 2)):
        report = simulator.run(ADD, "add", 1, 64, [x, y, 1.0, 64], finding_limit=limit)
        assert (len(report.findings), report.more_findings) == (kept, 2 - kept) and not report.clean
        assert "2 findings" in str(report) and json.loads(report.json)["more_findings"] == 2 - kept


def test_findings_past_the_limit_of_the_command_line(tmp_path):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    result = nacre("simulate", str(path), "--block", "64", "--args", "f32[60],f32[60],f32=2,u32=64", "--findings", "0")
    assert result.returncode == 1 and "2 findings (2 past the limit are not shown)" in result.stdout


def test_shown_numbers_keep_all_their_digits(tmp_path):
    path = tmp_path / "empty.ptx"
    path.write_text(HEADER + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }")
    numbers = "i32[2]=-2147483648,u64[2]=18446744073709551615,i64[1]=-9007199254740993,f64[1]=0.1"
    result = nacre("simulate", str(path), "--args", numbers, "--show", "2")
    assert result.stdout.splitlines()[-4:] == [
        "argument 0: -2147483648 -2147483648",
        "argument 1: 18446744073709551615 18446744073709551615",
        "argument 2: -9007199254740993",
        "argument 3: 0.10000000000000001",
    ]


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["{folder}", "--list"], 1, "{folder} is a directory"),
        (["{binary}", "--list"], 1, "this is a compiled file (a cubin or an object), not PTX text"),
        (["{bytes}", "--list"], 1, "a byte 0xe9 outside comments and strings"),
        (["{ptx}", "--args", "f32[4],f32[4],f32=1,u32=4", "--write", "7=out"], 2, "--write: argument 7 is not an array"),
        (["{ptx}", "--args", "f32[4],f32[4],f32=1,u32=4", "--cluster", "32", "--grid", "32"], 1, "a cluster has at most 16 blocks, not 32"),
    ],
)
def test_wrong_files_and_arguments(tmp_path, arguments, status, message):
    names = {"folder": tmp_path, "binary": tmp_path / "a.cubin", "bytes": tmp_path / "bytes.ptx", "ptx": tmp_path / "add.ptx"}
    names["binary"].write_bytes(b"\x7fELF\x02\x01\x01\x00")
    names["bytes"].write_bytes(HEADER.encode() + b"\xe9")
    names["ptx"].write_text(ADD)
    result = nacre("simulate", *(argument.format(**names) for argument in arguments))
    assert result.returncode == status and message.format(**names) in result.stderr and not result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda module: module.run("add", 1, 32, None), TypeError, "args is a list of the kernel's arguments, not NoneType"),
        (lambda module: module.run("add", 1, 32, np.zeros(4)), TypeError, "args is a list of the kernel's arguments, not ndarray"),
        (lambda module: module.variable(5), TypeError, "the name of a variable is text, not 5"),
        (lambda module: module.run("add", 1, 32, [WHOLE, WHOLE, 1.0, 1], threads=10**6), ValueError, "threads is at least 0 and less than"),
        (lambda module: module.run("add", 32, 32, [WHOLE, WHOLE, 1.0, 1], cluster=32), ValueError, "a cluster has at most 16 blocks"),
        (lambda module: simulator.load(HEADER + "é"), ValueError, "PTX line 4: a byte 0xc3 outside comments and strings"),
        (lambda module: simulator.load(HEADER.encode() + b"\xff"), ValueError, "PTX line 4: a byte 0xff outside comments"),
        (lambda module: simulator.load(ADD.replace("ret;", "ret\0;")), ValueError, "a byte 0x00 outside comments"),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call(simulator.load(ADD))


def test_text_that_ends_as_the_driver_wants_it():
    assert "add" in simulator.load(ADD + "\0").kernels and "add" in simulator.load(ADD + "// é\n\0\0").kernels


PRINT = HEADER + """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 plain[3] = {97, 10, 0};
.global .align 1 .b8 three[14] = {37, 100, 32, 37, 115, 32, 37, 99, 32, 37, 37, 10, 0, 0};
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %rd<8>;
.local .align 8 .b8 stack[24];
.param .b64 a; .param .b64 b; .param .b32 s;
ld.param.u64 %rd1, [out];
st.local.b32 [stack], 7; st.local.b64 [stack+8], 0; st.local.b32 [stack+16], 200;
mov.u64 %rd2, plain; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, three; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, stack; cvta.local.u64 %rd4, %rd4;
st.param.b64 [a], %rd2; st.param.b64 [b], 0; call.uni (s), vprintf, (a, b); ld.param.b32 %r1, [s]; st.global.b32 [%rd1], %r1;
st.param.b64 [a], %rd3; st.param.b64 [b], %rd4; call.uni (s), vprintf, (a, b); ld.param.b32 %r1, [s]; st.global.b32 [%rd1+4], %r1;
st.param.b64 [a], 0; st.param.b64 [b], %rd4; call.uni (s), vprintf, (a, b); ld.param.b32 %r1, [s]; st.global.b32 [%rd1+8], %r1;
ret;
}
"""


def test_printf_returns_how_many_arguments_it_took():
    out = np.full(3, 99, np.int32)
    report = simulator.run(PRINT, "k", 1, 1, [out])
    assert report.clean and out.tolist() == [0, 3, -1]
    assert report.printed == "a\n7 (null) \ufffd %\n"  # a byte that is not UTF-8
