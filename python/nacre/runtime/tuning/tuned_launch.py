"""One launch of a tuned kernel: what a configuration makes of its arguments."""

from contextlib import ExitStack

from ...tools.tensor_descriptor import TensorDescriptor
from ..jit import JITFunction
from ..recompiles import for_a_launch


class TunedLaunch:
    """The arguments of a launch, which any configuration of the tuner completes. `kwargs` holds the grid too."""

    def __init__(self, tuner, args, kwargs):
        self.tuner = tuner
        self.args, self.kwargs = args, kwargs
        self.given = {**tuner.nargs, **kwargs}

    @property
    def function(self):
        """The function of the language under all decorators; None: see function_of."""
        return function_of(self.tuner)

    def refuse_tuned(self, config):
        """A parameter that the configurations set is not for the launch to set."""
        given = {*self.tuner.arg_names[:len(self.args)], *self.kwargs}
        clash = [name for name in config.all_kwargs() if name in given]
        if clash:
            names = ", ".join(map(repr, clash))
            raise ValueError(f"Conflicting meta-parameters: {self.tuner.__name__}() was launched with {names}, which @autotune sets; "
                             "leave it out of the launch")  # fmt: skip

    def timed_call(self, config):
        """A function that launches a configuration once, with all hooks."""
        self.refuse_tuned(config)
        tuner, args = self.tuner, self.args
        current = {**self.kwargs, **config.all_kwargs()}
        full = {**self.given, **current}

        def call():
            if config.pre_hook:
                config.pre_hook(full)
            tuner.pre_hook(full)
            try:
                tuner.fn.run(*args, **current)
            except Exception as error:
                try:
                    tuner.post_hook(full, exception=error)
                finally:
                    raise
            tuner.post_hook(full, exception=None)

        return call

    def compile(self, config):
        """The compiled kernel of a configuration; None where what is tuned has only a `run`."""
        self.refuse_tuned(config)
        if self.function is None:
            return None
        launch = {**self.kwargs, **config.all_kwargs(), "warmup": True}
        with ExitStack() as stack:
            # A hook may give descriptors their blocks, which are part of the kernel: one configuration at a time then.
            if config.pre_hook and any(isinstance(value, TensorDescriptor) for value in (*self.args, *self.kwargs.values())):
                stack.enter_context(self.tuner.hook_lock)
                config.pre_hook({**self.given, **config.all_kwargs()})
            stack.enter_context(for_a_launch())
            return self.tuner.fn.run(*self.args, **launch)

    def code_identity(self, config, kernel):
        """What two configurations have in common that are the same code on the same grid: only one of them needs to be timed."""
        if config.pre_hook is not None or self.tuner.is_watched or not hasattr(kernel, "hash"):
            return None
        grid = self.kwargs.get("grid")
        if callable(grid):
            try:
                grid = grid({**{name: value for name, value in self.given.items() if name not in ("grid", "warmup")}, **config.all_kwargs()})
            except Exception:  # what it needs the launch has: a heuristic's value
                return None
        return kernel.hash, repr(sorted(config.kwargs.items(), key=str)), repr(grid)

    def tell_hooks(self, config, error):
        """Hooks of the user's see a configuration that does not compile as a run that fails."""
        if self.tuner.user_defined_post_hook and isinstance(error, BaseException):
            full = {**self.given, **config.all_kwargs()}
            if config.pre_hook:
                config.pre_hook(full)
            self.tuner.pre_hook(full)
            self.tuner.post_hook(full, exception=error)

    def values(self):
        """What each parameter of the kernel is given, in order; None for those that configurations or heuristics set."""
        params = () if self.function is None else self.function.params
        return [self.given.get(param.name, param.default if param.has_default else None) for param in params]

    def problem(self, key):
        """What is tuned, as records on disk know it; None where there is no source to know it by."""
        from .records import Problem, type_of

        if self.function is None:
            return None
        heuristics, fn = {}, self.tuner.fn
        while not isinstance(fn, JITFunction):
            heuristics.update(getattr(fn, "values", {}))
            fn = fn.fn
        types = {param.name: type_of(self.given[param.name], param.is_constexpr) for param in fn.params if param.name in self.given}
        return Problem(fn, heuristics, types, key)


def function_of(tuner):
    """The function of the language that a tuner tunes, under all decorators; None where it tunes an object with a `run` of its own."""
    fn = tuner.fn
    while fn is not None and not isinstance(fn, JITFunction):
        fn = getattr(fn, "fn", None)
    return fn
