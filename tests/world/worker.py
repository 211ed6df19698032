"""Runs cases of one package on one engine: `worker.py PACKAGE ENGINE SEED`, one request {"operator", "case"} a line on standard input, one
answer a line on standard output. The first answer lists the operators, or says why the package cannot be imported.

A kernel under @autotune runs with one configuration: number k of those it has, counted round. k is drawn with the case, or is the request's
"configuration". A request with a "mutation" draws other sizes, and launches with other options (`launches.py`).
"""

import importlib
import json
import os
import sys
import time
import traceback

import packages
import torch
import world_engines
from adapters import Draw, Skip
from comparing import TOLERANCES, Wrong, compare
from launches import ForcedLaunches

import nacre
from nacre.runtime.errors import OutOfResources

LARGEST_INTERPRETED = 40_000  # elements of all arguments together


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


class Theirs(Exception):
    """What failed is the package's own; its reason."""


def dtype_of(operator, request):
    return operator.dtypes[request["case"] % len(operator.dtypes)]


def run_case(operator, package, engine, seed, request, forced):
    dtype, mutation, configuration = dtype_of(operator, request), request.get("mutation"), request.get("configuration")
    key = f"{seed}:{package}:{operator.name}:{request['case']}" + (f":{mutation}" if mutation is not None else "")
    draw = Draw(key, dtype, world_engines.device(engine), mutation is not None)
    number = draw.number()
    forced.begin(number if configuration is None else configuration, mutation)
    arguments = operator.make(draw)
    try:
        return compared(operator, engine, dtype, draw, arguments)
    except Skip:
        raise
    except Exception as error:
        reason = operator.theirs(error, arguments)
        if reason is None:
            raise
        raise Theirs(reason) from error


def compared(operator, engine, dtype, draw, arguments):
    """The type's name, when all is right."""
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


def answer(operator, package, engine, seed, request, forced):
    begin = time.monotonic()
    try:
        return {"status": "right", "text": run_case(operator, package, engine, seed, request, forced), "seconds": round(time.monotonic() - begin, 1)}
    except Wrong as error:
        return {"status": "wrong", "text": f"{error} [{dtype_of(operator, request)}] {forced.text()}"}
    except (Skip, Theirs) as reason:
        return {"status": "skipped" if isinstance(reason, Skip) else "theirs", "text": str(reason)}
    except OutOfResources as error:
        return {"status": "skipped", "text": f"{error}"}  # a tuner leaves such a configuration out
    except Exception as error:
        lines = [line for line in str(error).strip().splitlines() if line.strip()] or [""]
        return {"status": "refused", "text": f"{type(error).__name__}: {lines[0]} {forced.text()}", "trace": traceback.format_exc()}
    finally:
        forced.end()


def main():
    package, engine, seed = sys.argv[1:4]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what kernels and packages print is not an answer
    nacre.activate()
    sys.path.insert(0, str(packages.folder(packages.PACKAGES[package])))
    forced = ForcedLaunches()
    try:
        operators = {operator.name: operator for operator in importlib.import_module(f"adapters.{package}").operators()}
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}), file=answers)
        return
    print(json.dumps({"operators": list(operators)}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        said = answer(operators[request["operator"]], package, engine, seed, request, forced)
        print(json.dumps({**said, "configurations": forced.most}), file=answers)


if __name__ == "__main__":
    main()
