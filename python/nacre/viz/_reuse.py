"""How far apart a program's touches of the same cache line are: few lines between them stay in a cache, many do not."""

from bisect import bisect_right, insort
from statistics import median_low

LINE = 64  # bytes


def reuse(accesses):
    """For each site: (touches of lines that the program had not touched before, touches of others, the median of how many other lines
    were touched in between, or None). Of the recorded programs, each for itself; an access touches each of its lines once."""
    sites = {}
    program, last, times = None, {}, []
    for now, (owner, _, _, size, _, site, _, addresses, _) in enumerate(accesses):
        if owner != program:
            program, last, times = owner, {}, []
        first, again = sites.setdefault(site, [0, []])
        lines = dict.fromkeys(line for address in addresses for line in (address // LINE, (address + size - 1) // LINE))
        for place, line in enumerate(lines):
            moment = (now, place)
            if line in last:
                at = bisect_right(times, last[line])
                again.append(len(times) - at)
                del times[at - 1]
            else:
                first += 1
            last[line] = moment
            insort(times, moment)
        sites[site][0] = first
    return {site: (first, len(again), median_low(again) if again else None) for site, (first, again) in sites.items()}
