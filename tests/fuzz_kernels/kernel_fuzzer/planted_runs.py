"""The worker's side of the score: one kernel on one engine, with bugs of the compiler planted.

The kernel is compiled first. The compiler says which sites of bugs it came by; where none of those that matter is among them, the
bugs changed nothing, and neither the kernel nor the interpreter is run. The interpreter runs a kernel once, whatever is planted
in the runs that are compared with it.
"""

import os

from .engines import Failure, difference
from .makers import random_program

MOST_BUGS = 4096


class PlantedSites:
    """The bugs of the moment and the file that is told which sites were asked: see compiler/support/PlantedBugs.h."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        os.environ["NACRE_PLANTED_SITES"] = path

    def plant(self, names):
        os.environ["NACRE_PLANTED_BUG"] = names
        os.pwrite(self.file, bytes(MOST_BUGS), 0)

    def asked(self):
        """The numbers of their rows."""
        return [number for number, byte in enumerate(os.pread(self.file, MOST_BUGS, 0)) if byte]


class PlantedRuns:
    def __init__(self, runner, path):
        self.runner = runner
        self.sites = PlantedSites(path)
        self.seed = None  # of the program and of what the reference gave

    def check(self, task, begin):
        """None, or what is wrong (Runner.check). The task has a seed, a reference and an engine, the bugs to plant, and the numbers
        of those that are worth a run (None: it is run in any case)."""
        if task["seed"] != self.seed:
            self.seed, self.program, self.expected = task["seed"], random_program(task["seed"]), None
        reference, engine = task["engines"]
        program, memory, kernel = self.program, self.runner.memory(self.program), self.runner.kernel(self.program)
        self.sites.plant(task["planted"])
        self.asked = []  # the numbers of the bugs whose sites the compile came by
        begin(engine)
        running = engine
        try:
            self.runner.launch(program, engine, kernel, memory, compile_only=True)
            self.asked = self.sites.asked()
            if task["only_if_asked"] is not None and not set(task["only_if_asked"]) & set(self.asked):
                return None
            if self.expected is None:
                self.sites.plant("")
                begin(running := reference)
                self.expected = self.runner.run(program, reference, kernel, memory)
                self.sites.plant(task["planted"])
                begin(running := engine)
            result = self.runner.run(program, engine, kernel, memory)
        except Failure as failure:
            return {"kind": failure.kind, "engine": running, "text": str(failure)}
        return difference(program, reference, self.expected, engine, result)
