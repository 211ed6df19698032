"""The CPU target's compiler, as packages see it. The compiler itself is C++."""

from ... import _core
from ..compiler import BaseBackend


class CPUOptions:
    """The launch options, with their defaults. `__dict__` is all of them."""

    def __init__(self, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, debug=False, sanitize_overflow=False,
                 enable_fp_fusion=True, launch_cooperative_grid=False, launch_pdl=False, ir_override=None, extern_libs=()):  # fmt: skip
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.debug = debug
        self.sanitize_overflow = sanitize_overflow
        self.enable_fp_fusion = enable_fp_fusion
        self.launch_cooperative_grid = launch_cooperative_grid
        self.launch_pdl = launch_pdl
        self.ir_override = ir_override
        self.extern_libs = extern_libs
        self.supported_fp8_dtypes = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
        self.backend_name = "cpu"

    def hash(self):
        return _core.fingerprint(repr(sorted(self.__dict__.items())))


class CPUBackend(BaseBackend):
    """Compiles for this machine's CPU."""

    binary_ext = "obj"

    @staticmethod
    def supports_target(target):
        return target.backend == "cpu"

    def hash(self):
        info = _core.info()
        return f"{info['build_id']}-{info['cpu']}"

    def get_codegen_implementation(self, options):
        return {}

    def parse_options(self, options):
        known = CPUOptions.__init__.__code__.co_varnames[1:CPUOptions.__init__.__code__.co_argcount]
        return CPUOptions(**{name: value for name, value in options.items() if name in known})
