"""python -m nacre"""

import sys

from ._command_line import main

sys.exit(main())
