"""Every compile in the tests is verified after each pass."""

import os

os.environ.setdefault("NACRE_VERIFY_IR", "1")
