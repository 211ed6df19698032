"""Steps of optimizers over a list of tensors, in place: AdamW, and SGD with momentum.

Each tensor is read and written once, by one launch. What depends on the step alone is computed before, in float64.
"""

from .. import language as tl
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, check_array, check_dtype, check_integer, check_number, check_shape, contiguous, dtype_name, is_array, is_contiguous, is_numpy, size,
    sum_type,
)  # fmt: skip
from ._blocks import cdiv, elements_block, runs_on_host
from ._operator import Operator


@jit
def _adamw_step(parameter_ptr, gradient_ptr, first_ptr, second_ptr, count, decay: tl.float64, beta1: tl.float64, beta2: tl.float64, rate: tl.float64,
                correction: tl.float64, epsilon: tl.float64, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """`decay` = 1 - lr * weight decay, `rate` = lr over the first moment's correction, `correction` = 1 over the root of the second one's."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    gradient = tl.load(gradient_ptr + offsets, mask=mask).to(SUM)
    first = tl.load(first_ptr + offsets, mask=mask).to(SUM)
    second = tl.load(second_ptr + offsets, mask=mask).to(SUM)
    first += (gradient - first) * (1 - beta1).to(SUM)
    second = second * beta2.to(SUM) + gradient * gradient * (1 - beta2).to(SUM)
    parameter = tl.load(parameter_ptr + offsets, mask=mask).to(SUM) * decay.to(SUM)
    parameter -= rate.to(SUM) * first / (tl.sqrt(second) * correction.to(SUM) + epsilon.to(SUM))
    tl.store(first_ptr + offsets, first, mask=mask)
    tl.store(second_ptr + offsets, second, mask=mask)
    tl.store(parameter_ptr + offsets, parameter, mask=mask)


@jit
def _sgd_step(parameter_ptr, gradient_ptr, buffer_ptr, count, rate: tl.float64, momentum: tl.float64, taken: tl.float64, decay: tl.float64,
              NESTEROV: tl.constexpr, FIRST: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """`taken` = 1 - dampening. FIRST: the buffer has no value yet."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    parameter = tl.load(parameter_ptr + offsets, mask=mask).to(SUM)
    gradient = tl.load(gradient_ptr + offsets, mask=mask).to(SUM) + decay.to(SUM) * parameter
    if buffer_ptr is not None:
        buffer = gradient
        if not FIRST:
            buffer = tl.load(buffer_ptr + offsets, mask=mask).to(SUM) * momentum.to(SUM) + gradient * taken.to(SUM)
        tl.store(buffer_ptr + offsets, buffer, mask=mask)
        if NESTEROV:
            gradient += momentum.to(SUM) * buffer
        else:
            gradient = buffer
    tl.store(parameter_ptr + offsets, parameter - rate.to(SUM) * gradient, mask=mask)


# ---- operators


def _check(parameters, **others):
    """Lists of one length, whose tensors have the shapes of the parameters; what is written must be contiguous."""
    for name, arrays in others.items():
        if len(arrays) != len(parameters):
            raise ValueError(f"{name} has {len(arrays)} tensors and parameters has {len(parameters)}: one for each is expected")
    if all(_is_plain(arrays) for arrays in zip(parameters, *others.values())):
        return
    for name, arrays in {"parameters": parameters, **others}.items():
        for place, (array, parameter) in enumerate(zip(arrays, parameters)):
            shown = f"{name}[{place}]"
            check_array(shown, array, parameter, f"parameters[{place}]")
            check_dtype(shown, array, FLOATING)
            check_shape(shown, array, tuple(parameter.shape), f"the shape of parameters[{place}]")
            if name != "gradients" and not is_contiguous(array):
                raise ValueError(f"{shown} is written in place and must be contiguous: keep a contiguous copy")


def _is_plain(arrays):
    """Whether there is nothing that the checks could find: what holds for most tensors, of which there may be many."""
    first = arrays[0]
    if not is_array(first) or dtype_name(first) not in FLOATING:
        return False
    shape, dtype, device = first.shape, first.dtype, getattr(first, "device", None)
    return all(
        is_array(x) and x.shape == shape and x.dtype == dtype and getattr(x, "device", None) == device and is_contiguous(x) for x in arrays
    )


def _launch(kernel, host, parameter, *arguments, **constants):
    count = size(parameter)
    if count:
        block = elements_block(parameter, count, host)
        kernel[(cdiv(count, block["BLOCK"]),)](parameter, *arguments[0], count, *arguments[1:], SUM=sum_type(parameter), **constants, **block)


def _allocate_adamw(parameters, gradients, first_moments, second_moments, step, lr, beta1, beta2, eps, weight_decay):
    _check(parameters, gradients=gradients, first_moments=first_moments, second_moments=second_moments)
    check_integer("step", step, least=1)
    check_number("lr", lr, least=0)
    check_number("betas[0]", beta1, least=0, below=1)
    check_number("betas[1]", beta2, least=0, below=1)
    check_number("eps", eps, least=0)
    check_number("weight_decay", weight_decay, least=0)


def _launch_adamw(_, parameters, gradients, first_moments, second_moments, step, lr, beta1, beta2, eps, weight_decay):
    rate, correction = lr / (1 - beta1**step), (1 - beta2**step) ** -0.5
    host = runs_on_host(parameters[0])
    for parameter, gradient, first, second in zip(parameters, gradients, first_moments, second_moments):
        _launch(_adamw_step, host, parameter, (contiguous(gradient), first, second), 1 - lr * weight_decay, beta1, beta2, rate, correction, eps)


def _allocate_sgd(parameters, gradients, buffers, lr, momentum, dampening, weight_decay, nesterov, first):
    check_number("dampening", dampening)
    _check(parameters, gradients=gradients, **({"buffers": buffers} if momentum else {}))
    for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
        check_number(name, value, least=0)
    if nesterov and (momentum == 0 or dampening != 0):
        raise ValueError(f"nesterov needs a momentum and no dampening; momentum is {momentum} and dampening is {dampening}")


def _launch_sgd(_, parameters, gradients, buffers, lr, momentum, dampening, weight_decay, nesterov, first):
    host = runs_on_host(parameters[0])
    for place, (parameter, gradient) in enumerate(zip(parameters, gradients)):
        buffer = buffers[place] if momentum else None
        _launch(_sgd_step, host, parameter, (contiguous(gradient), buffer), lr, momentum, 1.0 - dampening, weight_decay, NESTEROV=nesterov, FIRST=first)


_adamw = Operator(
    "adamw",
    "(Tensor(a!)[] parameters, Tensor[] gradients, Tensor(b!)[] first_moments, Tensor(c!)[] second_moments, SymInt step, float lr, float beta1, "
    "float beta2, float eps, float weight_decay) -> ()",
    _allocate_adamw, _launch_adamw,
)  # fmt: skip
_sgd = Operator(
    "sgd",
    "(Tensor(a!)[] parameters, Tensor[] gradients, Tensor(b!)[] buffers, float lr, float momentum, float dampening, float weight_decay, "
    "bool nesterov, bool first) -> ()",
    _allocate_sgd, _launch_sgd,
)  # fmt: skip


def _stepped(operator, names, parameters, gradients, others, *numbers):
    """Without the parameters that have no gradient, and without a trace in autograd."""
    names = ("parameters", "gradients", *names)
    for name, arrays in zip(names, (parameters, gradients, *others)):
        if arrays is None or is_array(arrays):
            raise TypeError(f"{name} is {'None' if arrays is None else 'an array'}; a list of tensors is expected")
    lists = [list(arrays) for arrays in (parameters, gradients, *others)]
    if len(lists[0]) == len(lists[1]):
        wanted = [gradient is not None for gradient in lists[1]]
        lists = [[array for array, is_wanted in zip(arrays, wanted) if is_wanted] if len(arrays) == len(wanted) else arrays for arrays in lists]
    if not lists[0]:
        return
    if is_numpy(lists[0][0]):
        operator(*lists, *numbers)
        return
    import torch

    with torch.no_grad():
        operator(*lists, *numbers)


def adamw(parameters, gradients, first_moments, second_moments, *, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    """One step of AdamW, as torch.optim.AdamW takes it, on lists of tensors. All but the gradients are changed in place.

    parameters: contiguous, float16, bfloat16, float32 or float64. A parameter whose gradient is None is left as it is.
    first_moments, second_moments: of the shapes of the parameters, zeros at first. They may have another type, such as float32 beside bfloat16.
    step: 1 at the first step.

        nacre.kernels.adamw(parameters, [p.grad for p in parameters], first, second, step=step, lr=3e-4)
    """
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        raise TypeError(f"betas is {betas!r}; a pair of numbers is expected")
    _stepped(_adamw, ("first_moments", "second_moments"), parameters, gradients, (first_moments, second_moments), step, lr, *betas, eps, weight_decay)


def sgd(parameters, gradients, buffers=(), *, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, first=False):
    """One step of stochastic gradient descent, as torch.optim.SGD takes it, on lists of tensors. All but the gradients are changed in place.

    parameters: contiguous, float16, bfloat16, float32 or float64. A parameter whose gradient is None is left as it is.
    buffers: the momentum, of the shapes of the parameters; needed where momentum is not 0.
    first: this is the first step: the buffers are written and not read. Zeros do the same where dampening is 0.

        nacre.kernels.sgd(parameters, [p.grad for p in parameters], buffers, lr=0.1, momentum=0.9, first=step == 0)
    """
    _stepped(_sgd, ("buffers",), parameters, gradients, (buffers,), lr, momentum, dampening, weight_decay, nesterov, first)
