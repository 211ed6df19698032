"""Random kernels, other ones each day, leave the same bits on every engine.

NACRE_FUZZ_KERNELS=N runs N kernels (2000 otherwise), NACRE_FUZZ_SEED=S starts at seed S instead of the day's.
"""

import datetime
import os

import pytest
from kernel_fuzzer.campaign import Campaign

COUNT = int(os.environ.get("NACRE_FUZZ_KERNELS", 2000))
SEED = int(os.environ.get("NACRE_FUZZ_SEED") or datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d00000"))


@pytest.mark.fuzz_kernels
def test_engines_agree(tmp_path):
    campaign = Campaign(COUNT, SEED, len(os.sched_getaffinity(0)), out=tmp_path).run()
    found = "\n\n".join(finding.text() for finding in campaign.findings)
    assert not campaign.kinds, f"{campaign.summary()} from seed {SEED} on; scripts in {tmp_path}\n\n{found}"
    assert campaign.done == COUNT
