"""Launches of all kinds from several threads at once (soak.py), a few thousand of them."""

import soak


def test_launches_of_all_kinds_from_several_threads():
    done = soak.soak(launches=6000, threads=4, seed=1)
    assert done.total() == 6000 and all(done[kind.__name__] for kind in soak.SHARES)
