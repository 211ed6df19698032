"""The profile in memory, by phases."""

import json

from .. import _core
from . import _graph_metrics, _torch
from ._device import devices


def _document(session, phase, form):
    _core.profiler_wait()
    _graph_metrics.collect()
    _torch.fetch(is_change=False)
    return _core.profiler_document(session, phase, form, json.dumps(devices(_core.profiler_device_types(session, phase))))


def get(session=0, phase=0):
    """[root, devices] of a phase, as the file has it."""
    return json.loads(_document(session, phase, "hatchet"))


def get_msgpack(session=0, phase=0):
    return _document(session, phase, "hatchet_msgpack")


def advance_phase(session=0):
    """From now on another phase is filled; gives its number."""
    from .profile import flush_phase

    _torch.fetch()
    before = _core.profiler_phase(session)
    number = _core.profiler_advance(session)
    flush_phase(session, before)
    return number


def is_phase_complete(session=0, phase=0):
    return phase < _core.profiler_phase(session)


def clear(session=0, phase=0, clear_up_to_phase=False):
    _core.profiler_clear(session, phase, clear_up_to_phase)
