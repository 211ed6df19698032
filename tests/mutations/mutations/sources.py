"""Mutated kernels, compiled for the CPU in this process. The compiler recovers from its crashes and says so; whatever it says, it must
be of the kernel: an error with a place. Runs in a child (see campaign.py), which a crash of another kind ends."""

import functools
import linecache
import random
import re

from mutations.corpus import HEAD, guess, kernels
from mutations.mutate import SOURCE_WORDS, mutated


def words():
    import triton.language as tl

    return [*SOURCE_WORDS, *(f"tl.{name}" for name in dir(tl) if not name.startswith("_"))]


class Compiler:
    """Defines functions of texts and compiles them, each under a file name of its own."""

    def __init__(self):
        self.count = 0

    def define(self, kernel, text):
        self.count += 1
        name = f"<mutation {self.count}>"
        whole = f"{HEAD}{kernel.others}\n{text}"
        names = {"__name__": "mutation"}
        linecache.cache[name] = (len(whole), None, whole.splitlines(keepends=True), name)
        exec(compile(whole, name, "exec", dont_inherit=True), names)
        return names[kernel.name]

    def compile(self, kernel, text, arguments):
        """None when it compiles, or the error."""
        import numpy as np

        try:
            function = self.define(kernel, text)
        except Exception as error:  # Python's own, about the text
            return error if type(error).__module__.startswith(("nacre", "triton")) else None
        values = {name: np.zeros(4096, value) if value in TYPES else value for name, value in arguments.items()}
        try:
            function.warmup(**values, grid=(1,))
        except Exception as error:
            return error
        return None


TYPES = ("float32", "int32", "float16", "int8", "int64", "uint8", "float64", "bool")


def wrong_with(error):
    """Why an error is none that a user should see, or None."""
    import nacre.compiler.errors
    import nacre.errors

    if isinstance(error, nacre.compiler.errors.CompilationError):
        if error.kind == "internal":
            return f"an internal error: {error}"
        if not error.filename or error.line <= 0:
            return f"an error without a place: {error}"
        return None
    if isinstance(error, (TypeError, ValueError, OverflowError, nacre.errors.TritonError)):  # of the arguments
        return None
    return f"{type(error).__name__}: {error}"


@functools.cache
def _compiler():
    return Compiler()


def _chosen(rng):
    """A kernel and arguments that it compiles with, as it stands; guessed anew a few times."""
    while True:
        kernel = rng.choice(kernels())
        for _ in range(4):
            arguments = guess(kernel, rng)
            if _compiler().compile(kernel, kernel.text, arguments) is None:
                return kernel, arguments
        if "errors" in kernel.place:  # does not compile by design
            return kernel, arguments


def case(seed):
    """What is to be compiled for a seed."""
    rng = random.Random(seed)
    kernel, arguments = _chosen(rng)
    first = 1 + next(i for i, line in enumerate(kernel.text.splitlines()) if re.match(r"\s*def ", line))
    while ":" not in kernel.text.splitlines()[first - 1]:
        first += 1
    texts = [mutated(kernel.text, [rng.choice(kernels()).text, kernel.text], words(), rng, first) for _ in range(8)]
    return kernel, arguments, texts


def check(seed):
    """Texts of what is wrong, for the mutations of a seed; and how many there were."""
    kernel, arguments, texts = case(seed)
    problems = []
    for text in texts:
        yield None
        error = _compiler().compile(kernel, text, arguments)
        wrong = error is not None and wrong_with(error)
        if wrong:
            problems.append(f"{kernel.place}: {kernel.name}{arguments}: {wrong}\n{HEAD}{kernel.others}\n{text}")
    yield problems


def show(seed):
    kernel, arguments, texts = case(seed)
    return f"{kernel.place}: {kernel.name}{arguments}\n{HEAD}{kernel.others}\n" + "\n# ----\n".join(texts)
