"""Makes recorded.npz, which the tests read, of the file that record.py wrote: digests where results must be equal, the
outputs themselves where a bound is allowed. What that file does not have stays as it was.

    python pack.py device.npz
"""

import hashlib
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import programs  # noqa: E402


def digest(output):
    return np.frombuffer(hashlib.blake2b(output.tobytes(), digest_size=8).digest(), np.uint8)


def main(path, target=os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.npz")):
    packed, digests = {}, {}
    if os.path.exists(target):
        with np.load(target) as known:
            digests = dict(zip(known["names"].tolist(), known["digests"]))
            packed = {name: known[name] for name in known.files if name.startswith("output ")}
    with np.load(path) as recorded:
        for program in programs():
            if program.name not in recorded.files:
                continue
            if program.group == "approx":
                packed["output " + program.name] = recorded[program.name]
            else:
                digests[program.name] = digest(recorded[program.name])
    names = [program.name for program in programs() if program.name in digests]
    packed["names"] = np.array(names)
    packed["digests"] = np.array([digests[name] for name in names])
    np.savez_compressed(target, **packed)


if __name__ == "__main__":
    main(*sys.argv[1:])
