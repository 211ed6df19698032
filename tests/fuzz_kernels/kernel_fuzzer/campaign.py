"""A run of many programs: several workers side by side, every finding reduced, grouped and written out."""

import itertools
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .client import Client
from .makers import random_program, replayed_program
from .reducer import Reducer
from .report import features, identity, script

ENGINES = ("interpreter", "cpu", "cpu-v3")
CUDA_ENGINES = ("interpreter", "cuda:90", "cuda:90/2", "cuda:80")  # the first is what the others are compared with


@dataclass
class Finding:
    seed: int
    found: dict
    program: object
    identity: tuple
    again: list = field(default_factory=list)  # seeds with the same identity

    def text(self):
        more = f" (and {len(self.again)} more like it: {self.again[:5]})" if self.again else ""
        return f"seed {self.seed}: {self.found['kind']} on {self.found['engine']}{more}\n{self.found['text']}\n{self.program.source()}"


class Campaign:
    def __init__(self, count, seed, jobs, engines=ENGINES, out=None, reduce=True, seconds=None, limit=20.0, progress=None, client=Client):
        self.seeds = itertools.count(seed) if count is None else iter(range(seed, seed + count))
        self.count = count
        self.jobs = jobs
        self.engines = engines
        self.out = Path(out) if out else None
        self.reduce = reduce
        self.end = time.monotonic() + seconds if seconds else None
        self.limit = limit
        self.progress = progress
        self.client = client
        self.lock = threading.Lock()
        self.findings = []
        self.kinds = Counter()
        self.done = 0
        self.error = None  # of the fuzzer itself
        self.coverage = Counter()

    def run(self):
        started = time.monotonic()
        threads = [threading.Thread(target=self._work) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(0.5)
                if self.progress:
                    self.progress(self, time.monotonic() - started)
        except KeyboardInterrupt as interrupt:
            self.error = interrupt  # no new kernel begins
        self.seconds = time.monotonic() - started
        if self.error is not None:
            raise self.error
        return self

    def _next(self):
        with self.lock:
            if self.error is not None or self.end is not None and time.monotonic() > self.end:
                return None
            return next(self.seeds, None)

    def _work(self):
        client = self.client(self.engines, self.limit)
        try:
            while (seed := self._next()) is not None:
                found = client.check({"seed": seed})
                with self.lock:
                    self.done += 1
                    self.coverage.update(features(random_program(seed)).keys())
                    if found:
                        self.kinds[found["kind"]] += 1
                if found:
                    self._report(client, seed, found)
        except Exception as error:  # noqa: BLE001  (the main thread raises it)
            error.add_note(f"seed {seed}")
            self.error = error
        finally:
            client.close()

    def _report(self, client, seed, found):
        program = random_program(seed)
        if self.reduce:
            genes, found = self._reduced(client, program, found)
            program = replayed_program(genes)
        finding = Finding(seed, found, program, identity(program, found))
        with self.lock:
            known = next((other for other in self.findings if other.identity == finding.identity), None)
            if known is not None:
                known.again.append(seed)
                return
            self.findings.append(finding)
            number = len(self.findings)
        if self.out:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / f"{number:03}_{found['kind']}_{seed}.py").write_text(script(program, found, seed))

    def _reduced(self, client, program, found):
        """The engines that are needed to see it are the first and the one that fails."""
        engines = [self.engines[0]] + ([found["engine"]] if found["engine"] in self.engines[1:] else [])
        client.limit, before = min(self.limit, 8.0), client.limit
        try:
            return Reducer(lambda genes: client.check({"genes": genes}, engines), found, program.to_data()).reduce()
        finally:
            client.limit = before

    def summary(self):
        differences = self.kinds["difference"] + self.kinds["error"]
        return f"{self.done} kernels, {differences} differences, {self.kinds['crash']} crashes, {self.kinds['hang']} hangs"


def show_progress(campaign, seconds):
    total = f" of {campaign.count}" if campaign.count is not None else ""
    text = f"{campaign.done}{total} kernels, {campaign.done / max(seconds, 0.1):.1f}/s, {sum(campaign.kinds.values())} findings"
    sys.stderr.write(f"\r{text:70}")
    sys.stderr.flush()
