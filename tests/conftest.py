"""Every compile in the tests is verified after each pass. `--sample N` runs every N-th test of each folder of tests/, for builds on
which all take too long."""

import datetime
import html
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

os.environ.setdefault("NACRE_VERIFY_IR", "1")
# Here, so that all processes of a run that lasts past midnight have the same sample of tests/world.
os.environ.setdefault("NACRE_WORLD_SEED", datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d"))


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


_engines = []  # what a process that ran language tests says of them


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    _engines[:] = getattr(node, "workeroutput", {}).get("language engines", _engines)


def pytest_terminal_summary(terminalreporter):
    if _engines:
        terminalreporter.section("language engines")
        for line in _engines:
            terminalreporter.line(line)
    reports = [report for found in terminalreporter.stats.values() for report in found]
    for line in sorted({value for report in reports for name, value in getattr(report, "user_properties", []) if name == "world"}):
        terminalreporter.line(f"world: {line}")


@pytest.fixture
def pages():
    """For tests that write pages of tools: these need D3, which is in the package where Debian's node-d3 was there when it was built."""
    import nacre

    if not (Path(nacre.__file__).parent / "pages" / "d3.js").exists():
        pytest.skip("the package was built without Debian's node-d3")


@pytest.fixture
def chromium():
    """chromium(*arguments): what the browser says without a window. A sanitizer's library that this Python has preloaded
    would keep it busy for ever."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Debian's chromium is not installed")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def run(*arguments):
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)

    return run


@pytest.fixture
def in_browser(pages, chromium, tmp_path):
    """in_browser(page, actions): opens the page's text from the disk, runs the actions, and gives what they leave as its title, as JSON.
    Errors of the page's scripts are failures. `size`: of the window."""

    def run(page, actions, size=(1300, 1000)):
        path = tmp_path / "opened.html"
        watch = "<script>window.problems = []; addEventListener('error', (event) => problems.push(event.message));</script>"
        tail = f"<script>{actions}</script><script>if (problems.length) document.title = JSON.stringify({{problems}});</script></body>"
        path.write_text(page.replace("<head>", "<head>" + watch, 1).replace("</body>", tail))
        shown = chromium(f"--window-size={size[0]},{size[1]}", "--dump-dom", path.as_uri()).stdout
        title = shown[shown.index("<title>") + 7 : shown.index("</title>")]
        seen = json.loads(html.unescape(title))
        assert "problems" not in seen, seen["problems"]
        return seen

    return run
