"""Metrics: names of flops, and values that come as tensors."""

from ._graph_metrics import capture
from .state import metadata_state

FLOPS_WIDTHS = [8, 16, 32, 64]
FLOPS_DTYPES = ["flops", *(f"flops{width}" for width in FLOPS_WIDTHS)]
ROOFLINE_DTYPES = [*FLOPS_DTYPES, "bytes"]

_NUMBERS = bool, int, float, str, list, tuple
scalar_metric_kernel = tensor_metric_kernel = None


def set_metric_kernels(scalar=None, tensor=None):
    """The kernels that would copy metrics on a device; values are read where they are."""
    global scalar_metric_kernel, tensor_metric_kernel
    scalar_metric_kernel, tensor_metric_kernel = scalar, tensor


def transform_tensor_metrics(metrics):
    """(numbers and lists, tensors): nothing stays a tensor here, so the second is empty."""
    return {name: _in_its_type(name, _value(value)) for name, value in metrics.items()}, {}


def _in_its_type(name, value):
    """Work is counted in floats."""
    if name not in ROOFLINE_DTYPES:
        return value
    return [float(number) for number in value] if isinstance(value, (list, tuple)) else float(value)


def _value(value):
    if isinstance(value, _NUMBERS):
        return int(value) if isinstance(value, bool) else value
    if hasattr(value, "tolist"):  # torch's tensors, NumPy's arrays and numbers
        return value.tolist()
    if hasattr(value, "item"):
        return value.item()
    return value


def plain(metrics, frame="", kernel=None):
    """The metrics as numbers and lists; None where there are none. Tensors of a GPU, while a graph is captured, are left out: they are
    read at its replays, and are those of the frame, or of the open scope. `kernel`: whose launch gives them."""
    if metrics is None:
        return None
    metrics = capture(metrics, frame)
    if all(isinstance(value, _NUMBERS) for value in metrics.values()):
        return {name: _value(value) for name, value in metrics.items()}
    with metadata_state(kernel):  # reading a tensor may be operators of torch's
        return {name: _value(value) for name, value in metrics.items()}
