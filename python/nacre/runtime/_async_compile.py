"""Compiling several kernels at a time: inside `with AsyncCompileMode(executor):`, kernel.warmup(...) returns at once."""

from concurrent.futures import as_completed
from contextvars import ContextVar

active_mode = ContextVar("async_compile_active_mode", default=None)


class FutureKernel:
    """A kernel that is being compiled. Whatever is asked of it waits until it is ready."""

    def __init__(self, finalize_compile, cleanup_compile, future):
        self.finalize_compile = finalize_compile
        self.cleanup_compile = cleanup_compile
        self.future = future
        self.kernel = None

    def result(self, ignore_errors=False):
        """The CompiledKernel. An error of the compile is raised here, or with ignore_errors None is returned."""
        if self.kernel is None and self.future is not None:
            future, self.future = self.future, None
            try:
                kernel = future.result()
            except Exception:
                self.cleanup_compile(self)
                if ignore_errors:
                    return None
                raise
            self.finalize_compile(kernel)
            self.kernel = kernel
        return self.kernel

    def __getattr__(self, name):
        return getattr(self.result(), name)


class AsyncCompileMode:
    """A block in which warmups are compiled by an executor's threads; all of them are ready at its end.

    ignore_errors: kernels that cannot be compiled are passed over.
    """

    def __init__(self, executor, *, ignore_errors=False):
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.raw_futures = []
        self.future_kernels = {}

    def submit(self, key, compile_fn, finalize_fn, cleanup_fn):
        """The FutureKernel of a key; compile_fn runs in the executor if it is new."""
        if key not in self.future_kernels:
            future = self.executor.submit(compile_fn)
            self.raw_futures.append(future)
            self.future_kernels[key] = FutureKernel(finalize_fn, cleanup_fn, future)
        return self.future_kernels[key]

    def kernels_of(self, fn):
        """(the compiled kernel, or the FutureKernel while it is being compiled) of each warmup of a function."""
        for (owner, *_), kernel in list(self.future_kernels.items()):
            if owner is fn:
                future = kernel.future
                is_ready = future is None or (future.done() and not future.cancelled() and future.exception() is None)
                yield (kernel.kernel if future is None else future.result()) if is_ready else kernel

    def __enter__(self):
        if active_mode.get() is not None:
            raise RuntimeError("another AsyncCompileMode is active")
        active_mode.set(self)
        return self

    def __exit__(self, kind, error, traceback):
        active_mode.set(None)
        kernels, self.future_kernels = list(self.future_kernels.values()), {}
        futures, self.raw_futures = self.raw_futures, []
        if kind is not None:  # the block's error is what is told; nobody may be left to run what waits
            for future in futures:
                future.cancel()
            return
        for _ in as_completed(futures):
            pass
        for kernel in kernels:
            kernel.result(self.ignore_errors)
