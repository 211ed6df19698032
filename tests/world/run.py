"""Other people's kernels against torch, on every engine: `make test-world ARGS='--engines cpu,cuda:90 --packages fla,liger --seed 1 --time 300'`.

Each package runs on each engine in a process of its own, which may crash or hang: that is a finding, and the next case runs in a new one.
It ends with a table, before it a line for each case that was wrong or refused, with the command that repeats it alone.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import packages

HERE = Path(__file__).parent
HANG = 900  # seconds; no case takes a tenth of it on an idle machine
STATUSES = ["right", "wrong", "refused", "skipped"]


class Worker:
    """The process of a package on an engine, started when it is first asked and again after it died."""

    def __init__(self, package, engine, seed):
        self.command = [sys.executable, str(HERE / "worker.py"), package, engine, str(seed)]
        self.process = None

    def start(self):
        """Its first answer: {"operators"} or {"error"}."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.answers, self.last_words = queue.Queue(), []
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        threading.Thread(target=self._listen, args=(self.process.stderr, self.last_words), daemon=True).start()
        return self._answer(HANG)

    def _read(self, process):
        for line in process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def _listen(self, stream, words):
        for line in stream:
            words.append(line.rstrip())
            del words[:-20]

    def _answer(self, limit):
        try:
            line = self.answers.get(timeout=limit)
        except queue.Empty:
            self.stop()
            return {"late": True}
        if line is None:
            code = self.process.wait()
            self.process = None
            return {"status": "wrong", "error": f"the process ended with {code}", "text": f"the process ended with {code}: " + " | ".join(self.last_words[-3:])}
        return json.loads(line)

    def ask(self, operator, case, limit):
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps({"operator": operator, "case": case}) + "\n")
        self.process.stdin.flush()
        return self._answer(limit)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Run:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.time if options.time else None
        self.counts = {}
        self.operators = {}
        self.findings = []
        self.lock = threading.Lock()

    def left(self, share):
        return HANG if share is None else min(HANG, share - time.monotonic())

    def record(self, package, engine, operator, case, answer):
        status = answer["status"]
        with self.lock:
            self.counts.setdefault((package, engine), Counter())[status] += 1
            if status in ("wrong", "refused"):
                again = f"--packages {package} --engines {engine} --seed {self.options.seed} --operators {operator} --case {case}"
                self.findings.append(f"{status}: {package} {operator} on {engine}: {answer['text'][:700]}\n    make test-world ARGS='{again}'")
                print(self.findings[-1], flush=True)
                if self.options.verbose:
                    print(answer.get("trace", ""), flush=True)

    def package_on_engine(self, package, engine, share):
        """Every operator's first case, then every second, ...; one case in any case, the others while there is time."""
        worker = Worker(package, engine, self.options.seed)
        first = worker.start()
        if "operators" not in first:
            self.record(package, engine, "import", 0, {"status": "refused", "text": first.get("error", "the import hangs"), "trace": first.get("trace", "")})
            return
        names = first["operators"]
        self.operators[package] = len(names)
        if self.options.operators:
            names = [name for name in names if name in self.options.operators.split(",")]
        cases = [self.options.case] if self.options.case is not None else range(self.options.count)
        wanted = [(name, case) for case in cases for name in names]
        # The first one is another each time, so that short runs reach all.
        turn = self.options.seed % len(wanted) if wanted else 0
        try:
            for number, (name, case) in enumerate(wanted[turn:] + wanted[:turn]):
                left = self.left(share) if number else HANG
                if left <= 0:
                    self.record(package, engine, name, case, {"status": "skipped"})
                    continue
                answer = worker.ask(name, case, left)
                if answer.get("late"):
                    hangs = {"status": "wrong", "text": f"hangs: no result after {HANG} s"}
                    answer = hangs if left == HANG else {"status": "skipped"}
                self.record(package, engine, name, case, answer)
        finally:
            worker.stop()

    def run(self, jobs):
        pairs = [(package, engine) for package in self.options.packages for engine in self.options.engines]
        there = []
        for package, engine in pairs:
            if (packages.folder(packages.PACKAGES[package]) / "brought.json").exists():
                there.append((package, engine))
            else:
                self.counts[package, engine] = Counter(skipped=1)
        rounds = max(1, -(-len(there) // jobs))
        slice_ = self.options.time / rounds if self.options.time else None

        def one(pair):
            self.package_on_engine(*pair, time.monotonic() + slice_ if slice_ else None)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, there))

    def table(self):
        rows = [["package", "version", "engine", "operators", "cases", *STATUSES]]
        for (package, engine), counts in sorted(self.counts.items()):
            rows.append([package, packages.PACKAGES[package].version, engine, self.operators.get(package, 0), sum(counts.values()), *(counts[s] for s in STATUSES)])
        widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def total(self):
        return sum(self.counts.values(), Counter())


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="make test-world", description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="cpu,interpreter,cuda:80,cuda:90", type=lambda text: text.split(","))
    parser.add_argument("--packages", default=list(packages.PACKAGES), type=lambda text: text.split(","), help="by default every one that is there")
    parser.add_argument("--operators", help="only these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3, help="cases of each operator on each engine")
    parser.add_argument("--case", type=int, help="only the case of this number")
    parser.add_argument("--time", type=float, help="seconds for everything; what does not fit is skipped and counted")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbose", action="store_true", help="the traces of what is refused")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.packages if name not in packages.PACKAGES]
    if unknown:
        parser.error(f"no package is called {', '.join(unknown)}; there are {', '.join(packages.PACKAGES)}")
    return options


def main():
    options = options_of(sys.argv[1:])
    os.environ.setdefault("NACRE_NUM_THREADS", "1")
    run = Run(options)
    print(f"seed {options.seed}, engines {', '.join(options.engines)}", flush=True)
    run.run(options.jobs)
    print(run.table())
    total = run.total()
    print(f"{sum(total.values())} cases: " + ", ".join(f"{total[status]} {status}" for status in STATUSES))
    sys.exit(bool(total["wrong"] or total["refused"]))


if __name__ == "__main__":
    main()
