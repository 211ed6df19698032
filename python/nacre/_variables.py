"""Settings of Triton's that are no rows of the table of knobs, and the kinds of them that packages make groups of their own from: each is an
attribute whose value is what was set, or else what its environment variable says."""

import os

_NOTHING = object()
YES = ("1", "true", "yes", "on", "y")


class env_base:
    """An attribute of a group, with its variable."""

    def __init__(self, key):
        self.key = key
        self.variables = (key,)

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, group, owner=None):
        if group is None:
            return self
        value = group.__dict__.get(self.name, _NOTHING)
        return self.get() if value is _NOTHING else self.transform(value)

    def __set__(self, group, value):
        from . import knobs

        if value is knobs.env:  # from now on the variable says it
            group.__dict__.pop(self.name, None)
            return
        group.__dict__[self.name] = value
        text = toenv(value)
        if text is not None:
            knobs.setenv(self.key, text[0])

    def __delete__(self, group):
        group.__dict__.pop(self.name, None)

    def get(self):
        raise NotImplementedError

    def transform(self, value):
        """What a value that was set reads as."""
        return value


class env_opt_str(env_base):
    def get(self):
        return os.environ.get(self.key)


class env_str(env_base):
    def __init__(self, key, default):
        super().__init__(key)
        self.default = default

    def get(self):
        return os.environ.get(self.key, self.default)


class env_str_callable_default(env_base):
    def __init__(self, key, default_factory):
        super().__init__(key)
        self.default_factory = default_factory

    def get(self):
        text = os.environ.get(self.key)
        return self.default_factory() if text is None else text


class env_bool(env_base):
    def __init__(self, key, default=False):
        super().__init__(key)
        self.default = default

    def get(self):
        text = os.environ.get(self.key)
        return self.default if text is None else text.lower() in YES


class env_opt_bool(env_bool):
    def __init__(self, key):
        super().__init__(key, None)


class env_int(env_base):
    def __init__(self, key, default=0):
        super().__init__(key)
        self.default = default

    def get(self):
        text = os.environ.get(self.key)
        try:
            return self.default if text is None else int(text)
        except ValueError:
            raise RuntimeError(f"Unable to use {self.key}={text}: expected int") from None


class env_class(env_base):
    """A class, by MODULE:CLASS; `type` is the name of one that it derives from."""

    def __init__(self, key, type):
        super().__init__(key)
        self.type = type

    def get(self):
        import importlib

        text = os.environ.get(self.key)
        if text is None:
            return None
        module, colon, name = text.partition(":")
        if not colon:
            raise RuntimeError(f"Unable to read {self.key}: '{text}' isn't of the form MODULE:CLASS")
        found = getattr(importlib.import_module(module), name)
        if all(base.__name__ != self.type for base in found.mro()):
            raise RuntimeError(f"Unable to use '{text}' from {self.key}: not of type '{self.type}'")
        return found


class env_nvidia_tool(env_base):
    """A program of the CUDA toolkit."""

    def __init__(self, binary):
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")
        self.binary = binary

    def get(self):
        return self.transform(os.environ.get(self.key))

    def transform(self, path):
        from ._toolkit import find_tool

        return find_tool(self.binary, path)


def toenv(value):
    """(text,) that a variable gets for a value, None in place of the text to take the variable away; None for what no variable can hold."""
    if value is None or type(value) is str:
        return (value,)
    if type(value) is bool:
        return ("1" if value else "0",)
    return (str(value),) if type(value) is int else None


NAMES = ("env_base", "env_bool", "env_class", "env_int", "env_nvidia_tool", "env_opt_bool", "env_opt_str", "env_str", "env_str_callable_default",
         "toenv")  # fmt: skip

# What Triton's target for AMD's GPUs reads. There is no such target here: kernels that set one around a launch run, and it does nothing.
AMD = {
    "codegen_path": env_opt_str("TRITON_AMD_CODEGEN_PATH"), "use_buffer_ops": env_bool("AMDGCN_USE_BUFFER_OPS", True),
    "use_buffer_atomics": env_bool("AMDGCN_USE_BUFFER_ATOMICS", True),
    "buffer_ops_analyze_small_tensor_range": env_bool("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE"), "dump_amdgcn": env_bool("AMDGCN_ENABLE_DUMP"),
    "libhip_path": env_opt_str("TRITON_LIBHIP_PATH"), "use_block_pingpong": env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG"),
    "use_in_thread_transpose": env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE"), "use_async_copy": env_opt_bool("TRITON_HIP_USE_ASYNC_COPY"),
    "use_coexec_scheduler": env_opt_bool("TRITON_HIP_USE_COEXEC_SCHEDULER"), "use_expert_scheduling": env_opt_bool("TRITON_HIP_USE_EXPERT_SCHEDULING"),
    "scalarize_packed_fops": env_bool("AMDGCN_SCALARIZE_PACKED_FOPS"), "dump_mir": env_opt_str("TRITON_DUMP_MIR"),
    "swap_mir": env_opt_str("TRITON_SWAP_MIR"), "swap_mir_enable_misched": env_bool("TRITON_SWAP_MIR_ENABLE_MISCHED"),
}  # fmt: skip
