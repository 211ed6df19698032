"""Targets and backends."""


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
