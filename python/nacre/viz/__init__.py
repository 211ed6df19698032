"""The visualizer: what kernels access, as a page that opens without a server.

    nacre viz -o page.html script.py        every launch of a script
    nacre viz --text script.py              the same as text

In a program: `nacre.viz.start()`, launches, `nacre.viz.stop()`, then `page(launches)`, `text(launches)` or `document(launches)`.
Launches are recorded while they run compiled (`viz/Recorder.h`).
"""

from ._page import page
from ._record import Launch, document, start, stop
from ._text import text

__all__ = ["Launch", "document", "page", "start", "stop", "text"]
