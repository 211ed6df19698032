"""Meta-parameters that are computed from a kernel's arguments."""

from .. import _core
from .jit import KernelInterface


class Heuristics(_core.HeuristicKernel, KernelInterface):
    """A kernel some of whose meta-parameters are computed from its arguments. A launch is C++ but for the functions themselves."""

    __getitem__ = _core.HeuristicKernel.__getitem__

    def __init__(self, fn, arg_names, values):
        self.fn = fn
        self.values = values
        self.arg_names = list(arg_names)
        self.__name__ = getattr(fn, "__name__", "kernel")
        for name, function in values.items():
            if not callable(function):
                raise TypeError(f"heuristics of {self.__name__}: {name!r} needs a function of the arguments, found {function!r}")
        self._set_up()

    def _set_up(self):
        self._configure(self.fn if type(self).run is Heuristics.run else None, self.arg_names, self.values)

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._set_up()

    def _note(self, error, name):
        """Says where an error comes from that a heuristic raised."""
        error.add_note(f"in the heuristic {name!r} of the kernel {self.__name__}")

    def _refuse_dictionary(self, name, found):
        raise TypeError(f"the heuristic {name!r} of the kernel {self.__name__} returned a dictionary without {name!r}; it has "
                        f"{', '.join(map(repr, found)) or 'nothing'}")  # fmt: skip

    def evaluate(self, args, kwargs):
        """The keywords of a launch, with what the heuristics say. Each sees the arguments by name and what those before it said."""
        named = {**dict(zip(self.arg_names, args)), **kwargs}
        kwargs = dict(kwargs)
        for name, heuristic in self.values.items():
            try:
                value = heuristic(named)
            except Exception as error:
                self._note(error, name)
                raise
            if isinstance(value, dict):
                if name not in value:
                    self._refuse_dictionary(name, value)
                value = value[name]
            kwargs[name] = named[name] = value
        return kwargs

    def run(self, *args, **kwargs):
        return self.fn.run(*args, **self.evaluate(args, kwargs))

    def warmup(self, *args, **kwargs):
        return self.fn.warmup(*args, **self.evaluate(args, kwargs))


def arguments_of(fn, decorator):
    """The parameters of what a decorator stands above."""
    if not hasattr(fn, "arg_names"):
        raise TypeError(f"@{decorator} stands above @jit: it takes a kernel, found {fn!r}")
    return fn.arg_names


def heuristics(values):
    """Computes meta-parameters: name -> function of the dictionary of all arguments, evaluated in order.

    A function returns the value, or a dictionary that holds it under the name. It sees what the functions before it returned.
    """

    def decorate(fn):
        return Heuristics(fn, arguments_of(fn, "heuristics"), values)

    return decorate
