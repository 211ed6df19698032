"""PyTorch's own database of operators, each compiled with backend="nacre" and compared with eager: everything torch compiles, right.

    python tests/torch/opinfo.py [--every N] [--from K] [--samples S] [--dtypes float32,int64] [--only NAME] [--device cuda] [--seconds S]

Prints what differs or fails, and a closing line of counts; exits with 1 if anything did. What differs from eager as Inductor's own C++ does
is torch's, and counted apart; on the CPU that is asked where there is a C++ compiler.
"""

import argparse
import random
import shutil
import sys
import time
import warnings

import torch

# Their results are not determined by their inputs.
UNDETERMINED = {"empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted", "bernoulli", "multinomial",
                "normal", "uniform", "cauchy", "exponential", "geometric", "log_normal"}  # fmt: skip


# Their first result is; the others are a generator's state, which nobody has set without dropout.
SEEDED = {"torch.ops.aten._flash_attention_forward", "torch.ops.aten._efficient_attention_forward"}


def is_determined(name):
    return name not in UNDETERMINED and "rand" not in name and "dropout" not in name


def is_short(result):
    """Floats of 16 bits: eager rounds after each operation, a fused kernel once."""
    tensors = result if isinstance(result, (tuple, list)) else (result,)
    return any(isinstance(tensor, torch.Tensor) and tensor.dtype in (torch.bfloat16, torch.float16) for tensor in tensors)


def is_as_near_as_eager(function, sample, result, expected):
    """Of short floats, where sums cancel: whether the result is as near to the one of float64 as eager's is."""

    def widened(value):
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    exact = function(*torch.utils._pytree.tree_map(widened, (sample.input, *sample.args)), **torch.utils._pytree.tree_map(widened, sample.kwargs))
    flat = [torch.utils._pytree.tree_leaves(value) for value in (result, expected, exact)]
    return all((ours.double() - true).abs().max() <= (eager.double() - true).abs().max() for ours, eager, true in zip(*flat))


def without_order_of_equals(operator, sample, result):
    """Indices of a sort that is not stable are not determined among equal elements; what they lead to is."""
    if operator.name not in ("sort", "argsort") or sample.kwargs.get("stable"):
        return result
    dimension = sample.args[0] if sample.args else sample.kwargs.get("dim", -1)
    indices = result if operator.name == "argsort" else result[1]
    led_to = torch.atleast_1d(sample.input).gather(dimension, torch.atleast_1d(indices))
    return led_to if operator.name == "argsort" else (result[0], led_to)


def is_of_inductor(function, sample, result, device):
    """Whether torch's own backend gives this too."""
    if device == "cpu" and shutil.which("c++") is None:
        return False
    torch.compiler.reset()
    try:
        torch.testing.assert_close(torch.compile(function)(sample.input, *sample.args, **sample.kwargs), result, equal_nan=True)
    except Exception:
        return False
    return True


def samples_of(operator, dtype, count, device="cpu"):
    if dtype not in operator.supported_dtypes(device):
        return []
    torch.manual_seed(0)
    random.seed(0)
    try:
        samples = operator.sample_inputs(device, dtype)
        return [sample for sample, _ in zip(samples, range(count))]
    except Exception:  # what the database asks of this build of torch and it does not have
        return []


class OfInductor(Exception):
    """What differs as it does with torch's own backend."""


def problem_of(operator, sample, device="cpu"):
    """None where compiled and eager agree, or torch itself does not run it; else what is wrong."""

    def function(first, *arguments, **keywords):
        result = operator(first, *arguments, **keywords)
        return result[0] if operator.name in SEEDED else result

    try:
        expected = function(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return None
    torch.compiler.reset()
    try:
        result = torch.compile(function, backend="nacre")(sample.input, *sample.args, **sample.kwargs)
        if is_determined(operator.name):
            tolerance = {"rtol": 2e-2, "atol": 1e-2} if is_short(expected) else {"rtol": 1e-3, "atol": 1e-4}
            try:
                both = (without_order_of_equals(operator, sample, value) for value in (result, expected))
                torch.testing.assert_close(*both, equal_nan=True, **tolerance)
            except AssertionError as error:
                if is_short(expected) and is_as_near_as_eager(function, sample, result, expected):
                    return None
                if is_of_inductor(function, sample, result, device):
                    return OfInductor(error)
                raise
    except Exception as error:
        return error
    return None


def line_of(error):
    return " ".join(str(error).split())[:300] or type(error).__name__


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each Nth operator")
    parser.add_argument("--from", type=int, default=0, dest="first", help="beginning with this one")
    parser.add_argument("--samples", type=int, default=3, help="of each operator and type, at most")
    parser.add_argument("--dtypes", default="float32,int64,bool,bfloat16")
    parser.add_argument("--only", help="one operator")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no operator after so many")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    operators = [operator for operator in op_db if operator.name == options.only] if options.only else op_db[options.first :: options.every]
    right, wrong, of_inductor, begun, end = 0, 0, 0, 0, time.monotonic() + options.seconds
    for operator in operators:
        if time.monotonic() > end:
            break
        begun += 1
        for dtype in options.dtypes.split(","):
            for number, sample in enumerate(samples_of(operator, getattr(torch, dtype), options.samples, options.device)):
                problem = problem_of(operator, sample, options.device)
                if problem is None:
                    right += 1
                    continue
                is_torchs = isinstance(problem, OfInductor)
                of_inductor, wrong = of_inductor + is_torchs, wrong + (not is_torchs)
                whose = "as with torch's own backend: " if is_torchs else ""
                print(f"{operator.name} {operator.variant_test_name} {dtype} sample {number}: {whose}{line_of(problem)}", flush=True)
    print(f"operators: {begun} of {len(operators)}, samples: {right} right, {wrong} wrong, {of_inductor} as torch's own backend has them")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
