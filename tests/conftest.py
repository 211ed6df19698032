"""Every compile in the tests is verified after each pass. `--sample N` runs every N-th test, for builds on which all take too long."""

import os

os.environ.setdefault("NACRE_VERIFY_IR", "1")


def pytest_addoption(parser):
    parser.addoption("--sample", type=int, default=1, metavar="N", help="run every N-th test; what is left out counts as deselected")


def pytest_collection_modifyitems(config, items):
    step = max(config.getoption("--sample"), 1)
    if step == 1:
        return
    chosen = items[::step]
    config.hook.pytest_deselected(items=[item for place, item in enumerate(items) if place % step])
    items[:] = chosen
