"""Runs cases of one package on one engine: `worker.py PACKAGE ENGINE SEED`, one request {"operator", "case"} a line on standard input, one
answer a line on standard output. The first answer lists the operators, or says why the package cannot be imported.

A kernel under @autotune runs with one configuration, drawn with the case: number k of those it has, counted round.
"""

import importlib
import json
import os
import sys
import traceback

import packages
import torch
import world_engines
from adapters import Draw, Skip

import nacre

LARGEST_INTERPRETED = 40_000  # elements of all arguments together
# What the root mean square of the error may be, as a part of the reference's; the worst element may be ten times as far off.
TOLERANCES = {torch.float32: 2e-3, torch.float16: 5e-3, torch.bfloat16: 3e-2, torch.float64: 1e-6}


class Wrong(Exception):
    pass


class ForcedConfigurations:
    """Each tuned kernel has the configuration of the case's number, and forgets it after the case."""

    def __init__(self):
        from nacre.runtime.autotuner import Autotuner

        self.number = 0
        self.used = {}
        prune = Autotuner.prune_configs

        def one_of_them(tuner, keywords):
            configs = prune(tuner, keywords)
            chosen = configs[self.number % len(configs)]
            self.used[tuner] = chosen
            return [chosen]

        Autotuner.prune_configs = one_of_them

    def forget(self):
        for tuner in self.used:
            tuner.cache.clear()
        self.used.clear()

    def text(self):
        return "; ".join(f"{tuner.__name__}: {config}" for tuner, config in self.used.items())


def in_double(arguments):
    """The same arguments for the reference."""
    def one(value):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.detach().double().requires_grad_(value.requires_grad)
        return value
    return {name: one(value) for name, value in arguments.items()}


def outputs_of(result):
    values = result if isinstance(result, (tuple, list)) else [result]
    return [value for value in values if isinstance(value, torch.Tensor)]


def gradients(results, arguments, upstream):
    leaves = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor) and value.requires_grad}
    ends = [(result, grad.to(result)) for result, grad in zip(results, upstream) if result.requires_grad]
    if not leaves or not ends:
        return {}
    found = torch.autograd.grad([end for end, _ in ends], list(leaves.values()), [grad for _, grad in ends], allow_unused=True)
    return {f"gradient of {name}": grad for name, grad in zip(leaves, found) if grad is not None}


def compare(name, got, expected, tolerance):
    if got.shape != expected.shape:
        raise Wrong(f"{name}: shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    if not expected.is_floating_point():
        different = int((got.to(expected.dtype) != expected).sum())
        if different:
            raise Wrong(f"{name}: {different} of {got.numel()} integers differ")
        return
    got, expected = got.detach().double(), expected.detach()
    not_finite = ~torch.isfinite(got) & torch.isfinite(expected)
    if not_finite.any():
        raise Wrong(f"{name}: {int(not_finite.sum())} of {got.numel()} values are not finite")
    both = torch.isfinite(expected)
    error, expected = (got - expected)[both], expected[both]
    if not error.numel():
        return
    size = max(float(expected.square().mean().sqrt()), 1e-4)
    mean, worst = float(error.square().mean().sqrt()) / size, float(error.abs().max()) / max(size, float(expected.abs().max()))
    if mean > tolerance or worst > 10 * tolerance:
        raise Wrong(f"{name}: error {mean:.2g} on average, {worst:.2g} at worst; allowed {tolerance:.2g}")


def run_case(operator, package, engine, seed, case, forced):
    dtype = operator.dtypes[case % len(operator.dtypes)]
    draw = Draw(f"{seed}:{package}:{operator.name}:{case}", dtype, world_engines.device(engine))
    forced.number = draw.number()
    arguments = operator.make(draw)
    elements = sum(value.numel() for value in arguments.values() if isinstance(value, torch.Tensor))
    if engine == "interpreter" and elements > LARGEST_INTERPRETED:
        raise Skip("too large for the interpreter")
    doubles = in_double(arguments)
    expected = outputs_of(operator.reference(**doubles))
    upstream = [draw.tensor(*value.shape, dtype=torch.float32) if value.is_floating_point() else value for value in expected]
    expected_gradients = gradients(expected, doubles, upstream)
    with world_engines.active(engine):
        results = outputs_of(operator.call(**arguments))
        got_gradients = gradients(results, arguments, upstream)
    if len(results) < len(expected):
        raise Wrong(f"{len(results)} results, expected {len(expected)}")
    tolerance = TOLERANCES[dtype] * operator.tolerance
    for number, (got, wanted) in enumerate(zip(results, expected)):
        compare(f"result {number}", got, wanted, tolerance)
    for name, wanted in expected_gradients.items():
        if name not in got_gradients:
            raise Wrong(f"{name}: there is none")
        compare(name, got_gradients[name], wanted, 2 * tolerance)
    return str(dtype).removeprefix("torch.")


def answer(operator, package, engine, seed, case, forced):
    try:
        return {"status": "right", "text": run_case(operator, package, engine, seed, case, forced)}
    except Wrong as error:
        return {"status": "wrong", "text": f"{error} [{operator.dtypes[case % len(operator.dtypes)]}] {forced.text()}"}
    except Skip as reason:
        return {"status": "skipped", "text": str(reason)}
    except Exception as error:
        lines = [line for line in str(error).strip().splitlines() if line.strip()] or [""]
        return {"status": "refused", "text": f"{type(error).__name__}: {lines[0]} {forced.text()}", "trace": traceback.format_exc()}
    finally:
        forced.forget()


def main():
    package, engine, seed = sys.argv[1:4]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what kernels and packages print is not an answer
    nacre.activate()
    sys.path.insert(0, str(packages.folder(packages.PACKAGES[package])))
    forced = ForcedConfigurations()
    try:
        operators = {operator.name: operator for operator in importlib.import_module(f"adapters.{package}").operators()}
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}), file=answers)
        return
    print(json.dumps({"operators": list(operators)}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(operators[request["operator"]], package, engine, seed, request["case"], forced)), file=answers)


if __name__ == "__main__":
    main()
