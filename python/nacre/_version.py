"""Two numbers: this project's own, and the version of the language that packages look for under the name `triton`."""

version = "0.1.0"
language_version = "3.9.0"
__version__ = f"{language_version}+nacre.{version}"
