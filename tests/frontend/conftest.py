"""Options of the front end's tests, and the folder's own modules on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite the expected texts of tests/frontend/errors")
