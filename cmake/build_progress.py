"""Runs ninja with its arguments, and shows how far the build is and about how long it still takes: `python3 cmake/build_progress.py -C build`.

On a terminal one line is written again and again. Elsewhere there is a line for each tenth of the build. What compilers print is passed on.
"""

import os
import re
import subprocess
import sys

STATUS = re.compile(r"@(\d+) (\d+) ([\d.]+)@ ")  # finished steps, all steps, seconds so far


def remaining(finished, total, seconds):
    """The steps that are done tell what the others cost; the first ten tell too little."""
    if finished < 10 or finished == total:
        return ""
    left = seconds / finished * (total - finished)
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {max(left, 1):.0f} s left"


def main(arguments):
    ninja = subprocess.Popen(
        ["ninja", *arguments], stdout=subprocess.PIPE, text=True, errors="replace", env={**os.environ, "NINJA_STATUS": "@%f %t %e@ "}
    )
    on_terminal, written, tenth = sys.stdout.isatty(), False, 0
    for line in ninja.stdout:
        status = STATUS.match(line)
        if not status:
            sys.stdout.write(("\n" if written else "") + line)
            written = False
            continue
        finished, total = int(status[1]), int(status[2])
        text = f"{finished} of {total} steps{remaining(finished, total, float(status[3]))}"
        if on_terminal:
            sys.stdout.write(f"\r\033[K{text}")
            written = True
        elif total >= 10 and finished * 10 // total > tenth:
            tenth = finished * 10 // total
            print(text)
        sys.stdout.flush()
    if written:
        print()
    return ninja.wait()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
