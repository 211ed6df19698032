"""Settings, as attributes of groups: `knobs.runtime.num_threads = 4`.

A knob is an environment variable: reading one reads the variable, setting one sets it (so that child processes agree), deleting
one takes it away again. The table is the runtime's; `nacre info` prints it. Hooks and listeners belong to the groups too, but
not to the table.
"""

import os
import sys
from contextlib import contextmanager

from . import _core, _toolkit, _variables

_YES = _variables.YES
_NO = ("", "0", "false", "no", "off", "n")
propagate_env = True  # where it is False, knobs that are set change no environment variable: child processes do not hear of them
_kept = {}  # variable -> text, of knobs that were set meanwhile


def _keep(variable, text):
    """A value that holds in this process alone; None: there is none."""
    if text is None:
        _kept.pop(variable, None)
    else:
        _kept[variable] = text
    _core.keep_knob(variable, text)


class Knob:
    """One row of the table, as an attribute of its group."""

    def __init__(self, group, name, kind, variable, other_variable, default, in_cache_key, help):
        self.group = group
        self.name = name
        self.kind = kind
        self.variables = (other_variable, variable) if other_variable.startswith("NACRE_") else (variable, other_variable)
        self.key = variable
        self.default = default
        self.in_cache_key = in_cache_key
        self.__doc__ = help

    def _text(self):
        if self.key in _kept:
            return _kept[self.key]
        for variable in self.variables:
            if variable in os.environ:
                return os.environ[variable]
        return None

    def __get__(self, group, owner=None):
        if group is None:
            return self
        text = self._text()
        if text is None:
            text = self.default
        if self.kind == "bool":
            if text.lower() in _YES:
                return True
            if text.lower() in _NO:
                return False
            raise ValueError(f"{self.key}={text}: expected a boolean (0 or 1)")
        if self.kind == "int":
            try:
                number = int(text or self.default)
            except ValueError:
                number = -1
            if number < 0:
                raise ValueError(f"{self.key}={text}: expected a whole number of at least 0")
            return number
        text = text or self.default
        if text == "":
            folder = _FOLDERS.get((self.group, self.name))
            return folder() if folder else None
        return self._value(text)

    def _value(self, text):
        """What a text that is set means."""
        return text

    def __set__(self, group, value):
        text = None if value is None else self._text_of(value)
        _keep(self.key, None if propagate_env else text)
        if propagate_env:
            for variable in self.variables:
                os.environ.pop(variable, None)
            if text is not None:
                os.environ[self.key] = text
        self._changed()

    def _text_of(self, value):
        is_switch = self.kind == "bool" or isinstance(value, bool)
        return ("1" if value else "0") if is_switch else str(value)

    def __delete__(self, group):
        self.__set__(group, None)

    def _changed(self):
        if self.name == "num_threads":
            _core.set_threads(self.__get__(_groups["runtime"]))
        _core.knobs_changed()


class ClassKnob(Knob):
    """A knob whose value is a class; its variable says MODULE:CLASS."""

    _known = None  # (text, class) of what was set as a class: its module need not be importable by name

    def _value(self, text):
        if self._known is not None and self._known[0] == text:
            return self._known[1]
        import importlib

        module, colon, name = text.partition(":")
        if not colon:
            raise ValueError(f"{self.key}={text}: expected MODULE:CLASS")
        return getattr(importlib.import_module(module), name)

    def _text_of(self, value):
        if isinstance(value, str):
            return value
        text = f"{value.__module__}:{value.__qualname__}"
        self._known = text, value
        return text


class VersionKnob(Knob):
    """The version of Triton that the package says it is."""

    def _value(self, text):
        if "." not in text or not all(part.isdecimal() for part in text.split(".")):
            raise ValueError(f"{self.key}={text}: expected a version, 3.9.0")
        return text

    def _text_of(self, value):
        return self._value(str(value))

    def _changed(self):
        from . import _version

        package = sys.modules[__package__]
        package.__version__ = _version.presented(self.__get__(language))


class ToolKnob(Knob):
    """A knob whose value is a program of the CUDA toolkit, with its path and its version."""

    def __get__(self, group, owner=None):
        return self if group is None else _toolkit.find_tool(self.name, self._text())

    def found(self):
        """None where there is none."""
        try:
            return self.__get__(nvidia)
        except RuntimeError:
            return None


_FOLDERS = {
    ("cache", "home_dir"): lambda: os.path.expanduser("~"),
    ("cache", "dir"): lambda: _core.directories()["cache"],
    ("cache", "dump_dir"): lambda: _core.directories()["dump"],
    ("cache", "override_dir"): lambda: _core.directories()["override"],
    ("autotuning", "dir"): lambda: _core.directories()["tuning"],
}


class HookChain:
    """Functions called one after another."""

    def __init__(self, reversed=False, on_change=None):
        self.calls = []
        self.reversed = reversed
        self._on_change = on_change

    def add(self, function):
        if function not in self.calls:
            self.calls.append(function)
        self._changed()

    def remove(self, function):
        if function in self.calls:
            self.calls.remove(function)
        self._changed()

    def _changed(self):
        if self._on_change is not None:
            self._on_change()

    def __bool__(self):
        return bool(self.calls)

    def __call__(self, *args, **kwargs):
        for function in list(reversed(self.calls) if self.reversed else self.calls):
            function(*args, **kwargs)


class CompileTimes:
    """How long a compile took, in microseconds, as `compilation.listener` is told.

    ir_initialization: the front end. lowering_stages: pairs of a stage and its time. store_results: writing to the cache.
    """

    def __init__(self, ir_initialization, lowering_stages, store_results):
        self.ir_initialization = ir_initialization
        self.lowering_stages = lowering_stages
        self.store_results = store_results

    @property
    def total_lowering(self):
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self):
        return self.ir_initialization + self.total_lowering + self.store_results

    def __repr__(self):
        return f"CompileTimes({self.ir_initialization}, {self.lowering_stages}, {self.store_results})"


class Knobs:
    """A group of knobs."""

    def __init__(self):
        for name, value in self._plain().items():
            self.__dict__.setdefault(name, value)

    def __setattr__(self, name, value):
        if not name.startswith("_") and name not in self.__dict__ and not hasattr(type(self), name):
            known = [*self.knob_descriptors, *(other for other in self.__dict__ if not other.startswith("_"))]
            import difflib  # 8 ms, for who is mistaken alone

            near = difflib.get_close_matches(name, known, 1)
            hint = f"; is {near[0]} meant?" if near else ""
            raise AttributeError(f"{type(self).__name__} has no knob {name!r}{hint} (nacre info lists them)", name=name, obj=self)
        super().__setattr__(name, value)

    def _plain(self):
        """Attributes that are not in the table, with their first values."""
        return {}

    @property
    def knob_descriptors(self):
        return {name: value for name, value in vars(type(self)).items() if isinstance(value, (Knob, _variables.env_base))}

    @property
    def knobs(self):
        """Name to value, of all in the table."""
        rows = self.knob_descriptors.items()
        return {name: knob.found() if isinstance(knob, ToolKnob) else getattr(self, name) for name, knob in rows}

    def copy(self):
        made = type(self)()
        made.__dict__.update(self.__dict__)
        return made

    def reset(self):
        """Takes every variable of the group out of the environment."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextmanager
    def scope(self):
        """Restores everything that is set inside."""
        attributes = dict(self.__dict__)
        variables = [name for knob in self.knob_descriptors.values() for name in knob.variables]
        before = {name: os.environ.get(name) for name in variables}
        kept = {name: _kept.get(name) for name in variables}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(attributes)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            for name, text in kept.items():
                if _kept.get(name) != text:
                    _keep(name, text)
            for knob in self.knob_descriptors.values():
                if knob.name in ("num_threads", "triton_version"):
                    knob._changed()
            _core.knobs_changed()
            if self is runtime:
                _hooks_changed()


# The runtime and the sanitizers act when some knobs change. They are built on top of this module, so each leaves a function here.
_listeners = {}


def listen(what, function):
    """Has `function` called when "hooks" change, without arguments, or with what "instrumentation" is set to."""
    _listeners[what] = function


def _hooks_changed():
    """Compiling and launching look at hooks only when there are any."""
    if "hooks" in _listeners:
        _listeners["hooks"]()
    _core.set_stage_hook(runtime.add_stages_inspection_hook)


class _WatchedHook:
    """A hook of which the native side is told."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, group, owner=None):
        return self if group is None else group.__dict__[self.name]

    def __set__(self, group, value):
        group.__dict__[self.name] = value
        if group is runtime:
            _hooks_changed()


class RuntimeKnobs(Knobs):
    launch_enter_hook = _WatchedHook()
    launch_exit_hook = _WatchedHook()
    jit_cache_hook = _WatchedHook()
    jit_post_compile_hook = _WatchedHook()
    add_stages_inspection_hook = _WatchedHook()

    def _plain(self):
        return {
            "launch_enter_hook": HookChain(on_change=_hooks_changed),
            "launch_exit_hook": HookChain(reversed=True, on_change=_hooks_changed),
            "kernel_load_start_hook": HookChain(),
            "kernel_load_end_hook": HookChain(reversed=True),
            "kernel_unload_hook": HookChain(),
            "jit_cache_hook": None,
            "jit_post_compile_hook": None,
            "add_stages_inspection_hook": None,
        }


class _InstrumentationMode:
    """Triton's sanitizers by their names, a list with commas: gsan, which is tsan, is there, the others say that they are not."""

    def __get__(self, group, owner=None):
        return self if group is None else os.environ.get("TRITON_INSTRUMENTATION_MODE", "")

    def __set__(self, group, value):
        _listeners["instrumentation"](value or "")

    def __delete__(self, group):
        self.__set__(group, "")


NO_AMD_SANITIZER = ("AddressSanitizer in the code of AMD's GPUs is not there, for want of that target; "
                    "`triton-san asan COMMAND` checks the same kernels on the CPU")  # fmt: skip


class _EnableAsan:
    """Triton's address checks in the code of AMD's GPUs: not there."""

    def __get__(self, group, owner=None):
        return self if group is None else False

    def __set__(self, group, value):
        if value:
            raise ValueError(f"knobs.compilation.enable_asan: {NO_AMD_SANITIZER}")


class CompilationKnobs(Knobs):
    instrumentation_mode = _InstrumentationMode()
    enable_asan = _EnableAsan()

    def _plain(self):
        return {"listener": None}


class AutotuningKnobs(Knobs):
    def _plain(self):
        return {"listener": None}


class CacheKnobs(Knobs):
    def get_triton_dir(self, dirname):
        """A folder of this package's below the home folder."""
        return os.path.join(self.home_dir, ".nacre", dirname)


class LanguageKnobs(Knobs):
    pass


class NvidiaKnobs(Knobs):
    @property
    def ptxas_blackwell(self):
        """One assembler is for all GPUs."""
        return self.ptxas


class AmdKnobs(Knobs):
    """Without effect: see _variables.py."""


for _name, _variable in _variables.AMD.items():
    setattr(AmdKnobs, _name, _variable)
    _variable.__set_name__(AmdKnobs, _name)


class BuildKnobs(Knobs):
    """How runtime.build compiles C. impl: a function that does it instead."""

    cc = _variables.env_opt_str("CC")
    cudacrt_path = _variables.env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = _variables.env_opt_str("TRITON_CUDART_PATH")

    def _plain(self):
        return {"impl": None}

    @property
    def backend_dirs(self):
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class RedisKnobs(Knobs):
    pass


class _HardwareTrace:
    """Traces by the hardware of Blackwell GPUs: not there."""

    def __get__(self, group, owner=None):
        return self if group is None else os.environ.get("TRITON_ENABLE_HW_TRACE", "0") in ("1", "true", "on", "y", "yes")

    def __set__(self, group, value):
        if value:
            raise ValueError("knobs.proton.enable_hw_trace: traces by the hardware are not there; times of kernels come from CUPTI's records")
        os.environ.pop("TRITON_ENABLE_HW_TRACE", None)


class _RocmPath:
    """Where libraries of AMD's profilers are: nothing here uses them."""

    def __init__(self, default=None):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name
        self.key = f"TRITON_{name.upper()}"

    def __get__(self, group, owner=None):
        return self if group is None else os.environ.get(self.key, self.default)

    def __set__(self, group, value):
        if value is not None and value != self.default:
            raise ValueError(f"knobs.proton.{self.name}: there are no AMD GPUs here, nor profilers for them")
        os.environ.pop(self.key, None)


class ProtonKnobs(Knobs):
    enable_hw_trace = _HardwareTrace()
    hsa_runtime_path = _RocmPath()
    hsa_runtime_library = _RocmPath()
    rocprofiler_sdk_include_path = _RocmPath()
    rocprofiler_sdk_lib_path = _RocmPath()
    rocprofiler_sdk_library = _RocmPath()
    roctracer_lib_path = _RocmPath()
    roctracer_library = _RocmPath()
    roctx_lib_path = _RocmPath()
    roctx_library = _RocmPath("libroctx64.so")


_classes = {
    "runtime": RuntimeKnobs, "compilation": CompilationKnobs, "autotuning": AutotuningKnobs, "cache": CacheKnobs,
    "language": LanguageKnobs, "nvidia": NvidiaKnobs, "amd": AmdKnobs, "build": BuildKnobs, "proton": ProtonKnobs, "redis": RedisKnobs,
}  # fmt: skip
_KINDS = {("cache", "manager_class"): ClassKnob, ("cache", "remote_manager_class"): ClassKnob, ("nvidia", "ptxas"): ToolKnob,
          ("nvidia", "cuobjdump"): ToolKnob, ("nvidia", "nvdisasm"): ToolKnob, ("language", "triton_version"): VersionKnob}  # fmt: skip
for _row in _core.knobs():
    setattr(_classes[_row[0]], _row[1], _KINDS.get(_row[:2], Knob)(*_row))

_groups = {name: made() for name, made in _classes.items()}
runtime = _groups["runtime"]
compilation = _groups["compilation"]
autotuning = _groups["autotuning"]
cache = _groups["cache"]
language = _groups["language"]
nvidia = _groups["nvidia"]
amd = _groups["amd"]
build = _groups["build"]
proton = _groups["proton"]
redis = _groups["redis"]


# Names that packages around Triton take from this module.

base_knobs = Knobs
runtime_knobs, compilation_knobs, autotuning_knobs, cache_knobs = RuntimeKnobs, CompilationKnobs, AutotuningKnobs, CacheKnobs
language_knobs, nvidia_knobs, build_knobs, proton_knobs = LanguageKnobs, NvidiaKnobs, BuildKnobs, ProtonKnobs
redis_knobs, amd_knobs = RedisKnobs, AmdKnobs
NvidiaTool = _toolkit.Tool


class Env:
    """`knobs.env`: a knob that is set to it is what its variable says."""


env = Env()


def getenv(key, default=None):
    return os.environ.get(key, default)


def getenv_bool(key, default=False):
    text = os.environ.get(key)
    return default if text is None else text.lower() in _YES


def setenv(key, value):
    """Sets a variable, or with None takes it away; kernels compiled before are looked up anew. Nothing happens where propagate_env is False."""
    if not propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value
    _core.knobs_changed()


def __getattr__(name):
    from . import _hook_types

    if name in _variables.NAMES:
        return getattr(_variables, name)

    if name.startswith("_") or not hasattr(_hook_types, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_hook_types, name)


def refresh_knobs():
    """Takes over variables that were changed behind the groups' back: kernels compiled before are not used again."""
    runtime.knob_descriptors["num_threads"]._changed()
