"""PyTorch's own database of operators, each compiled with backend="nacre" and compared with eager: everything torch compiles, right.

    python tests/torch/opinfo.py [--every N] [--from K] [--samples S] [--dtypes float32,int64] [--only NAME]

Prints what differs or fails, and a closing line of counts; exits with 1 if anything did.
"""

import argparse
import random
import sys
import warnings

import torch

# Their results are not determined by their inputs.
UNDETERMINED = {"empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted", "bernoulli", "multinomial",
                "normal", "uniform", "cauchy", "exponential", "geometric", "log_normal"}  # fmt: skip


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


def samples_of(operator, dtype, count):
    if dtype not in operator.supported_dtypes("cpu"):
        return []
    torch.manual_seed(0)
    random.seed(0)
    try:
        samples = operator.sample_inputs("cpu", dtype)
        return [sample for sample, _ in zip(samples, range(count))]
    except Exception:  # what the database asks of this build of torch and it does not have
        return []


def problem_of(operator, sample):
    """None where compiled and eager agree, or torch itself does not run it; else what is wrong, in a line."""

    def function(first, *arguments, **keywords):
        return operator(first, *arguments, **keywords)

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
                torch.testing.assert_close(result, expected, equal_nan=True, **tolerance)
            except AssertionError:
                if not is_short(expected) or not is_as_near_as_eager(function, sample, result, expected):
                    raise
    except Exception as error:
        return " ".join(str(error).split())[:300] or type(error).__name__
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each Nth operator")
    parser.add_argument("--from", type=int, default=0, dest="first", help="beginning with this one")
    parser.add_argument("--samples", type=int, default=3, help="of each operator and type, at most")
    parser.add_argument("--dtypes", default="float32,int64,bool,bfloat16")
    parser.add_argument("--only", help="one operator")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    operators = [operator for operator in op_db if operator.name == options.only] if options.only else op_db[options.first :: options.every]
    right, problems = 0, 0
    for operator in operators:
        for dtype in options.dtypes.split(","):
            for number, sample in enumerate(samples_of(operator, getattr(torch, dtype), options.samples)):
                problem = problem_of(operator, sample)
                right, problems = right + (problem is None), problems + (problem is not None)
                if problem is not None:
                    print(f"{operator.name} {operator.variant_test_name} {dtype} sample {number}: {problem}", flush=True)
    print(f"operators: {len(operators)}, samples: {right} right, {problems} wrong")
    return problems != 0


if __name__ == "__main__":
    sys.exit(main())
