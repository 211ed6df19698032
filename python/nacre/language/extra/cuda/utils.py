"""The place, the size and the clock of a program."""

from . import __getattr__ as _look_up

globaltimer = _look_up("globaltimer")
smid = _look_up("smid")
num_threads = _look_up("num_threads")
num_warps = _look_up("num_warps")
