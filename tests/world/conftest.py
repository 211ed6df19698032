"""The folder's modules, for its tests, and a line on the day's sample at the end of a run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_terminal_summary(terminalreporter):
    told = [dict(report.user_properties).get("world") for reports in terminalreporter.stats.values() for report in reports if hasattr(report, "user_properties")]
    for line in sorted({line for line in told if line}):
        terminalreporter.write_line(f"world: {line}")
