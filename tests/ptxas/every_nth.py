"""A plugin of pytest: NACRE_TEST_EVERY=N keeps every n-th test, the same ones each time."""

import os


def pytest_collection_modifyitems(config, items):
    every = int(os.environ.get("NACRE_TEST_EVERY", "1"))
    kept = items[::every]
    config.hook.pytest_deselected(items=[item for number, item in enumerate(items) if number % every])
    items[:] = kept
