"""Targets and backends."""

from enum import Enum


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


class BaseBackend:
    """What packages ask of a target's compiler."""

    def __init__(self, target):
        self.target = target

    @staticmethod
    def supports_target(target):
        return False

    def hash(self):
        raise NotImplementedError

    def parse_options(self, options):
        raise NotImplementedError

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
