"""Metrics: names of flops, and values that come as tensors."""

FLOPS_WIDTHS = [8, 16, 32, 64]
FLOPS_DTYPES = ["flops", *(f"flops{width}" for width in FLOPS_WIDTHS)]
ROOFLINE_DTYPES = [*FLOPS_DTYPES, "bytes"]

scalar_metric_kernel = tensor_metric_kernel = None


def set_metric_kernels(scalar=None, tensor=None):
    """The kernels that would copy metrics on a device; values are read where they are."""
    global scalar_metric_kernel, tensor_metric_kernel
    scalar_metric_kernel, tensor_metric_kernel = scalar, tensor


def transform_tensor_metrics(metrics):
    """(numbers and lists, tensors): nothing stays a tensor here, so the second is empty."""
    return {name: _value(value) for name, value in metrics.items()}, {}


def _is_capturing():
    import torch

    return torch.cuda.is_current_stream_capturing()


def _value(value):
    if isinstance(value, (bool, int, float, str, list, tuple)):
        return int(value) if isinstance(value, bool) else value
    if getattr(value, "is_cuda", False) and _is_capturing():
        raise RuntimeError(
            "a metric is a tensor of a GPU, and its stream is being captured: it cannot be read now, and is not read at the graph's replays; give a number"
        )
    if hasattr(value, "tolist"):  # torch's tensors, NumPy's arrays and numbers
        return value.tolist()
    if hasattr(value, "item"):
        return value.item()
    return value


def plain(metrics):
    """The metrics as numbers and lists; None where there are none."""
    return None if metrics is None else {name: _value(value) for name, value in metrics.items()}
