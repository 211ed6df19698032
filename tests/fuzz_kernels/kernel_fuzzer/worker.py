"""A process that runs programs: it may crash or hang, its parent will know which program did it.

Tasks come as lines of JSON on standard input, {"seed": n} or {"genes": [...]} with the engines to compare; what happens goes back
on the file descriptor named by the argument: a line when an engine begins, and one with the result. A task may name a bug of the
compiler to plant ("planted"); a build that has such says which of their sites the program asked.
"""

import json
import mmap
import os
import sys
import tempfile

MOST_BUGS = mmap.PAGESIZE


class PlantedSites:
    """The bug of the moment and the file that is told which sites were asked: see compiler/support/PlantedBugs.h."""

    def __init__(self, path):
        with open(path, "w+b") as file:
            file.truncate(MOST_BUGS)
            self.bytes = mmap.mmap(file.fileno(), MOST_BUGS)
        os.environ["NACRE_PLANTED_SITES"] = path

    def plant(self, name):
        os.environ["NACRE_PLANTED_BUG"] = name
        self.bytes[:] = bytes(MOST_BUGS)

    def asked(self):
        """The numbers of their rows."""
        return [number for number, byte in enumerate(self.bytes[:]) if byte]


def main():
    channel = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    with tempfile.TemporaryDirectory(prefix="nacre-fuzz-", dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
        os.environ.setdefault("NACRE_NUM_THREADS", "2")
        os.environ.setdefault("NACRE_LONE_ATOMICS_US", "0")  # short launches too
        sites = PlantedSites(os.path.join(folder, "sites"))
        from kernel_fuzzer.engines import Runner
        from kernel_fuzzer.makers import random_program, replayed_program

        runner = Runner(folder)
        channel.write('{"ready": true}\n')
        for line in sys.stdin:
            task = json.loads(line)
            program = random_program(task["seed"]) if "seed" in task else replayed_program(task["genes"])
            sites.plant(task.get("planted", ""))
            result = runner.check(program, task["engines"], lambda engine: channel.write(json.dumps({"begin": engine}) + "\n"))
            channel.write(json.dumps({"result": result, "sites": sites.asked()}) + "\n")


if __name__ == "__main__":
    main()
