"""Two numbers: this project's own, and the version of the language that packages look for under the name `triton`."""

version = "0.1.0"
language_version = "3.9.0"


def presented(triton_version):
    """What `__version__` says where the package stands for that version of Triton."""
    return f"{triton_version}+nacre.{version}"
