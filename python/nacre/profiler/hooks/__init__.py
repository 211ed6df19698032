"""Hooks: what else happens at a launch while a session is active."""

from . import hook, instrumentation, launch
from .hook import Hook, HookManager
from .instrumentation import InstrumentationHook
from .launch import LaunchHook

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook", "hook", "instrumentation", "launch"]
