"""A child of a fork may wait for no lock of a thread that it lacks: compiler/support/ForkSafety.h names the three ways out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAIN = re.compile(r"std::(\w+_)?mutex\b|std::condition_variable|std::atomic<std::shared_ptr")

# A plain lock is right where no child waits for it.
REASONS = {
    "the locks themselves": ["compiler/support/ForkSafety"],
    "of one launch, which no child goes on with": [
        "runtime/devices/cpu/AtomicsTurn",
        "runtime/devices/cpu/Launch",
        "runtime/threads/Crew",
        "simulator/",
        "profiler/KernelScopes",
        "sanitizer/LaunchSanitizer",
        "sanitizer/ShadowMemory",
    ],
    "of something that is made anew in a child": [
        "compiler/targets/cpu/Loader",
        "runtime/devices/cpu/CompiledCall",
        "runtime/launch/KernelCache",
        "runtime/threads/ThreadPool",
    ],
    "nobody waits for it: it is tried": ["runtime/cache/CacheLimit", "runtime/cache/DiskCache"],
    "of a driver that no child asks": ["runtime/devices/cuda/KernelTrace", "runtime/devices/cuda/LaunchTimer", "runtime/devices/cuda/PcSampling"],
    "of a device for tests": ["runtime/devices/null/NullDevice"],
}
ALLOWED = [place for places in REASONS.values() for place in places]


def users():
    paths = [path for top in ("compiler", "runtime", "python/core", "cli", "simulator", "profiler", "sanitizer", "viz") for path in (ROOT / top).rglob("*")]
    sources = [path for path in paths if path.suffix in (".h", ".cpp") and "test" not in path.parts]
    return {path.relative_to(ROOT).as_posix() for path in sources if PLAIN.search(path.read_text())}


def test_plain_locks_have_a_reason():
    assert [user for user in sorted(users()) if not user.startswith(tuple(ALLOWED))] == []


@pytest.mark.parametrize("place", ALLOWED)
def test_every_reason_is_needed(place):
    assert any(user.startswith(place) for user in users())
