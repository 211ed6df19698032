"""Runs random kernels on every engine and reports each difference, crash and hang.

    python tests/fuzz_kernels/run.py --count 2000 --jobs 2 --out findings

Each kernel follows from its seed alone. A finding is made as small as it gets and written to the folder as a script of its own.
"""

import argparse
import os
import sys
import time

from kernel_fuzzer.campaign import CUDA_ENGINES, ENGINES, Campaign, show_progress
from kernel_fuzzer.makers import random_program


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, help="kernels to run (2000, or as many as fit in --time)")
    parser.add_argument("--seed", type=int, help="of the first kernel (by default from the clock)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes side by side")
    parser.add_argument("--out", default="fuzz-findings", help="folder for the scripts of findings")
    parser.add_argument("--no-reduce", action="store_true", help="leave findings as large as they are")
    parser.add_argument("--time", type=float, help="seconds after which no new kernel begins")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which a kernel counts as hanging")
    parser.add_argument("--engines", default=",".join([*ENGINES, *CUDA_ENGINES[1:]]), help="the engines to compare, the reference first")
    parser.add_argument("--coverage", action="store_true", help="say how many kernels exercised what")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the kernel of a seed and end")
    return parser.parse_args()


def main():
    options = arguments()
    if options.show is not None:
        program = random_program(options.show)
        print(program.source(), program.scalars, program.constants, *program.arrays, sep="\n")
        print(f"programs={program.programs} options={program.options()}")
        return 0
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    count = options.count if options.count is not None or options.time else 2000
    print(f"seed {seed}, engines {options.engines}, {options.jobs} jobs", flush=True)
    progress = show_progress if sys.stderr.isatty() else None
    campaign = Campaign(
        count, seed, options.jobs, options.engines.split(","), options.out, not options.no_reduce, options.time, options.limit, progress
    ).run()
    if progress:
        print(file=sys.stderr)
    for finding in campaign.findings:
        print(f"\n---- {finding.text()}")
    if options.coverage:
        for name, times in sorted(campaign.coverage.items(), key=lambda item: (-item[1], item[0])):
            print(f"{times:7} {name}")
    print(f"{campaign.done / campaign.seconds:.1f} kernels a second")
    if campaign.findings:
        print(f"findings of {len(campaign.findings)} kinds, each a script in {options.out}")
    print(campaign.summary())
    return 1 if campaign.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
