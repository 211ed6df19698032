"""Says which of the bugs that can be planted in the compiler the random kernels find, and after how many.

    make fuzz-score ARGS='--bugs RoundTiesUp,WgmmaEarlyClobber --count 500'

It needs a build with the option NACRE_PLANTED_BUGS, which `make fuzz-score` makes in build-planted.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from kernel_fuzzer.planted import Score, bugs_of_table

from nacre import cpp


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="kernels after which a bug is missed")
    parser.add_argument("--seed", type=int, default=0, help="of the first kernel")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes side by side")
    parser.add_argument("--bugs", help="names, separated by commas (all of them)")
    parser.add_argument("--engines", help="only bugs of these engines, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the bugs and end")
    parser.add_argument("--write", metavar="FILE", help="write the table there")
    return parser.parse_args()


def main():
    options = arguments()
    bugs = bugs_of_table()
    if options.bugs:
        names = options.bugs.split(",")
        if unknown := set(names) - {bug.name for bug in bugs}:
            sys.exit(f"no such bug: {', '.join(sorted(unknown))}; --list names them")
        bugs = [bug for bug in bugs if bug.name in names]
    if options.engines:
        bugs = [bug for bug in bugs if set(bug.engines) & set(options.engines.split(","))]
    if options.list:
        for bug in bugs:
            print(f"{bug.name:24} {' '.join(bug.engines):16} {bug.text}")
        return 0
    if b"NACRE_PLANTED_BUG" not in Path(cpp.prefix(), "lib", "libnacre.so").read_bytes():
        sys.exit("this build cannot plant bugs: run `make fuzz-score`")
    started = time.monotonic()

    def tell(text):
        print(f"[{time.monotonic() - started:6.0f} s] {text}", flush=True)

    print(f"{len(bugs)} bugs, kernels from seed {options.seed} on, {options.jobs} jobs", flush=True)
    score = Score(bugs, options.count, options.seed, options.jobs, tell=tell).run()
    print(score.table())
    if options.write:
        Path(options.write).write_text(score.table() + "\n\n" + score.summary() + "\n")
    if score.wrong:
        print(f"kernels that differ without any bug, from these seeds: {score.wrong}")
    print(score.summary())
    return 1 if score.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
