"""Launches in torch's profiler."""

import pytest

torch = pytest.importorskip("torch")

import nacre  # noqa: E402
import nacre.language as tl  # noqa: E402


@nacre.jit
def profiled_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(offsets < 64)
    tl.store(x_ptr + offsets, 1.0)


def counts(profile):
    return {event.key: event.count for event in profile.key_averages()}


@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
def test_launches_are_events(interpret):
    active = nacre.runtime.driver.active
    active.set_interpret_mode(interpret)
    try:
        x = torch.zeros(64)
        profiled_kernel[(4,)](x, BLOCK=16)  # not recorded
        found = {}
        for _ in range(10):  # torch's profiler gives up a session on a machine that stalls, and has nothing then
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                for _ in range(3):
                    profiled_kernel[(4,)](x, BLOCK=16)
                torch.add(x, x)
            profiled_kernel[(4,)](x, BLOCK=16)
            found = counts(profile)
            if found:
                break
        else:
            pytest.skip("torch's profiler records nothing in this process, not even its own operators")
        assert found["profiled_kernel"] == 3 and found["aten::add"] == 1
        with torch.autograd.profiler.profile() as profile:
            with pytest.raises(AssertionError):
                profiled_kernel[(5,)](x, BLOCK=16, debug=True)
        assert counts(profile)["profiled_kernel"] == 1  # it ends with the launch
    finally:
        active.set_interpret_mode(False)
