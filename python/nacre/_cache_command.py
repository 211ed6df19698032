"""`nacre cache` and `nacre warmup`: the kernels on disk, and compiling them before they are needed."""

import os
import sys
import time
from collections import Counter

from ._terminal import misused

CACHE_USAGE = """usage: nacre cache stats             the number of kernels in the cache, its size, its limit
       nacre cache clear [DAYS]      remove all kernels, or those not used for DAYS days
       nacre cache verify            read every entry and remove damaged ones

The cache is in TRITON_CACHE_DIR (default: ~/.nacre/cache); NACRE_CACHE_MAX_MEGABYTES limits it.
"""
WARMUP_USAGE = """usage: nacre warmup FILE.py [args...]

Compiles kernels into the cache ahead of their first launch. It runs the function warmup() of a file, and compiles its
kernel.warmup(...) calls in parallel. With NACRE_JIT=warn or error, a later launch that compiles is a warning or an error.
"""


def _size(count):
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 10000 or unit == "GB":
            return f"{count:.0f} {unit}"
        count /= 1024


def _stats(folder, files):
    from . import knobs

    kinds = Counter(os.path.splitext(path)[1] for path, _, _ in files)
    counts = f"{kinds['.kernel'] + kinds['.general']} kernels, {kinds['.stages']} with their stages, {kinds['.manifest']} manifests"
    total = sum(row[1] for row in files)
    limit = knobs.cache.max_megabytes << 20
    print(f"folder {folder}")
    print(f"{counts}, {_size(total)}" + (f" of {_size(limit)}" if limit else ", no limit"))
    if files:
        oldest = min(row[2] for row in files)
        print(f"used least recently: {(time.time() - oldest) / 86400:.1f} days ago")
    return 0


def _clear(files, days):
    limit = time.time() - days * 86400
    removed = size = 0
    for path, bytes, used in files:
        if used <= limit or days == 0:
            try:
                os.unlink(path)
            except OSError:
                continue
            removed += 1
            size += bytes
    print(f"{removed} entries removed, {_size(size)}")
    return 0


def _verify(files):
    from . import _core

    damaged = 0
    for path, _, _ in files:
        try:
            with open(path, "rb") as file:
                is_whole = _core.entry_is_whole(file.read())
        except OSError:
            continue  # gone meanwhile
        if not is_whole:
            damaged += 1
            print(f"damaged, removed: {path}")
            try:
                os.unlink(path)
            except OSError as error:
                print(f"cannot remove it: {error}", file=sys.stderr)
    print(f"{len(files)} entries read, {damaged} damaged")
    return 1 if damaged else 0


def _days(text):
    try:
        days = float(text)
    except ValueError:
        return None
    return days if 0 <= days < float("inf") else None


def cache(arguments):
    from . import _core, knobs

    if not arguments or any(word in ("-h", "--help") for word in arguments):
        print(CACHE_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    folder = knobs.cache.dir
    command, *rest = arguments
    if command == "stats" and not rest:
        return _stats(folder, _core.cache_files(folder))
    if command == "verify" and not rest:
        return _verify(_core.cache_files(folder))
    if command == "clear" and len(rest) <= 1:
        days = _days(rest[0]) if rest else 0.0
        if days is not None:
            return _clear(_core.cache_files(folder), days)
        mistake = f"clear {rest[0]}: expected a number of days"
    else:
        mistake = f"there is no command {' '.join(arguments)}"
    return misused("nacre cache", mistake, ["stats", "clear", "verify", "--help"])


def warmup(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(WARMUP_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    from concurrent.futures import ThreadPoolExecutor

    from . import _core, activate
    from .runtime._async_compile import AsyncCompileMode

    file = arguments[0]
    if not os.path.exists(file):
        return misused("nacre warmup", f"there is no {'option' if file.startswith('-') else 'file'} {file}", ["--help"])
    if not os.path.isfile(file) or not file.endswith(".py"):
        print(f"nacre warmup: {file} is not a file of Python (.py)", file=sys.stderr)
        return 2
    activate()
    import importlib.util

    from ._run import show_only_the_program

    show_only_the_program()
    sys.argv = list(arguments)
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location(os.path.basename(file).removesuffix(".py"), file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, "warmup", None)
    if not callable(function):
        print(f"nacre warmup: {file} has no function warmup()", file=sys.stderr)
        return 2
    start = time.perf_counter()
    with ThreadPoolExecutor(_core.info()["cores"]) as pool, AsyncCompileMode(pool):
        function()
    counts = _core.cache_counts()
    print(f"{counts['compiles']} kernels compiled, {counts['disk_hits']} were there, in {time.perf_counter() - start:.2f} s")
    return 0
