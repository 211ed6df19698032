"""Metrics that are tensors of a GPU while a graph is captured; here the CPU stands for the GPU, and each launch for a replay."""

import types

import pytest
import triton.profiler as proton
from nacre.profiler import _graph_metrics
from nacre.profiler.metric import plain

torch = pytest.importorskip("torch")


def of_a_gpu(tensor):
    """The tensor, as one of a GPU looks."""
    return types.SimpleNamespace(is_cuda=True, device=tensor.device, dtype=tensor.dtype, numel=tensor.numel, dim=tensor.dim, detach=lambda: tensor, tolist=tensor.tolist)


@pytest.fixture
def capturing(monkeypatch):
    monkeypatch.setenv("TRITON_PROFILE_METRIC_BUFFER_SIZE", "4096")
    monkeypatch.setattr(_graph_metrics, "_buffers", {None: _graph_metrics._Buffer(torch, "cpu")})
    monkeypatch.setattr(_graph_metrics, "_metrics", {})
    monkeypatch.setattr(_graph_metrics, "is_capturing", lambda: True)
    return _graph_metrics._buffers[None]


def test_values_are_noted_in_order(capturing):
    whole, part = torch.tensor([7], dtype=torch.int32), torch.tensor(0.5)
    assert plain({"tokens": of_a_gpu(whole), "share": of_a_gpu(part), "bytes": 12}, "kernel") == {"bytes": 12}
    (tokens, list_of), (share, number) = _graph_metrics._metrics.values()
    assert (tokens, list_of(7.0)) == ("tokens", [7]) and (share, number(0.5)) == ("share", 0.5)  # as tolist() gives them outside of captures
    assert capturing.take() == ([(1, 7.0), (2, 0.5)], 0) and capturing.take() == ([], 0)


def test_values_that_are_written_over_are_counted(capturing):
    capturing.capacity = 4
    for i in range(6):
        capturing.append(torch.tensor([float(i)], dtype=torch.float64), 3)
    assert capturing.take() == ([(3, 2.0), (3, 3.0), (3, 4.0), (3, 5.0)], 2)


def test_what_cannot_be_noted_is_said(capturing, tmp_path):
    session = proton.start(str(tmp_path / "profile"))
    with pytest.raises(RuntimeError, match="of 3 elements"):
        proton.enter_scope("wrong", metrics={"lengths": of_a_gpu(torch.zeros(3))})
    _graph_metrics._buffers.clear()
    with pytest.raises(RuntimeError, match="was not in use when the session started"):
        proton.enter_scope("wrong", metrics={"length": of_a_gpu(torch.zeros(1))})
    assert proton.context.depth(session) == 0


def test_outside_of_captures_they_are_read_at_once(capturing, monkeypatch):
    monkeypatch.setattr(_graph_metrics, "is_capturing", lambda: False)
    assert plain({"tokens": of_a_gpu(torch.tensor(7))}) == {"tokens": 7}
