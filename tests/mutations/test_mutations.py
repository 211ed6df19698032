"""Mutated kernels and tile IR, other ones each day: a text compiles, or is an error with a place.

NACRE_MUTATIONS=N checks N seeds of each kind, NACRE_MUTATION_SEED=S starts at seed S instead of the day's.
"""

import datetime
import os
import random

import pytest
from mutations import sources
from mutations.campaign import KINDS, Campaign
from mutations.corpus import kernels, modules
from mutations.mutate import mutated

COUNT = int(os.environ.get("NACRE_MUTATIONS", 16))
SEED = int(os.environ.get("NACRE_MUTATION_SEED") or datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d000"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_compiles_or_is_an_error_with_a_place(kind):
    campaign = Campaign(kind, COUNT, SEED).run()
    assert not campaign.problems, f"from seed {SEED} on\n\n" + "\n\n".join(campaign.problems)
    assert campaign.done == COUNT


def test_there_is_much_to_mutate():
    assert len(kernels()) > 500
    assert len(modules()) > 40


def test_mutations_follow_from_the_seed_and_change_the_text():
    texts = [kernel.text for kernel in kernels()[:50]]
    changed = [mutated(text, texts, ("tl.void",), random.Random(i)) for i, text in enumerate(texts)]
    assert changed == [mutated(text, texts, ("tl.void",), random.Random(i)) for i, text in enumerate(texts)]
    assert sum(a != b for a, b in zip(texts, changed)) > 40


def test_an_error_of_the_compiler_itself_is_found():
    import nacre.compiler.errors as errors

    crash = errors.CompilationError("the compiler crashed", filename="a.py", line=3, kind="internal")
    assert "internal" in sources.wrong_with(crash)
    assert "without a place" in sources.wrong_with(errors.CompilationError("somewhere", kind="type"))
    assert sources.wrong_with(errors.CompilationError("here", filename="a.py", line=3, kind="type")) is None
    assert "KeyError" in sources.wrong_with(KeyError("x"))
