"""How times are taken: contenders run in turn, never side by side, and the smallest time of each counts.

A turn begins with a pause, so that the threads of the one before have gone to sleep, and then calls its contender a few
times, so that its own threads are awake. Several rounds of turns spread the machine's noise over everybody alike.
"""

import time

PAUSE_S = 0.004


def smallest_times_ms(contenders, rounds=8, seconds=2.0, calls=4, clock=time.perf_counter):
    """`contenders`: name -> function. Gives name -> smallest time of one call, in milliseconds.

    Runs at least `rounds` rounds of `calls` calls each, and goes on until `seconds` have been spent. On a machine with other work
    `clock` may be time.process_time, where everybody has one thread.
    """
    best = {name: float("inf") for name in contenders}
    for function in contenders.values():
        function()
    start = time.perf_counter()
    done = 0
    while done < rounds or time.perf_counter() - start < seconds:
        for name, function in contenders.items():
            time.sleep(PAUSE_S)
            for _ in range(calls):
                before = clock()
                function()
                best[name] = min(best[name], clock() - before)
        done += 1
    return {name: value * 1e3 for name, value in best.items()}
