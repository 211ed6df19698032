"""Dependent launches: kernels on the CPU run one after another, so there is nothing to wait for."""

from . import __getattr__ as _look_up

gdc_wait = _look_up("gdc_wait")
gdc_launch_dependents = _look_up("gdc_launch_dependents")
