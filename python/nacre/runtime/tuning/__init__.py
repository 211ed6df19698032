"""What the autotuner is made of.

find_config.py: from a key to a configuration. tuned_launch.py: what a configuration makes of a launch. config.py: configurations and keys. pruning.py: which are worth timing. measuring.py: compiling candidates side by side and timing them one by one.
isolation.py: timing in a child process. private_memory.py: what the child would share with others. protection.py: what a kernel may
write in this process, saved and put back. records.py: results on disk. choice.py: which configuration the times speak for. search.py:
spaces of configurations. fleet.py: the workers of an executor. reporting.py: what a person sees.
"""


def fleet_executor(given):
    """The executor whose workers time configurations: the one given to autotune(), or what NACRE_TUNE_EXECUTOR names; None: this process
    times itself."""
    from ... import knobs

    if given is None and not knobs.autotuning.executor:
        return None
    from .fleet import executor_of

    return executor_of(given)
