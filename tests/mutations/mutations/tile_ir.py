"""Mutated tile IR, read, verified and put through passes by nacre-opt: an error or success, never a crash."""

import os
import random
import re
import subprocess

from mutations.corpus import BUILD, modules
from mutations.mutate import mutated

OPT = BUILD / "cli/nacre-opt"
PASSES = (
    (),
    ("--cse",),
    ("--canonicalize",),
    ("--scalarize-carried", "--canonicalize"),
    ("--expand-math", "--cse"),
    ("--deepen-dots",),
    ("--legalize-integers", "--widen-small-floats", "--canonicalize"),
    ("--print-axis-info", "--print-access-forms", "--print-plan"),
    ("--pack-dots", "--print-plan"),
    ("--canonicalize", "--cse", "--pack-dots", "--lower-to-loops"),
    ("--widen-small-floats", "--pack-dots=vector-bytes=64 registers=32 bf16-dot=true", "--lower-to-loops=vector-bytes=64 registers=32", "--lower-micro-kernels", "--place-scratch", "--expand-math", "--kernel-entry", "--canonicalize", "--cse"),
)
WORDS = ("i1", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "index", "vector<4xf32>", "tensor<16xf32>", "tensor<4x4xi32>", "tensor<1xi1>",
         "tensor<0xf32>", "tensor<?xf32>", "tensor<*xf32>", "none", "unit", "dense<0>", "dense<1.0>", "array<i64: 0, 0>", "-1 : i32", "@kernel",
         "!tile.ptr<f32>", "tensor<16x!tile.ptr<f32>>", "()", "{}", "attributes", "true", "false", "%arg0", "%0", "%1")  # fmt: skip
TOGETHER = 25  # texts that one process reads
SECONDS = 120  # for all of them


# MLIR 22's own reader crashes on an array of indices, and takes memory for as many results as a number behind # says. (Stages that
# users replace are refused before it reads them.)
ARRAY_OF_INDICES = re.compile(r"array\s*<\s*index")
LARGE_NUMBER = re.compile(r"(%[-\w$.]+#\d{1,5})\d*")


def texts_of(seed):
    rng = random.Random(seed)
    texts = [mutated(rng.choice(modules()), modules(), WORDS, rng) for _ in range(TOGETHER)]
    return [LARGE_NUMBER.sub(r"\1", ARRAY_OF_INDICES.sub("array<i64", text)) for text in texts]


def _ends_well(texts, passes):
    """Whether nacre-opt ends by itself; what it said."""
    text = "\n// -----\n".join(texts)
    command = [OPT, "--split-input-file", "--allow-unregistered-dialect", *passes, "-o", os.devnull]
    try:
        run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return False, f"no end after {SECONDS} seconds"
    return run.returncode in (0, 1), f"exit code {run.returncode}\n{run.stderr[-2000:]}"


def check(seed):
    texts = texts_of(seed)
    problems = []
    for passes in PASSES:
        yield None
        if _ends_well(texts, passes)[0]:
            continue
        for text in texts:
            is_well, said = _ends_well([text], passes)
            if not is_well:
                problems.append(f"nacre-opt {' '.join(passes)}: {said}\n{text}")
    yield problems


def show(seed):
    return "\n// -----\n".join(texts_of(seed))
