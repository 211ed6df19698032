"""Makes recorded.npz, which the tests read, of the file that record.py wrote: digests where results must be equal, the
outputs themselves where a bound is allowed.

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


def main(path):
    packed = {"names": [], "digests": []}
    with np.load(path) as recorded:
        for program in programs():
            if program.name not in recorded.files:
                continue
            if program.group == "approx":
                packed["output " + program.name] = recorded[program.name]
            else:
                packed["names"].append(program.name)
                packed["digests"].append(digest(recorded[program.name]))
    packed["names"] = np.array(packed["names"])
    packed["digests"] = np.array(packed["digests"])
    np.savez_compressed(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.npz"), **packed)


if __name__ == "__main__":
    main(sys.argv[1])
