"""Every compile in the tests is verified after each pass. `--sample N` runs every N-th test of each folder of tests/, for builds on
which all take too long."""

import itertools
import os
from pathlib import Path

os.environ.setdefault("NACRE_VERIFY_IR", "1")


def pytest_addoption(parser):
    parser.addoption("--sample", type=int, default=1, metavar="N", help="run every N-th test of each folder, its first one in any case; what is left out counts as deselected")


def pytest_collection_modifyitems(config, items):
    step = max(config.getoption("--sample"), 1)
    if step == 1:
        return
    root = Path(__file__).parent
    by_folder = itertools.groupby(items, lambda item: item.path.relative_to(root).parts[0])
    chosen = [item for _, tests in by_folder for item in list(tests)[::step]]
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = chosen
