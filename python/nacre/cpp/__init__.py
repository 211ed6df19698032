"""Nacre for C++ programs: where the header, the library and the CMake package are.

g++ -std=c++17 main.cpp $(python -m nacre.cpp --flags) -o main
cmake -DCMAKE_PREFIX_PATH=$(python -m nacre.cpp --prefix) ...    # find_package(nacre), target nacre::nacre
"""

import os


def prefix():
    """The folder with include/nacre/nacre.h, lib/libnacre.so and lib/cmake/nacre."""
    return os.path.dirname(os.path.abspath(__file__))


def flags():
    """What a compiler needs to compile and link a program that uses the library, and the program to find it."""
    return [f"-I{prefix()}/include", f"-L{prefix()}/lib", "-lnacre", f"-Wl,-rpath,{prefix()}/lib"]
