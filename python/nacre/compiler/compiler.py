"""Compiled kernels, and compiling without launching."""

from .. import _core
from ..runtime.errors import OutOfResources
from ..tools.tensor_descriptor import TensorDescriptor
from .errors import CompilationError

# Triton's names of the stages, and ours.
_STAGE_ALIASES = {"ttir": "tile", "ttgir": "cpu", "llir": "llvm"}


class AsmDict(dict):
    """Every stage of a compiled kernel by name. Stages nobody has looked at yet are made when they are asked for."""

    def __init__(self, native, source):
        super().__init__(source=source)
        self._native = native

    def _fill(self):
        if self._native is None or dict.__contains__(self, "obj"):
            return
        self.update(self._native.stages())
        for theirs, ours in _STAGE_ALIASES.items():
            if ours in self:
                self[theirs] = self[ours]
        self["obj"] = self._native.object

    def __missing__(self, key):
        self._fill()
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        raise KeyError(key)

    def __contains__(self, key):
        if not dict.__contains__(self, key):
            self._fill()
        return dict.__contains__(self, key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        self._fill()
        return dict.keys(self)

    def values(self):
        self._fill()
        return dict.values(self)

    def items(self):
        self._fill()
        return dict.items(self)

    def __iter__(self):
        self._fill()
        return dict.__iter__(self)

    def __reduce__(self):
        return _restore_asm, (dict(self.items()),)


def _restore_asm(stages):
    asm = AsmDict(None, stages.get("source", ""))
    asm.update(stages)
    return asm


class _Metadata:
    """What is known of a compiled kernel, by attribute; `_asdict()` gives all of it."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def _asdict(self):
        return dict(self.__dict__)

    def __repr__(self):
        return "KernelMetadata(" + ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items()) + ")"


class CompiledKernel:
    """A kernel compiled for arguments of certain types. A launch returns one; `compiled[grid](*args)` runs it directly."""

    def __init__(self, native, fn, signature, constants, attrs, options, slot_types):
        self.src = ASTSource(fn, signature, constants, attrs)
        self.hash = native.hash
        self.name = fn.__name__
        self.metadata = _Metadata(
            name=fn.__name__, hash=native.hash, target=_target(), shared=0, global_scratch_size=0, profile_scratch_size=0,
            tmem_size=0, scratch_bytes=native.scratch_bytes, cluster_dims=(1, 1, 1), warp_size=1, **options,
        )  # fmt: skip
        self.packed_metadata = (options["num_warps"], options["num_ctas"], 0)
        self.asm = AsmDict(native, fn.src)
        self.slot_types = slot_types
        self.n_regs = 0
        self.n_spills = 0
        self.n_max_threads = 1
        self._native = native
        self._encoded = None

    def _init_handles(self):
        """Loads the code into this process if it is not (after unpickling)."""
        if self._native is None:
            self._native = _core.NativeKernel.load(self._encoded, self.hash)
            self.asm._native = self._native

    @property
    def function(self):
        self._init_handles()
        return self._native.function

    def launch_metadata(self, grid, stream, *args):
        return None

    def _flat(self, args):
        flat = []
        for arg in args:
            if isinstance(arg, TensorDescriptor):
                flat += [arg.base, *arg.shape, *arg.strides, arg.block_shape, arg.padding]
            elif isinstance(arg, tuple):
                flat += self._flat(arg)
            elif hasattr(type(arg), "__aggregate_fields__"):
                flat += self._flat([getattr(arg, name) for name in arg.__aggregate_fields__])
            else:
                flat.append(arg)
        return flat

    @property
    def run(self):
        """run(grid_0, grid_1, grid_2, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args), every
        argument of the kernel in order, constexprs too."""

        def launcher(grid_0, grid_1, grid_2, stream, function, packed_metadata, launch_metadata, enter, exit, *args):
            self._init_handles()
            if enter is not None:
                enter(launch_metadata)
            flat = tuple(self._flat(args))
            names = self._flat_names() if len(flat) == len(self.slot_types) else ()
            self._native.launch((grid_0, grid_1, grid_2), self.slot_types, names, flat, self.metadata.launch_cooperative_grid)
            if exit is not None:
                exit(launch_metadata)

        return launcher

    def _flat_names(self):
        names = []

        def visit(name, type):
            if isinstance(type, tuple):
                for index, element in enumerate(type):
                    visit(f"{name}[{index}]", element)
            elif type.startswith("tensordesc<"):
                axes = range(type.count(",") + 1)
                shape, strides = ([f"{name}.{part}[{axis}]" for axis in axes] for part in ("shape", "strides"))
                names.extend([f"{name}.base", *shape, *strides, f"{name}.block_shape", f"{name}.padding"])
            else:
                names.append(name)

        for name, type in self.src.signature.items():
            visit(name, type)
        return tuple(names)

    def __getitem__(self, grid):
        def runner(*args, stream=None):
            full = tuple(grid) + (1,) * (3 - len(grid))
            self.run(*full, stream, self.function, self.packed_metadata, None, None, None, *args)

        return runner

    def __getstate__(self):
        state = dict(self.__dict__)
        if self._native is not None:
            state["_encoded"] = self._native.encoded
        state["_native"] = None
        return state


def _target():
    from ..backends.compiler import GPUTarget

    return GPUTarget("cpu", "", 32)


class ASTSource:
    """A kernel and the types of its arguments.

    signature: name -> "*fp32", "i32", ..., "constexpr". constexprs: name, index or path -> value. attrs: path -> facts such as
    [["tt.divisibility", 16]].
    """

    ext = "ttir"

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.name = fn.__name__
        self.signature = dict(signature)
        self.constants = {}
        names = list(fn.arg_names)
        for key, value in (constexprs or {}).items():
            self.constants[(names.index(key),) if isinstance(key, str) else (key,) if isinstance(key, int) else key] = value
        self.attrs = dict(attrs or {})

    @property
    def constexprs(self):
        return self.constants

    def make_ir(self, target, options, codegen_fns, module_map, context):
        """A summary of the kernel's IR: what it reads and writes."""
        from .summary import Module

        compiled = self.fn._compile(self, {})
        return Module(self.name, sum(bool(type) for type in compiled.slot_types), *compiled._native.access)

    def hash(self):
        key = f"{self.fn.cache_key}-{sorted(self.signature.items(), key=str)}-{self.constants}-{self.attrs}"
        return _core.fingerprint(key)


class IRSource:
    """A kernel given as IR text. Not supported: kernels are compiled from source."""

    def __init__(self, path, *_, **__):
        raise NotImplementedError(f"{path}: compiling from IR is not supported; compile the kernel's source")


def compile(src, target=None, options=None, _env_vars=None):
    """Compiles an ASTSource without launching it; returns the CompiledKernel."""
    if not isinstance(src, ASTSource):
        raise TypeError(f"expected an ASTSource, found {type(src).__name__}")
    if target is not None and target.backend != "cpu":
        raise CompilationError(f"there is no target {target.backend!r} in this version; the target is 'cpu'")
    return src.fn._compile(src, dict(options or {}))


def make_backend(target):
    """The compiler's backend for a target."""
    from ..backends import backends

    if target.backend not in backends:
        raise RuntimeError(f"there is no target {target.backend!r}; targets: {', '.join(backends)}")
    return backends[target.backend].compiler(target)


def triton_key():
    """Names this build of the compiler: other builds may generate other code."""
    return _core.info()["build_id"]


__all__ = ["ASTSource", "AsmDict", "CompiledKernel", "IRSource", "OutOfResources", "compile", "make_backend", "triton_key"]
