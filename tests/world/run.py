"""Other people's kernels against torch, on every engine: `make test-world ARGS='--engines cpu,cuda:90 --packages fla,liger --seed 1 --time 300'`.

Each package runs on each engine in a process of its own, which may crash or hang: that is a finding, and the next case runs in a new one.
It ends with a table, before it a line for each case that was wrong or refused, with the command that repeats it alone. `--write` keeps what came
of it: results.json and the table of docs/6-compatibility.md.

`--configurations` runs each configuration of the tuned kernels that a case meets as a case of its own. `--mutate N` runs N cases of each operator
with sizes, warps, stages and block sizes that its author did not choose, each on all engines: what is right on one must be right on all.
"""

import argparse
import fcntl
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import packages
import results
import world_engines
from processes import HANG, Worker
from results import STATUSES


class Run:
    def __init__(self, options):
        self.options = options
        self.outcomes = {}  # (package, engine): {operator: {case: seconds or a status}}
        self.extra = {}  # (package, engine): statuses of configurations but the first
        self.reasons = Counter()
        self.lock = threading.Lock()

    def command(self, package, engine, request):
        said = f"--packages {package} --engines {engine} --seed {self.options.seed} --cases {request['operator']}:{request['case']}"
        more = "".join(f" --{name} {request[name]}" for name in ("configuration", "mutation") if request.get(name) is not None)
        return f"make test-world ARGS='{said}{more}'"

    def record(self, package, engine, request, answer):
        """Counts the answer, and says it where it is a finding."""
        status, operator, case = answer["status"], request["operator"], request["case"]
        with self.lock:
            kept = self.outcomes.setdefault((package, engine), {}).setdefault(operator, {})
            if request.get("configuration"):
                self.extra.setdefault((package, engine), []).append(status)
            else:
                kept[case] = answer.get("seconds", 0.0) if status == "right" else status
            if status in ("theirs", "skipped"):
                self.reasons[f"{status}: {package} {operator} on {engine}: {answer['text']}"] += 1
            elif status != "right":
                self.say(status, package, operator, engine, answer, self.command(package, engine, request))

    def say(self, status, package, operator, engine, answer, command):
        print(f"{status}: {package} {operator} on {engine}: {answer['text'][:700]}\n    {command}", flush=True)
        if self.options.verbose:
            print(answer.get("trace", ""), flush=True)

    def package_on_engine(self, package, engine, end):
        """Every operator's first case, then every second, ...; one case in any case, the others while there is time."""
        problem = packages.missing(package) or world_engines.missing(engine)
        if problem:
            self.record(package, engine, {"operator": "import", "case": 0}, {"status": "skipped", "text": problem})
            return
        worker = Worker(package, engine, self.options.seed)
        try:
            first = worker.start()
            if "operators" not in first:
                answer = {"status": "refused", "text": first.get("error", "the import hangs"), "trace": first.get("trace", "")}
                self.record(package, engine, {"operator": "import", "case": 0}, answer)
                return
            for number, (name, case) in enumerate(self.wanted(first["operators"])):
                left = min(HANG, end - time.monotonic()) if end and number else HANG
                request = {"operator": name, "case": case, "configuration": self.options.configuration, "mutation": self.options.mutation}
                self.one_case(worker, package, engine, request, left)
        finally:
            worker.stop()
        if self.options.write:
            self.write(package, engine)

    def wanted(self, operators):
        """(operator, case) in the order they run in. The first one is another for each seed, so that short runs reach all."""
        if self.options.cases:
            return self.options.cases
        names = self.chosen(operators)
        wanted = [(name, case) for case in range(self.options.count) for name in names]
        turn = self.options.seed % len(wanted) if wanted and self.options.time else 0
        return wanted[turn:] + wanted[:turn]

    def chosen(self, operators):
        return [name for name in operators if not self.options.operators or name in self.options.operators]

    def one_case(self, worker, package, engine, request, left):
        answer = worker.ask(request, left) if left > 0 else {"status": "skipped", "text": "no time left"}
        self.record(package, engine, request, answer)
        if self.options.configurations:
            for number in range(1, answer.get("configurations", 0)):
                other = {**request, "configuration": number}
                self.record(package, engine, other, worker.ask(other))

    def run(self, jobs):
        pairs = [(package, engine) for package in self.options.packages for engine in self.options.engines]
        rounds = max(1, -(-len(pairs) // jobs))
        share = self.options.time / rounds if self.options.time else None
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda pair: self.package_on_engine(*pair, time.monotonic() + share if share else None), pairs))

    def mutate(self, jobs):
        """Mutated cases, each on all engines. What fails on all of them alike is a mutation that the kernel does not take."""
        def one(package):
            if packages.missing(package):
                self.record(package, "all", {"operator": "import", "case": 0}, {"status": "skipped", "text": packages.missing(package)})
                return
            workers = {engine: Worker(package, engine, self.options.seed) for engine in self.options.engines if not world_engines.missing(engine)}
            try:
                first = next(iter(workers.values())).start()
                names = self.chosen(first.get("operators", []))
                for number in range(self.options.mutate):
                    for name in names:
                        self.mutated_case(workers, package, {"operator": name, "case": number, "mutation": self.options.seed * 1000 + number})
            finally:
                for worker in workers.values():
                    worker.stop()

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, self.options.packages))

    def mutated_case(self, workers, package, request):
        answers = {engine: worker.ask(request) for engine, worker in workers.items()}
        ran = {engine: answer for engine, answer in answers.items() if answer["status"] != "skipped"}
        is_taken = any(answer["status"] == "right" for answer in ran.values())
        for engine, answer in ran.items():
            if not is_taken:
                reason = answer["text"] if answer["status"] == "theirs" else f"no engine takes this mutation: {answer['text'][:150]}"
                answer = {"status": "theirs", "text": reason}
            self.record(package, engine, request, answer)

    def statuses(self, pair):
        found = results.counts({name: cases.values() for name, cases in self.outcomes.get(pair, {}).items()})
        return found + Counter(self.extra.get(pair, []))

    def table(self):
        rows = [["package", "version", "engine", "operators", "cases", *STATUSES]]
        for package, engine in sorted(self.outcomes):
            found = self.statuses((package, engine))
            version = packages.PACKAGES[package].version
            rows.append([package, version, engine, len(self.outcomes[package, engine]), sum(found.values()), *(found[status] for status in STATUSES)])
        widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def total(self):
        return sum((self.statuses(pair) for pair in self.outcomes), Counter())

    def write(self, package, engine):
        """Puts what ran in the place of what was kept of the same package and engine."""
        version = packages.PACKAGES[package].version
        with self.lock, open(packages.FOLDER / "results.lock", "w") as other_runs:
            fcntl.flock(other_runs, fcntl.LOCK_EX)
            kept = results.read()
            if kept["seed"] != self.options.seed:
                kept = {"seed": self.options.seed, "packages": {}}
            kept["packages"] = {name: row for name, row in kept["packages"].items() if name in packages.PACKAGES}
            row = kept["packages"].get(package)
            if row is None or row["version"] != version:
                row = kept["packages"][package] = {"version": version, "engines": {}}
            row["engines"][engine] = {name: [cases[case] for case in sorted(cases)] for name, cases in self.outcomes[package, engine].items()}
            results.write(kept)


def cases(text):
    """[("rms_norm", 2), ...] of "rms_norm:2,..."."""
    return [(operator, int(case)) for operator, _, case in (part.rpartition(":") for part in text.split(","))]


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="make test-world", description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="cpu,interpreter,cuda:80,cuda:90", type=lambda text: text.split(","), help="`cuda` is the GPU of this machine")
    parser.add_argument("--packages", default=list(packages.PACKAGES), type=lambda text: text.split(","), help="by default every one that is there")
    parser.add_argument("--operators", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=4, help="cases of each operator on each engine")
    parser.add_argument("--cases", type=cases, metavar="OPERATOR:N,...", help="only these")
    parser.add_argument("--configuration", type=int, help="tuned kernels have the configuration of this number, counted round")
    parser.add_argument("--configurations", action="store_true", help="every configuration of tuned kernels is a case of its own")
    parser.add_argument("--mutate", type=int, metavar="N", help="N cases of each operator, with sizes, warps, stages and blocks of our choice")
    parser.add_argument("--mutation", type=int, help="what a mutated case is made from")
    parser.add_argument("--time", type=float, help="seconds for everything; what does not fit is skipped and counted")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--write", action="store_true", help="keep the results for the sample of the tests and for the documentation")
    parser.add_argument("--verbose", action="store_true", help="the traces of what is refused")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.packages if name not in packages.PACKAGES]
    if unknown:
        parser.error(f"no package is called {', '.join(unknown)}; there are {', '.join(packages.PACKAGES)}")
    if options.write and (options.operators or options.time or options.mutate or options.configurations or options.cases):
        parser.error("--write keeps whole runs: without --operators, --cases, --time, --mutate and --configurations")
    return options


def main():
    options = options_of(sys.argv[1:])
    os.environ.setdefault("NACRE_NUM_THREADS", "1")
    run = Run(options)
    print(f"seed {options.seed}, engines {', '.join(options.engines)}", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        if options.write:
            os.environ["NACRE_CACHE_DIR"] = cache  # the seconds of a case are those of a machine that sees it for the first time
        run.mutate(options.jobs) if options.mutate else run.run(options.jobs)
    for reason, count in sorted(run.reasons.items()):
        print(f"{count} {reason}")
    print(run.table())
    total = run.total()
    print(f"{sum(total.values())} cases: " + ", ".join(f"{total[status]} {status}" for status in STATUSES))
    sys.exit(bool(total["wrong"] or total["refused"]))


if __name__ == "__main__":
    main()
