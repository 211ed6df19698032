"""Targets and backends."""

from enum import Enum

from .. import _core

OPTION_NAMES = tuple(name for name, *_ in _core.LAUNCH_OPTIONS)


class Language(Enum):
    """The language that a source is written in."""

    TRITON = 0
    GLUON = 1


class GPUTarget:
    """What kernels are compiled for: "cpu" with an empty arch, or a GPU's vendor and architecture."""

    def __init__(self, backend, arch, warp_size):
        self.backend = backend
        self.arch = arch
        self.warp_size = warp_size

    def _key(self):
        return self.backend, self.arch, self.warp_size

    def __eq__(self, other):
        return isinstance(other, GPUTarget) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"GPUTarget(backend={self.backend!r}, arch={self.arch!r}, warp_size={self.warp_size!r})"


class LaunchOptions:
    """The options of a launch, with the defaults that the knobs give them. `__dict__` is all of them."""

    backend_name = ""
    supported_fp8_dtypes = ()

    def __init__(self, **given):
        self.__dict__.update(_core.default_options())
        self.__dict__.update({name: value for name, value in given.items() if name in OPTION_NAMES})
        self.supported_fp8_dtypes = type(self).supported_fp8_dtypes
        self.backend_name = type(self).backend_name

    def hash(self):
        return _core.fingerprint(repr(sorted(self.__dict__.items())))


class BaseBackend:
    """What packages ask of a target's compiler."""

    options_class = LaunchOptions

    def __init__(self, target):
        self.target = target

    @staticmethod
    def supports_target(target):
        return False

    def hash(self):
        raise NotImplementedError

    def parse_options(self, options):
        """The options of a launch among those given; others are left out."""
        return self.options_class(**options)

    def add_stages(self, stages, options, language=Language.TRITON):
        """The stages are the compiler's own, in C++; `knobs.runtime.add_stages_inspection_hook` shows them."""

    def load_dialects(self, context):
        """There is nothing to load."""

    def get_module_map(self):
        return {}

    @staticmethod
    def parse_attr(text):
        """ "D": divisible by 16."""
        return [["tt.divisibility", 16]] if "D" in text else []

    @staticmethod
    def get_int_specialization(arg, **kwargs):
        return "D" if arg % 16 == 0 and kwargs.get("align", False) else ""

    @staticmethod
    def get_tensor_specialization(arg, **kwargs):
        return "D" if arg.data_ptr() % 16 == 0 and kwargs.get("align", False) else ""

    @staticmethod
    def supports_native_tensor_specialization():
        return True
