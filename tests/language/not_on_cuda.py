"""Tests that the CUDA engines do not run yet, each with the reason; they are skipped aloud. A row is FILE or FILE::FUNCTION."""

HOST_CODE = "its assembly and its libraries are the host's"

REASONS = {
    "test_extern.py::test_code_that_cannot_be_loaded": HOST_CODE,
    "test_inline_code.py": HOST_CODE,
    "test_inline_ptx.py::test_what_is_not_translated_is_named": "a GPU assembles PTX as it stands",
    "test_programs.py::test_what_the_target_is": "the engine's arrays are in host memory",
    "test_programs.py::test_what_the_machine_says": "names of the machine differ",
}


def reason(path, function):
    """Why the test does not run there; None when it does."""
    return REASONS.get(path.name) or REASONS.get(f"{path.name}::{function}")
