"""Mutates kernels and tile IR and compiles what comes of it: every text compiles or is an error with a place.

    python tests/mutations/run.py --count 600 --kinds sources,tile_ir --out findings

A seed stands for several mutations of one kernel, or for a file of mutated modules. What is wrong is printed, and kept in --out.
"""

import argparse
import importlib
import sys
import time

from mutations.campaign import KINDS, Campaign


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=600, help="seeds of each kind")
    parser.add_argument("--seed", type=int, help="the first (by default from the clock)")
    parser.add_argument("--time", type=float, help="seconds after which a kind ends")
    parser.add_argument("--kinds", default=",".join(KINDS), help="what is mutated")
    parser.add_argument("--out", help="a folder for what is found")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the texts of a seed and end")
    return parser.parse_args()


def main():
    options = arguments()
    kinds = options.kinds.split(",")
    if options.show is not None:
        import nacre

        nacre.activate()
        for kind in kinds:
            print(importlib.import_module(f"mutations.{kind}").show(options.show))
        return 0
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    found = 0
    for kind in kinds:
        campaign = Campaign(kind, options.count, seed, options.out).run(options.time)
        found += len(campaign.problems)
        for problem in campaign.problems:
            print(f"\n---- {problem}")
        print(f"{kind}: {campaign.done} seeds from {seed} on, {len(campaign.problems)} problems", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
