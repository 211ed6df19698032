"""python -m nacre.cpp --flags | --prefix"""

import argparse
import shlex

from . import flags, prefix

parser = argparse.ArgumentParser(prog="python -m nacre.cpp", description="What a C++ compiler needs to know to use Nacre.")
choice = parser.add_mutually_exclusive_group(required=True)
choice.add_argument("--flags", action="store_true", help="the compiler's flags")
choice.add_argument("--prefix", action="store_true", help="the folder for CMAKE_PREFIX_PATH")
print(prefix() if parser.parse_args().prefix else shlex.join(flags()))
