"""The call stack of a program as frames: file:line@function, outermost first."""

import os
import sys

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def frames():
    names = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_OURS, "<frozen")):
            names.append(f"{code.co_filename}:{frame.f_lineno}@{code.co_name}")
        frame = frame.f_back
    return names[::-1]
