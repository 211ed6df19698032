"""A process that runs programs: it may crash or hang, its parent will know which program did it.

Tasks come as lines of JSON on standard input, {"seed": n} or {"genes": [...]} with the engines to compare; what happens goes back
on the file descriptor named by the argument: a line when an engine begins, and one with the result. A task may name bugs of the
compiler to plant ("planted") and say which sites matter ("only_if_asked"): see planted_runs.py.
"""

import json
import os
import sys
import tempfile


def main():
    channel = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    with tempfile.TemporaryDirectory(prefix="nacre-fuzz-", dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
        os.environ.setdefault("NACRE_NUM_THREADS", "2")
        os.environ.setdefault("NACRE_LONE_ATOMICS_US", "0")  # short launches too
        from kernel_fuzzer.engines import Runner
        from kernel_fuzzer.makers import random_program, replayed_program
        from kernel_fuzzer.planted_runs import PlantedRuns

        runner = Runner(folder)
        planted = PlantedRuns(runner, os.path.join(folder, "sites"))
        channel.write('{"ready": true}\n')
        for line in sys.stdin:
            task = json.loads(line)

            def begin(engine):
                channel.write(json.dumps({"begin": engine}) + "\n")

            if "planted" in task:
                result = planted.check(task, begin)
                channel.write(json.dumps({"result": result, "sites": planted.asked}) + "\n")
            else:
                program = random_program(task["seed"]) if "seed" in task else replayed_program(task["genes"])
                channel.write(json.dumps({"result": runner.check(program, task["engines"], begin), "sites": []}) + "\n")


if __name__ == "__main__":
    main()
