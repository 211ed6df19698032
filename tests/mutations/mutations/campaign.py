"""Checks the mutations of many seeds in children, so that what ends or stops a process is a finding like the others."""

import contextlib
import importlib
import multiprocessing
import os
import tempfile
import time

KINDS = ("sources", "tile_ir")
HANGING = 150  # seconds without a sign of life


def _check_all(kind, seeds, report):
    with tempfile.TemporaryDirectory(prefix="nacre-mutations-") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        import nacre

        nacre.activate()
        module = importlib.import_module(f"mutations.{kind}")
        for seed in seeds:
            for problems in module.check(seed):
                report.send((seed, problems))
    report.close()


class Campaign:
    """`count` seeds of a kind from `seed` on; `problems` are the texts of what was found."""

    def __init__(self, kind, count, seed, out=None):
        self.kind, self.out = kind, out
        self.seeds = range(seed, seed + count)
        self.problems = []
        self.done = 0

    def run(self, seconds=None):
        end = None if seconds is None else time.monotonic() + seconds
        left = self.seeds
        while left and (end is None or time.monotonic() < end):
            left = self._run_child(left, end)
        return self

    def _run_child(self, seeds, end):
        """Runs a child over seeds until all are done, or it dies; gives those that are left."""
        context = multiprocessing.get_context("spawn")
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_check_all, args=(self.kind, seeds, writer), daemon=True)
        child.start()
        writer.close()
        last, why = seeds[0], None
        with contextlib.suppress(EOFError):
            while why is None and (end is None or time.monotonic() < end):
                if not reader.poll(HANGING):
                    why = f"no end after {HANGING} seconds"
                    break
                last, problems = reader.recv()
                if problems is not None:
                    self.done += 1
                    self._keep(last, problems)
            else:
                child.terminate()
        if why:
            child.kill()
        child.join()
        if end is not None and time.monotonic() >= end and not why:
            return seeds[:0]
        if child.exitcode == 1:
            raise RuntimeError(f"the check of seed {last} itself failed: see above")
        if why is None and child.exitcode != 0:
            why = f"the process ended with exit code {child.exitcode}"
        if why is None:
            return seeds[:0]
        show = importlib.import_module(f"mutations.{self.kind}").show
        try:
            text = show(last)
        except Exception as error:  # to show it, the kernel as it was is compiled
            text = repr(error)
        self._keep(last, [f"{why}; one of these:\n{text}"])
        return seeds[seeds.index(last) + 1 :]

    def _keep(self, seed, problems):
        for problem in problems:
            self.problems.append(f"seed {seed}: {problem}")
            if self.out:
                os.makedirs(self.out, exist_ok=True)
                with open(os.path.join(self.out, f"{self.kind}_{seed}_{len(self.problems)}.txt"), "w") as file:
                    file.write(self.problems[-1])
