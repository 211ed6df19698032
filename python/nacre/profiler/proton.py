"""`nacre-proton` and `nacre profile`: run a script, or pytest, under one session."""

import argparse
import os
import runpy
import sys

from .._terminal import misused
from .flags import flags
from .profile import DEFAULT_PROFILE_NAME, finalize, start


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(misused(self.prog, message))


def parse_arguments(arguments=None, program="nacre-proton"):
    parser = Parser(prog=program, description="Profiles the kernels of a script.", usage=f"{program} [options] script.py|pytest [args]")
    parser.add_argument("-n", "--name", default=DEFAULT_PROFILE_NAME, help="name of the file, without its suffix")
    parser.add_argument("-b", "--backend", default=None)
    parser.add_argument("-c", "--context", default="shadow", choices=["shadow", "python"])
    parser.add_argument("-m", "--mode", default=None)
    parser.add_argument("-d", "--data", default="tree", choices=["tree", "trace"])
    parser.add_argument("-k", "--hook", default=None, choices=[None, "triton"])
    parser.add_argument("target", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)  # what stands behind it is the target's
    options = parser.parse_args(arguments)
    if not options.target:
        parser.error("a script or pytest is needed")
    return options, options.target


def is_pytest(script):
    return os.path.basename(script) == "pytest"


def execute_as_main(script, arguments):
    """Runs the script as Python would; gives its exit status."""
    path = os.path.abspath(script)
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(path))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leave:
        return leave.code
    return 0


def do_setup_and_execute(target_args):
    script, arguments = target_args[0], target_args[1:]
    if is_pytest(script):
        import pytest

        return pytest.main([*arguments])
    return execute_as_main(script, arguments)


def run_profiling(options, target_args, program="nacre-proton"):
    start(options.name, context=options.context, data=options.data, backend=options.backend, mode=options.mode, hook=options.hook)
    flags.command_line = True
    try:
        status = do_setup_and_execute(target_args)
    finally:
        flags.command_line = False
        finalize()
        _tell(options, program)
    sys.exit(status)


def _tell(options, program):
    """Where the profile is, and what shows it."""
    file = f"{options.name}.{'chrome_trace' if options.data == 'trace' else 'hatchet'}"
    if options.name in ("", "-") or not os.path.exists(file):
        return
    shows = f"nacre-proton-viewer --html PAGE {file}" if options.data == "trace" else f"nacre-proton-viewer -m time/ms {file}"
    print(f"{program}: {file} is written; `{shows}` shows it", file=sys.stderr)


def main(arguments=None, program="nacre-proton"):
    from .. import activate

    activate()
    options, target = parse_arguments(arguments, program)
    if not is_pytest(target[0]) and not os.path.exists(target[0]):
        print(f"{program}: there is no file {target[0]}", file=sys.stderr)
        sys.exit(2)
    run_profiling(options, target, program)


if __name__ == "__main__":
    main()
