"""Tests that run a function in a process of its own, for `triton._internal_testing`: whatever becomes of the process, the tests go on."""

import contextlib
import importlib
import multiprocessing
import os
import sys
import tempfile
from collections import namedtuple

from ._compile_warmup_state import is_compile_warmup

# What the function raised, or None; what was written to file descriptor 2 meanwhile.
ProcessResult = namedtuple("ProcessResult", ["exc", "driver_stderr_output"])

_pool = None


@contextlib.contextmanager
def _standard_error_in(path):
    sys.stderr.flush()
    kept = os.dup(2)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _wait_for_devices():
    """What they have to say of the launches before comes out now."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _serve(pipe, module):
    """Calls what comes through the pipe, each with the variables and knobs that this process began with, until one raises."""
    from . import knobs

    if module is not None:
        importlib.import_module(module)
    raised = None
    while raised is None:
        try:
            function, arguments, keywords, variables, path, listener = pipe.recv()
        except EOFError:
            return
        before = dict(os.environ)
        os.environ.update(variables or {})
        with knobs.compilation.scope(), knobs.runtime.scope(), knobs.cache.scope(), _standard_error_in(path):
            knobs.compilation.listener = listener
            try:
                function(*arguments, **keywords)
                _wait_for_devices()
            except Exception as error:
                raised = error
        os.environ.clear()
        os.environ.update(before)
        pipe.send(raised)


class _Worker:
    def __init__(self, module=None):
        context = multiprocessing.get_context("forkserver")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, module), daemon=True)
        self.process.start()
        theirs.close()

    def run(self, function, arguments, keywords, variables):
        from . import knobs

        limit = os.environ.get("TRITON_TEST_PROCESS_TIMEOUT")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "stderr")
            self.pipe.send((function, arguments, keywords or {}, variables, path, knobs.compilation.listener))
            try:
                if not self.pipe.poll(None if limit is None else float(limit)):
                    self.end()
                    raise TimeoutError(f"test subprocess {function.__name__} exceeded its {float(limit)}-second timeout")
                raised = self.pipe.recv()
            except EOFError:
                self.process.join()
                said = open(path, errors="replace").read() if os.path.exists(path) else ""
                raise RuntimeError(f"the child process ended with code {self.process.exitcode} and gave no result\n{said}".rstrip()) from None
            with open(path, errors="replace") as file:
                return ProcessResult(raised, file.read())

    def end(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


class ReplenishingProcessPool:
    """A process that is used again while all goes well, and a spare one for when it does not."""

    def __init__(self, preload_module):
        self.module = preload_module
        self.worker, self.spare = _Worker(preload_module), _Worker(preload_module)

    def run(self, *call):
        is_content = False
        try:
            result = self.worker.run(*call)
            is_content = result.exc is None
            return result
        finally:
            if not is_content:
                self.worker.end()
                self.worker, self.spare = self.spare, _Worker(self.module)

    def close(self):
        self.worker.end()
        self.spare.end()


@contextlib.contextmanager
def use_process_pool(preload_module):
    """Meanwhile run_in_process() uses processes again, which have imported the module."""
    global _pool
    before, _pool = _pool, ReplenishingProcessPool(preload_module)
    try:
        yield _pool
    finally:
        _pool.close()
        _pool = before


def run_in_process(client_fn, args=(), kwargs=None, env=None):
    """Calls a function of a module in a process of its own, with these variables besides: a ProcessResult. TRITON_TEST_PROCESS_TIMEOUT says how
    many seconds it may take, DISABLE_SUBPROCESS that it is called here; so it is where kernels are compiled alone (`_compile_warmup`)."""
    if is_compile_warmup() or os.environ.get("DISABLE_SUBPROCESS"):
        return client_fn(*args, **(kwargs or {}))
    if _pool is not None:
        return _pool.run(client_fn, args, kwargs, env)
    worker = _Worker()
    try:
        return worker.run(client_fn, args, kwargs, env)
    finally:
        worker.end()
