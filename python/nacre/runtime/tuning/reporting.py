"""What a person sees of a tuning: a line that is rewritten while it lasts, on a terminal; texts for TRITON_PRINT_AUTOTUNING."""

import sys
import time

_SILENT_SECONDS = 0.5  # shorter tunings say nothing


class Progress:
    """One line on stderr, where that is a terminal: which configuration is compiled or timed, and the best so far."""

    def __init__(self, name, count, stream=None):
        self.name = name
        self.count = count
        self.stream = sys.stderr if stream is None else stream
        self.start = time.monotonic()
        self.width = 0
        try:
            self.is_on = bool(self.stream) and self.stream.isatty()
        except (AttributeError, ValueError):
            self.is_on = False
        self.best = None

    def _show(self, text):
        if not self.is_on or time.monotonic() - self.start < _SILENT_SECONDS:
            return
        import shutil

        text = f"tuning {self.name}: {text}"
        if self.best is not None:
            text += f"; best {self.best[0]:.4g} ms: {self.best[1]}"
        text = text[: shutil.get_terminal_size().columns - 1]
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)

    def compiled(self, done):
        self._show(f"compiled {done} of {self.count}")

    def answered(self, done):
        self._show(f"timed {done} of {self.count} by workers")

    def timing(self, index, config):
        self._show(f"timing {index + 1} of {self.count} ({config})")

    def timed(self, config, milliseconds):
        if milliseconds < float("inf") and (self.best is None or milliseconds < self.best[0]):
            self.best = milliseconds, config

    def close(self):
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0


def warn(text):
    """A RuntimeWarning at the place of the program that launched, not at one of this package."""
    import os
    import warnings

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def reasons_text(failures):
    return "\n".join(f"  {config}: {first_line(reason)}" for config, reason in failures.items())


def first_line(reason):
    """An error in one line."""
    text = f"{type(reason).__name__}: {reason}" if isinstance(reason, BaseException) else str(reason)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "failed"
