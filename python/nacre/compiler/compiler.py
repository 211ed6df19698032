"""Compiled kernels, and compiling without launching."""

import os

from .. import _core, knobs
from ..runtime.errors import OutOfResources
from ..runtime.hooks import LazyDict, launch_metadata
from ..tools.tensor_descriptor import TensorDescriptor
from .errors import CompilationError
from .ir_source import IRSource

_ELSEWHERE = ("obj", "s", "ptx", "cubin", "sass", "amdgcn", "hsaco", "spv")  # stages of one target or another


class AsmDict(dict):
    """Every stage of a compiled kernel by name, ours and Triton's. Stages nobody has looked at yet are made when they are asked
    for."""

    def __init__(self, native, source):
        super().__init__(source=source)
        self._native = native
        if native is not None:
            self._title, self._aliases, self.binary_name = native.title, native.stage_aliases, native.binary_name

    def _fill(self):
        if self._native is None or dict.__contains__(self, self.binary_name):
            return
        self.update(self._native.stages())
        for theirs, ours in self._aliases.items():
            if dict.__contains__(self, ours):
                self[theirs] = self[ours]
        self[self.binary_name] = self._native.object

    def __missing__(self, key):
        self._fill()
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        if key == "sass" and self.binary_name == "cubin":
            from ..tools.disasm import get_sass

            self[key] = get_sass(self["cubin"])
            return dict.__getitem__(self, key)
        if key in _ELSEWHERE and key not in self._aliases:
            raise KeyError(f"{key}: the kernel was compiled for the {self._title}, which has no such stage; there are {', '.join(self)}")
        if key in self._aliases or key in self._aliases.values():
            raise KeyError(f"{key}: of this kernel only the machine code was kept (compilation.store_binary_only, or unpickled)")
        raise KeyError(f"{key}: there is no such stage; there are {', '.join(self)}")

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
        return _restore_asm, (dict(self.items()), self._title, self._aliases, self.binary_name)


def _restore_asm(stages, title, aliases, binary_name):
    asm = AsmDict(None, stages.get("source", ""))
    asm._title, asm._aliases, asm.binary_name = title, aliases, binary_name
    asm.update(stages)
    return asm


class KernelMetadata:
    """What is known of a compiled kernel, by attribute; `_asdict()` gives all of it."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    @property
    def _fields(self):
        return tuple(self.__dict__)

    def _asdict(self):
        return dict(self.__dict__)

    def __repr__(self):
        return "KernelMetadata(" + ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items()) + ")"


class CompiledKernel:
    """A kernel compiled for arguments of certain types. A launch returns one; `compiled[grid](*args)` runs it directly."""

    def __init__(self, native, src, options, slot_types):
        self.src = src
        self.hash = native.hash
        self.name = src._kernel_name()
        known = native.metadata
        shared = known["shared"] or max(native.scratch_bytes, 1)  # scripts divide by it
        options = {**options, "num_warps": known["num_warps"] or options["num_warps"]}  # with those that only load
        target = _target_of(native)
        self.metadata = KernelMetadata(
            name=self.name, hash=native.hash, target=target, shared=shared, global_scratch_size=0, profile_scratch_size=0,
            tmem_size=0, scratch_bytes=native.scratch_bytes, cluster_dims=(known["num_ctas"] or 1, 1, 1), warp_size=target.warp_size, remarks=known["remarks"], **options,
        )  # fmt: skip
        self.packed_metadata = (options["num_warps"], options["num_ctas"], shared)
        self.asm = AsmDict(native, src._text())
        self.slot_types = slot_types
        self.module = None  # the loaded code; None: not loaded yet
        self.n_regs = known["n_regs"] or 16  # of a thread
        self.n_spills = known["n_spills"]
        self.n_max_threads = 1
        self._native = native
        self._encoded = None

    def _init_handles(self):
        """Loads the code into this process if it is not: the first launch does. Hooks are called before and after."""
        if self.module is not None:
            return
        hooks = knobs.runtime
        facts = self.name, self.metadata_group, self.hash
        if hooks.kernel_load_start_hook:
            hooks.kernel_load_start_hook(None, None, *facts)
        if self._native is None:
            self._native = _core.NativeKernel.load(self._encoded, self.hash)
            self.asm._native = self._native
        function = self._native.function
        self.module, self._loaded_by = self._native, os.getpid()
        registers, spilled, threads = self._native.loaded
        self.n_regs, self.n_spills, self.n_max_threads = registers or self.n_regs, spilled or self.n_spills, threads or self.n_max_threads
        if hooks.kernel_load_end_hook:
            hooks.kernel_load_end_hook(self.module, function, *facts)

    def __del__(self):
        module, self.module = getattr(self, "module", None), None
        is_ours = module is not None and knobs is not None and os.getpid() == self._loaded_by  # a forked child has not loaded it
        if is_ours and knobs.runtime.kernel_unload_hook:
            knobs.runtime.kernel_unload_hook(module, module.function, self.name, self.metadata_group, self.hash)

    @property
    def function(self):
        """The address of the code."""
        self._init_handles()
        return self._native.function

    @property
    def kernel(self):
        """The binary: an object file, or what a GPU loads."""
        return self.asm[self.asm.binary_name]

    @property
    def metadata_group(self):
        """Name -> path of the files in which the cache keeps the kernel."""
        path = os.path.join(_core.directories()["cache"], self.hash[:2], f"{self.hash[2:]}.kernel")
        return {f"{self.name}.kernel": path} if os.path.exists(path) else {}

    def launch_metadata(self, grid, stream, *args):
        """What launch hooks are told of a launch with these arguments; None when there are no hooks."""
        hooks = knobs.runtime
        if not hooks.launch_enter_hook and not hooks.launch_exit_hook:
            return None
        return launch_metadata(self, getattr(self.src, "fn", None), grid, dict(zip(self.src.signature, args)))

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

        all_names = self._flat_names()
        constants = getattr(self.src, "constants", {}).values()
        is_flat = all_names == tuple(self.src.signature) and all(isinstance(value, (int, float, str, type(None))) for value in constants)
        is_cooperative = self.metadata.launch_cooperative_grid

        def launcher(grid_0, grid_1, grid_2, stream, function, packed_metadata, launch_metadata, enter, exit, *args):
            self._init_handles()
            if enter:
                enter(launch_metadata)
            flat = args if is_flat else tuple(self._flat(args))
            names = all_names if len(flat) == len(self.slot_types) else ()
            self._native.launch((grid_0, grid_1, grid_2), self.slot_types, names, flat, is_cooperative, stream)
            if exit:
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
            visit(str(name), type)
        return tuple(names)

    def __getitem__(self, grid):
        def runner(*args, stream=None):
            full = tuple(grid) + (1,) * (3 - len(grid))
            hooks = knobs.runtime
            metadata = self.launch_metadata(full, stream, *args)
            self.run(*full, stream, self.function, self.packed_metadata, metadata, hooks.launch_enter_hook, hooks.launch_exit_hook, *args)

        return runner

    def __getstate__(self):
        state = dict(self.__dict__)
        if self._native is not None:
            state["_encoded"] = self._native.encoded
        state["_native"] = state["module"] = None
        return state


def _target_of(native):
    """What a kernel was compiled for."""
    from ..backends.compiler import GPUTarget
    from ..runtime.driver import driver

    number = native.architecture.removeprefix("sm_").removesuffix("a")
    if number.isdecimal():  # no device need be asked, which a forked child could not
        return GPUTarget(native.target, int(number), _core.warp_size(native.target, number))
    if native.architecture:
        return GPUTarget(native.target, native.architecture, _core.warp_size(native.target, native.architecture))
    active = driver.active.get_current_target()
    return active if active.backend == native.target else GPUTarget(native.target, "", _core.warp_size(native.target, ""))


class ASTSource:
    """A kernel and the types of its arguments.

    signature: name -> "*fp32", "i32", ..., "constexpr". constexprs: name, index or path -> value. attrs: path -> facts such as
    [["tt.divisibility", 16]].
    """

    ext = "ttir"

    def _text(self):
        return self.fn.src

    def _kernel_name(self):
        """What @jit(repr=...) makes of the specialization, or the function's name."""
        if self.fn._repr is None:
            return self.fn.__name__
        return self.fn.repr(Specialization(self.signature, {self.fn.arg_names[path[0]]: value for path, value in self.constants.items() if len(path) == 1}))

    def parse_options(self):
        return {}

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.name = fn.__name__
        self.signature = dict(signature)
        self.constants = {}
        names = list(fn.arg_names)
        for key, value in (constexprs or {}).items():
            first, *others = key if isinstance(key, tuple) else (key,)
            self.constants[(names.index(first) if isinstance(first, str) else first, *others)] = value
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


class Specialization:
    """What @jit(repr=...) is given: `signature` and `constants`, by name."""

    def __init__(self, signature, constants):
        self.signature = signature
        self.constants = constants


def notify_listener(kernel, report):
    """Tells `knobs.compilation.listener` of a kernel that was compiled or found in the cache."""
    listener = knobs.compilation.listener
    if listener is None:
        return
    times = knobs.CompileTimes(report["ir_initialization"], report["lowering_stages"], report["store_results"])
    listener(src=kernel.src, metadata=kernel.metadata._asdict(), metadata_group=kernel.metadata_group, times=times,
             cache_hit=report["cache_hit"])  # fmt: skip


def compile(src, target=None, options=None, _env_vars=None):
    """Compiles without launching: an ASTSource, or a file of tile IR by its path or as an IRSource. Returns the
    CompiledKernel."""
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(src)
    if not isinstance(src, (ASTSource, IRSource)):
        raise TypeError(f"expected an ASTSource or the path of a file of tile IR, found {type(src).__name__}")
    if target is not None and target.backend not in _core.TARGETS:
        raise CompilationError(f"there is no target {target.backend!r} in this version; targets: {', '.join(_core.TARGETS)}")
    options = dict(options or {})
    if isinstance(src, ASTSource):
        return src.fn._compile(src, options, target)
    from ..backends.compiler import OPTION_NAMES
    from ..runtime.driver import driver

    parsed = make_backend(target or driver.active.get_current_target()).parse_options(options)
    native, _, types, _, report = src._compile(options)
    kernel = CompiledKernel(native, src, {name: getattr(parsed, name) for name in OPTION_NAMES}, tuple(types))
    notify_listener(kernel, report)
    return kernel


def make_backend(target):
    """The compiler's backend for a target."""
    from ..backends import backends

    for backend in backends.values():
        if backend.compiler.supports_target(target):
            return backend.compiler(target)
    raise RuntimeError(f"there is no target {target.backend!r}; targets: {', '.join(backends)}")


_PASSED_ON = {  # names that packages around Triton take from this module
    "BaseBackend": "..backends.compiler", "GPUTarget": "..backends.compiler", "Language": "..backends.compiler",
    "get_cache_key": "..runtime.cache", "get_cache_manager": "..runtime.cache", "get_dump_manager": "..runtime.cache",
    "get_override_manager": "..runtime.cache", "get_cache_invalidating_env_vars": "..runtime.cache",
}  # fmt: skip


def __getattr__(name):
    if name in _PASSED_ON:
        import importlib

        return getattr(importlib.import_module(_PASSED_ON[name], __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def max_shared_mem(device):
    """The most memory of its own that a program may have on a device."""
    from ..runtime.driver import driver

    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


def triton_key():
    """Names this build of the compiler: other builds may generate other code."""
    return _core.info()["build_id"]


__all__ = ["ASTSource", "AsmDict", "CompiledKernel", "IRSource", "LazyDict", "OutOfResources", "compile", "make_backend", "triton_key"]
