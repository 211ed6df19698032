"""Kernels as Python holds them. What happens from `kernel[grid]` on is C++ (`_core.Kernel`)."""

import os
import sys

from .. import _core, knobs
from ..tools.tensor_descriptor import TensorDescriptor  # noqa: F401  (packages take it from here)
from .driver import driver
from .source import NoSource, file_text, function_block
from .tensors import MockTensor, TensorWrapper, reinterpret  # noqa: F401  (packages take them from here)


def mangle_type(arg, specialize=False):
    """The short type name of an argument: "*fp32", "i32", ..."""
    return _core.specialize_argument(arg, False, specialize, specialize)[0]


def native_specialize_impl(backend, arg, is_const=False, specialize_value=True, align=True):
    """(type, "D" when it is known to be divisible by 16) of an argument."""
    return _core.specialize_argument(arg, is_const, specialize_value, align)


class KernelParam:
    """A parameter of a kernel."""

    def __init__(self, num, name, annotation, default, has_default, do_not_specialize, do_not_specialize_on_alignment):
        self.num = num
        self.name = name
        self._annotation = annotation
        self._default = default
        self.has_default = has_default
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def default(self):
        """inspect's mark of emptiness where there is none."""
        if self.has_default:
            return self._default
        import inspect  # slow to import, and few ask

        return inspect.Parameter.empty

    @property
    def annotation(self):
        """As text: a short type name where it names a type."""
        if self._annotation is None:
            return ""
        if isinstance(self._annotation, str):
            text = self._annotation.strip("'\"")
        elif isinstance(self._annotation, type):
            text = self._annotation.__name__
        else:
            text = str(self._annotation)
        return _core.annotated_type(text) or text

    @property
    def annotation_type(self):
        """The type that the annotation forces, or ""."""
        return _core.annotated_type(self.annotation)

    @property
    def is_constexpr(self):
        return "constexpr" in self.annotation

    @property
    def is_const(self):
        annotation = self.annotation
        return annotation.startswith("*k") or (annotation.rpartition(".")[2] == "const")

    def __repr__(self):
        return f"KernelParam({self.num}, {self.name!r})"

    def _flags(self):
        return (
            self.is_constexpr | self.is_const << 1 | self.do_not_specialize << 2 | self.do_not_specialize_on_alignment << 3
        )


class KernelInterface:
    """Anything that is launched as `kernel[grid](*args, **kwargs)`."""

    def warmup(self, *args, grid, **kwargs):
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


def _whole_path(filename):
    """A kernel is the same one however the path of its file is spelled."""
    return os.path.abspath(filename) if not os.path.isabs(filename) and os.path.isfile(filename) else filename


def module_name(function):
    """The module of a function of the language. A script is the same module whether it is run or imported."""
    name = function.__module__
    return os.path.basename(function._filename).removesuffix(".py") if name == "__main__" else name


def _is_ours(fn):
    """Whether a function belongs to the standard library."""
    return (fn.__module__ or "").startswith("nacre.language")


class _Signature:
    """What inspect.signature() and help() say of a function of the language."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return None
        import inspect

        signature = inspect.signature(instance.fn)
        if not _is_ours(instance.fn):
            return signature
        # The standard library's: constexprs may be given as plain values, and are shown so.
        parameters = [
            parameter.replace(annotation=parameter.empty, default=_plain(parameter.default)) for parameter in signature.parameters.values()
        ]
        return signature.replace(parameters=parameters)


def _parameters(fn):
    """(names, defaults by name, annotations by name) of a function's parameters."""
    signature = fn.__dict__.get("__signature__")
    if signature is not None:  # a function that stands for text which is given later
        found = signature.parameters.values()
        return ([parameter.name for parameter in found], {parameter.name: parameter.default for parameter in found if parameter.default is not parameter.empty},
                {parameter.name: parameter.annotation for parameter in found if parameter.annotation is not parameter.empty})  # fmt: skip
    code = fn.__code__
    names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
    defaults = dict(fn.__kwdefaults__ or {})
    if fn.__defaults__:
        defaults.update(zip(names[code.co_argcount - len(fn.__defaults__):code.co_argcount], fn.__defaults__))
    return names, defaults, fn.__annotations__


class JITCallable:
    """A function written in the language: its text and where its names are looked up."""

    __signature__ = _Signature()
    _needs_text = True
    _raw_src = None

    def __get__(self, instance, owner=None):
        """What has this is a routine to help(). It is never bound."""
        return self

    def _initialize(self, fn):
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.__globals__ = fn.__globals__
        self._filename = _whole_path(fn.__code__.co_filename)
        self._line = fn.__code__.co_firstlineno
        self._block = self._file = None
        if _is_ours(fn):  # the standard library is part of the package: nobody edits it while a program runs
            return
        try:
            self._file = file_text(self._filename, fn.__globals__)
        except NoSource:
            if self._needs_text:
                raise

    def _function_block(self):
        if self._block is None:
            text = file_text(self._filename, self.fn.__globals__) if self._file is None else self._file
            self._block = function_block(text, self._line)
            self._file = None
        return self._block

    @property
    def src(self):
        """The text from `def` on, without indentation."""
        return self._function_block()[0]

    @src.setter
    def src(self, text):
        self._unsafe_update_src(text)

    def _unsafe_update_src(self, text):
        self._function_block()
        self._block = (text, *self._block[1:])
        self._key = None
        self._clear_cache()
        _core.knobs_changed()  # kernels that call it are looked up anew

    def parse(self):
        """The syntax tree of the text."""
        import ast

        return ast.parse(self.src)

    @property
    def raw_src(self):
        """The lines of the text; or those that a package has told, of the text it made this one from. They are not what is compiled."""
        return self.src.splitlines(keepends=True) if self._raw_src is None else self._raw_src

    @raw_src.setter
    def raw_src(self, lines):
        self._raw_src = list(lines)

    # Where the text stands, for errors and profiles. A kernel made of another's text says the other's place.

    @property
    def starting_line_number(self):
        return self._function_block()[1]

    @starting_line_number.setter
    def starting_line_number(self, line):
        self._place(line=line)

    @property
    def def_file_line_number(self):
        """The line of `def`."""
        return self._function_block()[1]

    @def_file_line_number.setter
    def def_file_line_number(self, line):
        self._place(line=line)

    @property
    def def_file_col_number(self):
        """The column of `def`."""
        return self._function_block()[2]

    @def_file_col_number.setter
    def def_file_col_number(self, column):
        self._place(column=column)

    @property
    def file_name(self):
        return self._filename

    @file_name.setter
    def file_name(self, name):
        self._function_block()  # the text is read while its file is known
        self._filename = name
        self._place()

    def _place(self, line=None, column=None):
        text, own_line, own_column = self._function_block()
        self._block = (text, own_line if line is None else line, own_column if column is None else column)
        self._key = None
        self._clear_cache()
        _core.knobs_changed()

    @property
    def _closure(self):
        """The variables of enclosing functions, by name."""
        cells = self.fn.__closure__ or ()
        values = {}
        for name, cell in zip(self.fn.__code__.co_freevars, cells):
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                pass
        return values

    def _cell(self, name):
        return self.fn.__closure__[self.fn.__code__.co_freevars.index(name)]

    def get_capture_scope(self):
        return {**self.__globals__, **self._closure}

    @property
    def cache_key(self):
        """Names the function's text, its place, and the functions and constants it uses."""
        return _core.fingerprint(repr(_dependencies(self, set())))

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


def _dependencies(function, seen):
    text, line, _ = function._function_block()
    result = [module_name(function), function.__qualname__, text, line]
    seen.add(function)
    scope = function.get_capture_scope()
    for name in sorted(set(function.fn.__code__.co_names + function.fn.__code__.co_freevars)):
        value = scope.get(name)
        if isinstance(value, JITCallable) and value not in seen:
            result.append((name, _dependencies(value, seen)))
        elif hasattr(value, "value") and type(value).__name__ == "constexpr":
            result.append((name, repr(value.value)))
    return result


_closures = {}  # key without a number -> how many functions had it


class JITFunction(_core.Kernel, JITCallable, KernelInterface):
    """A kernel, made by @jit. `kernel[grid](*args, **kwargs)` compiles it for the arguments' types when it meets them first,
    runs it over the grid, and returns the CompiledKernel."""

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):  # fmt: skip
        self._initialize(fn)
        self.version = version
        self.noinline = bool(noinline)
        self.debug = debug
        self.launch_metadata = launch_metadata
        self._repr = repr
        self.pre_run_hooks = []
        self._key = None
        # torch.compile looks after these two when it sends a kernel to another process.
        self.used_global_vals = {}
        self._hash_lock = None
        unspecialized, unaligned = set(do_not_specialize or ()), set(do_not_specialize_on_alignment or ())
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

        self.arg_names, defaults, annotations = _parameters(fn)
        self.params = [
            KernelParam(i, name, annotations.get(name), defaults.get(name), name in defaults,
                        i in unspecialized or name in unspecialized, i in unaligned or name in unaligned)
            for i, name in enumerate(self.arg_names)
        ]  # fmt: skip
        self._defaults = defaults
        self._set_up()

    def _set_up(self):
        self._configure(tuple(self.arg_names), tuple(p._flags() for p in self.params),
                        tuple(p.annotation_type for p in self.params), self._defaults, bool(self.debug))  # fmt: skip

    @property
    def ASTSource(self):
        """What `compile` takes; packages that compile a kernel themselves ask the kernel for both."""
        from ..compiler.compiler import ASTSource

        return ASTSource

    @property
    def compile(self):
        from ..compiler.compiler import compile

        return compile

    @property
    def signature(self):
        import inspect

        return inspect.signature(self.fn)

    def repr(self, specialization=None):
        return self.__name__ if self._repr is None else self._repr(specialization)

    def warmup(self, *args, grid=(1,), **kwargs):
        """Compiles without running. An argument may be a dtype where a tensor of it is meant. Inside an AsyncCompileMode the result is a
        FutureKernel."""
        args = [MockTensor.wrap_dtype(arg) for arg in args]

        def compile():
            return self.run(*args, grid=grid, warmup=True, **kwargs)

        mode = _async_mode()
        if mode is None:
            return compile()
        key = (self, *map(_shown, args), *sorted((name, _shown(value)) for name, value in kwargs.items()))
        return mode.submit(key, compile, lambda kernel: None, lambda future: None)

    def preload(self, specialization_data):
        """Makes a specialization ready that another launch described: `compile["specialization_data"]` of what
        `jit_post_compile_hook` is given, in this or another process. Returns the CompiledKernel."""
        from .specialization_data import preload

        return preload(self, specialization_data)

    @property
    def device_caches(self):
        """device -> (compiled kernels by key, keys, target, backend, binder). clear() of it, or of the kernels, forgets them."""
        from .device_caches import DeviceCaches

        return DeviceCaches(self)

    def create_binder(self):
        """The caches of a device: see device_caches."""
        return self.device_caches[0]

    def is_gluon(self):
        return False

    def _default_options(self):
        """The options of a launch that says nothing about them."""
        options = _core.default_options()
        return {**options, "debug": options["debug"] or bool(self.debug)}

    def add_pre_run_hook(self, hook):
        """Calls hook(*args, **kwargs) before every launch, with the launch's arguments."""
        self.pre_run_hooks.append(hook)
        self._use_run_hooks(True)

    # What the native half asks for.

    def _interpreted(self):
        """The function that Python runs in interpreter mode."""
        from .rewriting import rewritten

        return rewritten(self)

    def _source(self):
        try:
            text, line, column = self._function_block()
        except NoSource:  # nobody compiles it: what it needs is a key of its own
            text, line, column = f"# {id(self)}", self._line, 0
        if self._key is None:
            key = f"{module_name(self)}.{self.__qualname__}@{_core.fingerprint(f'{self._filename}:{line}:{text}')[:16]}"
            if self.fn.__closure__:  # the same text with other variables around it
                number = _closures[key] = _closures.get(key, -1) + 1
                key += f"#{number}"
            self._key = key
        return self._key, self.__name__, self._filename, text, line, column, self.noinline

    def _run_pre_hooks(self, args, kwargs):
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)

    def _hook_arguments(self, signature, constants, attrs, options, is_warmup):
        from .specialization_data import serialize

        key = repr((signature, constants, attrs, options))
        compile_info = {"key": key, "signature": signature, "device": 0, "constants": constants, "configs": [attrs],
                        "extern_libs": options["extern_libs"], "specialization_data": serialize(self, key, signature, constants, attrs, options),
                        "is_warmup": is_warmup, **options}  # fmt: skip
        return {"key": key, "repr": f"{self.__name__}({', '.join(f'{n}: {t}' for n, t in signature.items())})",
                "fn": JitFunctionInfo(self.__module__, self.__name__, self), "compile": compile_info,
                "is_manual_warmup": is_warmup, "already_compiled": False}  # fmt: skip

    def _interpreted_metadata(self, arguments):
        """What launch hooks are told of a launch that Python runs."""
        from ..compiler.compiler import KernelMetadata

        options = {name: arguments[name] for name in ("num_warps", "num_stages", "num_ctas")}
        return KernelMetadata(**{**self._default_options(), **options}, name=self.__name__, hash="", target=None, shared=0)

    def _check_driver(self):
        """A TRITON_DEFAULT_BACKEND that cannot be had is said before anything is compiled."""
        driver.active  # noqa: B018

    def _about_to_compile(self, signature, constants, attrs, options, is_warmup):
        from .recompiles import about_to_compile

        about_to_compile(self, signature, constants, attrs, options, is_warmup)

    def _after_compile(self, native, signature, constants, attrs, options, slot_types, is_warmup, report):
        from ..compiler.compiler import ASTSource, CompiledKernel, notify_listener

        kernel = CompiledKernel(native, ASTSource(self, signature, constants, attrs), options, slot_types)
        notify_listener(kernel, report)
        return kernel

    def _compile(self, source, options, target=None):
        """Compiles an ASTSource: a launch with arguments of its types finds the same kernel."""
        backend, arch = (None, "") if target is None else (target.backend, str(target.arch or ""))
        return self._compile_signature(source.signature, source.constants, source.attrs, options, backend, arch)

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._set_up()

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"


def _async_mode():
    """The AsyncCompileMode that is active, where somebody has asked for one."""
    module = sys.modules.get(__package__ + "._async_compile")
    return module and module.active_mode.get()


def _shown(value):
    """What tells an argument of a warmup from another: an array's type and alignment, anything else itself."""
    if hasattr(value, "data_ptr") or hasattr(value, "__array_interface__"):
        address = value.data_ptr() if hasattr(value, "data_ptr") else value.__array_interface__["data"][0]
        return f"{value.dtype} {address % 16 == 0}"
    return f"{type(value).__name__} {value!r}"


class JitFunctionInfo:
    """Which function a hook is called for."""

    def __init__(self, module, name, jit_function):
        self.module = module
        self.name = name
        self.jit_function = jit_function


class AggregateTypes(tuple):
    """The types of an aggregate's fields, in a signature."""

    def __new__(cls, aggregate, types):
        made = super().__new__(cls, types)
        made.aggregate = aggregate
        return made


class ConstexprFunction(JITCallable):
    """A Python function that kernels call while they are compiled: on constexprs, and on run-time values for their types."""

    _takes_run_time_values = True

    def __init__(self, fn):
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.__globals__ = fn.__globals__
        self.__wrapped__ = fn
        self._filename = _whole_path(fn.__code__.co_filename)
        self._line = fn.__code__.co_firstlineno
        self._file = self._block = None

    def __get__(self, instance, owner=None):
        return self if instance is None else BoundConstexprFunction(instance, self.fn)

    def __call__(self, *args, **kwargs):
        args = [_plain(arg) for arg in args]
        return self.fn(*args, **{name: _plain(value) for name, value in kwargs.items()})

    def _clear_cache(self):
        pass


def _plain(value):
    return value.value if type(value).__name__ == "constexpr" and hasattr(value, "value") else value


class BoundConstexprFunction(ConstexprFunction):
    """A constexpr function taken from an instance, which is its first argument."""

    def __init__(self, instance, fn):
        super().__init__(fn.__get__(instance))


_PASSED_ON = {  # names that packages around Triton take from this module
    "BaseBackend": "..backends.compiler", "get_cache_key": ".cache", "find_paths_if": ".._utils", "get_iterable_path": ".._utils",
    "is_namedtuple": ".._utils", "type_canonicalisation_dict": ".._utils", "TRITON_MODULE": ".names", "GLUON_MODULE": ".names",
    "convert_to_tuple_if_list": ".names", "get_def_col_number": ".names", "get_def_line_number": ".names", "get_full_name": ".names",
    "compute_cache_key": ".names", "serialize_specialization_data": ".names", "get_cache_invalidating_env_vars": ".cache",
}  # fmt: skip


def __getattr__(name):
    if name in _PASSED_ON:
        import importlib

        return getattr(importlib.import_module(_PASSED_ON[name], __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def constexpr_function(fn):
    """Lets kernels call a Python function while they are compiled; the result is a constexpr. Of run-time values it sees types and shapes."""
    return ConstexprFunction(fn)


def _interpreted_class():
    from .interpreter import InterpretedFunction

    return InterpretedFunction


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
        debug=None, noinline=None, interpret=None):  # fmt: skip
    """Makes a kernel of a function, or a function that kernels call.

    do_not_specialize: names or indices of parameters that are not specialized by value (1) or divisibility (16).
    do_not_specialize_on_alignment: the same for divisibility alone.
    debug: makes device_assert live. noinline: accepted; calls are inlined.
    interpret: True: Python runs the kernel, so that pdb and print work in it; left out, TRITON_INTERPRET decides.
    repr: a function from the specialization to a name. launch_metadata: a function (grid, kernel, args) -> dict for hooks.
    """

    def decorate(function):
        if not callable(function) or not hasattr(function, "__code__"):
            raise TypeError(f"@jit needs a Python function, found {type(function).__name__}")
        by_python = knobs.runtime.interpret if interpret is None else interpret
        made = _interpreted_class() if by_python and not _is_ours(function) else JITFunction
        return made(function, version=version, do_not_specialize=do_not_specialize,
                           do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug, noinline=noinline,
                           repr=repr, launch_metadata=launch_metadata)  # fmt: skip

    return decorate if fn is None else decorate(fn)
