"""Random kernels, other ones each day, leave the same bits on every engine.

NACRE_FUZZ_KERNELS=N runs N kernels (2000 otherwise), NACRE_FUZZ_SEED=S starts at seed S instead of the day's. A simulated GPU takes
longer for each: it runs the first tenth of them.
"""

import datetime
import os

import pytest
from kernel_fuzzer.campaign import CUDA_ENGINES, ENGINES, Campaign

COUNT = int(os.environ.get("NACRE_FUZZ_KERNELS", 2000))
SEED = int(os.environ.get("NACRE_FUZZ_SEED") or datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d00000"))


@pytest.mark.fuzz_kernels
@pytest.mark.parametrize("engines, count", [(ENGINES, COUNT), (CUDA_ENGINES, -(-COUNT // 10))], ids=["cpu", "cuda"])
def test_engines_agree(tmp_path, engines, count):
    campaign = Campaign(count, SEED, len(os.sched_getaffinity(0)), engines, out=tmp_path).run()
    found = "\n\n".join(finding.text() for finding in campaign.findings)
    assert not campaign.kinds, f"{campaign.summary()} from seed {SEED} on; scripts in {tmp_path}\n\n{found}"
    assert campaign.done == count
