"""C and C++ compiled into libraries and into modules of Python, kept by the cache: packages with launchers or drivers of their own build them with
this. `knobs.build.impl` is a function that compiles instead."""

import functools
import os
import sysconfig
import warnings

from .. import knobs
from .cache import get_cache_manager

_EXTENSIONS = {"c": ".c", "c++": ".cpp"}


@functools.lru_cache
def _find_compiler(language):
    """The compiler of C or C++: what CC or CXX names, or gcc's or clang's."""
    import shutil

    if language not in _EXTENSIONS:
        raise ValueError(f"there is no compiler for the language {language!r}; languages: {', '.join(_EXTENSIONS)}")
    variable, names = ("CC", ("gcc", "clang")) if language == "c" else ("CXX", ("g++", "clang++"))
    found = os.environ.get(variable) or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise RuntimeError(f"Failed to find {language.upper()} compiler. Please specify via {variable} environment variable or set "
                           "triton.knobs.build.impl.")  # fmt: skip
    return found


def _language_from_filename(source_name):
    extension = os.path.splitext(source_name)[1]
    if extension == ".c":
        return "c"
    if extension in (".cc", ".cpp", ".cxx"):
        return "c++"
    raise ValueError(f"Unrecognized file extension: {source_name}")


def _library_flag(library):
    """-l of a name, or of a file's name."""
    import re

    return f"-l:{library}" if re.search(r"\.so(\.\d+)*$|\.a$", library) else f"-l{library}"


def _build(name, src, srcdir, library_dirs, include_dirs, libraries, ccflags=(), language="c"):
    """Compiles the file `src` into a library in srcdir, whose path it returns."""
    import subprocess

    if knobs.build.impl is not None:
        return knobs.build.impl(name, src, srcdir, library_dirs, include_dirs, libraries)
    library = os.path.join(srcdir, name + sysconfig.get_config_var("EXT_SUFFIX"))
    scheme = sysconfig.get_default_scheme()
    headers = sysconfig.get_paths(scheme="posix_prefix" if scheme == "posix_local" else scheme)["include"]  # posix_local: Debian's, which has none
    folders = [*include_dirs, srcdir, headers, *sorted(knobs.build.backend_dirs)]
    command = [_find_compiler(language), src, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", library]
    command += ["-std=c++17"] if language == "c++" else []
    command += map(_library_flag, libraries)
    command += [f"-L{folder}" for folder in library_dirs] + [f"-I{folder}" for folder in folders if folder is not None]
    subprocess.check_call([*command, *ccflags], stdout=subprocess.DEVNULL)
    return library


@functools.lru_cache
def platform_key():
    """Names the machine's kind: a library is good on others of it."""
    import platform

    return ",".join([platform.machine(), platform.system(), *platform.architecture()])


def _load_module_from_path(name, path):
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"Failed to load newly compiled {name} from {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _manager(source, options):
    """The files kept for a source and options."""
    import hashlib

    digest = hashlib.sha256(source + platform_key().encode())
    for option, values in options.items():
        if values is not None:
            digest.update("\0".join((option, *values, "")).encode())
    return get_cache_manager(digest.hexdigest())


def _kept(source, path, name, library_dirs, include_dirs, libraries, ccflags, language, load=None):
    """The library of a source: a file that the cache keeps; with `load`, what that makes of it. One that cannot be loaded is built anew."""
    import tempfile

    options = {"language": [language], "library_dirs": library_dirs, "include_dirs": include_dirs, "libraries": libraries, "ccflags": ccflags}
    cache = _manager(source, options)
    file_name = name + sysconfig.get_config_var("EXT_SUFFIX")
    found = cache.get_file(file_name)
    if found is not None and load is None:
        return found
    if found is not None:
        try:
            return load(name, found)
        except (RuntimeError, ImportError) as error:
            warnings.warn(f"{name} is built anew, since what the cache has of it cannot be loaded: {error}", stacklevel=4)
    with tempfile.TemporaryDirectory() as folder:
        built = _build(name, path, folder, library_dirs or [], include_dirs or [], libraries or [], ccflags or [], language=language)
        with open(built, "rb") as file:
            kept = cache.put(file.read(), file_name, binary=True)
    return kept if load is None else load(name, kept)


def _from_file(src_path, *rest, load=None):
    src_path = os.path.abspath(src_path)
    with open(src_path, "rb") as file:
        return _kept(file.read(), src_path, *rest, _language_from_filename(src_path), load)


def _from_text(src, name, *rest, language, load=None):
    import tempfile

    if language not in _EXTENSIONS:
        raise ValueError(f"Unexpected language: {language}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + _EXTENSIONS[language])
        with open(path, "w") as file:
            file.write(src)
        return _kept(src.encode(), path, name, *rest, language, load)


def compile_so_from_file(src_path, name, library_dirs=None, include_dirs=None, libraries=None, ccflags=None):
    """The path of the library that a file of C or C++ is compiled to."""
    return _from_file(src_path, name, library_dirs, include_dirs, libraries, ccflags)


def compile_so_from_src(src, name, library_dirs=None, include_dirs=None, libraries=None, ccflags=None, language="c"):
    """The same of a text."""
    return _from_text(src, name, library_dirs, include_dirs, libraries, ccflags, language=language)


def compile_module_from_file(src_path, name, library_dirs=None, include_dirs=None, libraries=None, ccflags=None):
    """The module of Python that a file of C or C++ is compiled to."""
    return _from_file(src_path, name, library_dirs, include_dirs, libraries, ccflags, load=_load_module_from_path)


def compile_module_from_src(src, name, library_dirs=None, include_dirs=None, libraries=None, ccflags=None, language="c"):
    """The same of a text."""
    return _from_text(src, name, library_dirs, include_dirs, libraries, ccflags, language=language, load=_load_module_from_path)
