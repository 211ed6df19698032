"""Tests that the HIP engines do not run yet, each with the reason; they are skipped aloud. A row is FILE or FILE::FUNCTION."""

NARROW = "LLVM updates elements under 32 bits by the word around them, which may lie past the array's end; the simulator refuses that"
CLOCK = "the simulator has no clock (s_memrealtime)"
WAITS = "the simulator runs one program after the other: none can wait for a later one"
PRINTS = "device_print is not there yet"
HOST_CODE = "its assembly and its libraries are the host's"
SMALLER = "its blocks need more threads or more shared memory than these GPUs have"

REASONS = {
    "test_meaning_device_print.py": PRINTS,
    "test_debugging.py": PRINTS,
    "test_waiting.py": WAITS,
    "test_bounds.py::test_programs_that_wait": WAITS,
    "test_tritons_contract.py::test_programs_wait_for_a_narrow_flag": WAITS,
    "test_atomics.py::test_add_of_small_floats": NARROW,
    "test_tritons_contract.py::test_atomic_poll": CLOCK,
    "test_programs.py::test_every_reading_of_the_clock_is_new": CLOCK,
    "test_programs.py::test_what_the_machine_says": "names of the machine differ",
    "test_extern.py": HOST_CODE,
    "test_inline_code.py": HOST_CODE,
    "test_large_tiles.py::test_sums_of_rows_that_many_warps_have": SMALLER,
    "test_dot_scaled.py::test_scales_that_are_small_floats": SMALLER,
}


def reason(path, function):
    """Why the test does not run there; None when it does."""
    return REASONS.get(path.name) or REASONS.get(f"{path.name}::{function}")
