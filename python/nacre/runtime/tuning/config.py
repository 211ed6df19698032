"""Configurations, and the keys under which one is chosen."""


class Config:
    """One configuration: values for the kernel's meta-parameters, and launch options.

    pre_hook: called with the dictionary of all arguments before each launch with this configuration.
    ir_override: file whose text takes the place of a stage; its suffix names the stage (.ttir, .ttgir, .llir, .s).
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        if not isinstance(kwargs, dict):
            raise TypeError(f"Config: expected a dictionary of meta-parameters, found {kwargs!r}")
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self):
        """The meta-parameters and the launch options that are set."""
        options = {"num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas, "maxnreg": self.maxnreg,
                   "ir_override": self.ir_override}  # fmt: skip
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _key(self):
        return tuple(sorted(self.all_kwargs().items(), key=str))

    def __hash__(self):
        return hash((self._key(), self.pre_hook))

    def __eq__(self, other):
        return isinstance(other, Config) and self._key() == other._key() and self.pre_hook == other.pre_hook

    def __setstate__(self, state):
        self.__init__(state.get("kwargs", {}))
        self.__dict__.update(state)

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __repr__(self):
        return f"Config({self})"


def identity(config):
    """A configuration as text that is the same in every process: how records on disk name it."""
    return ", ".join(f"{name}={value!r}" for name, value in sorted(config.all_kwargs().items()))


def _power_of_two(value):
    import math

    return value if value <= 0 else 1 << (math.ceil(value) - 1).bit_length()


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


class Bucket:
    """A key that counts by ranges of its values: see bucket()."""

    def __init__(self, name, by):
        self.name = name
        if callable(by):
            self.of = by
        elif by is None:
            self.of = self._of_numbers(_power_of_two)
        elif _is_number(by) and by > 0:
            self.of = self._of_numbers(lambda value: -(-value // by) * by)
        elif isinstance(by, (list, tuple, range)) and len(by) and all(map(_is_number, by)):
            import bisect

            bounds = sorted(by)
            self.of = self._of_numbers(lambda value: bounds[min(bisect.bisect_left(bounds, value), len(bounds) - 1)])
        else:
            raise ValueError(f"bucket({name!r}, {by!r}): expected a number above 0, a list of bounds, or a function of the value")

    def _of_numbers(self, function):
        def of(value):
            try:
                return function(value) if value is not None else None
            except (TypeError, ValueError, AttributeError, OverflowError):
                raise TypeError(f"bucket({self.name!r}) takes numbers, found {value!r}; bucket(name, by=function) takes anything") from None

        return of

    def __repr__(self):
        return f"bucket({self.name!r})"


def bucket(name, by=None):
    """An argument for autotune(key=[...]) of which only the size class counts, so that not every length is tuned anew.

    by: None: up to the next power of two. An integer: up to the next multiple of it. A list: up to the next of its values (all above
    the last count as the last). A function: what it makes of the value.
    """
    return Bucket(name, by)


def key_names(key):
    return [part.name if isinstance(part, Bucket) else part for part in key]
