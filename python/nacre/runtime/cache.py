"""Files kept between runs.

Compiled kernels have a cache of their own, in C++ (the folder `knobs.cache.dir`), unless TRITON_CACHE_MANAGER, or
`knobs.cache.manager_class`, names a class of the user's that keeps them: then everything goes through it.
"""

import os

from .. import _core, knobs


_told = set()


def tell_once(text):
    if text not in _told:
        import sys

        _told.add(text)
        print(f"nacre: {text}", file=sys.stderr)


class CacheManager:
    """Keeps the files of one key. A class that is to keep compiled kernels derives from it and has all four."""

    def __init__(self, key, override=False, dump=False):
        pass

    def get_file(self, filename):
        """The path of a file of this key, or None."""
        raise NotImplementedError

    def put(self, data, filename, binary=True):
        """Keeps bytes or text under a name; returns the path."""
        raise NotImplementedError

    def get_group(self, filename):
        """{name: path} of a group of files, or None."""
        raise NotImplementedError

    def put_group(self, filename, group):
        """Keeps a group {name: path} under a name."""
        raise NotImplementedError


class FileCacheManager(CacheManager):
    """Named files that belong to one key, in a folder of the cache. Safe for several processes: a file appears whole. What another user
    could have written is not found."""

    is_limited = True  # by NACRE_CACHE_MAX_MEGABYTES

    def __init__(self, key, override=False, dump=False):
        self.key = key
        base = _core.directories()["dump" if dump else "override" if override else "cache"]
        self.cache_dir = os.path.join(base, key)

    def _path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        return os.path.exists(self._path(filename))

    def get_file(self, filename):
        return self._path(filename) if self.has_file(filename) and self._is_own(filename) else None

    def _is_own(self, filename):
        """Whether nobody else could have written a file: what is read from the cache may be run. What is refused is said once."""
        for path in (os.path.dirname(self.cache_dir), self.cache_dir, self._path(filename)):
            status = os.stat(path)
            if status.st_uid not in (os.geteuid(), 0) or status.st_mode & 0o022:
                tell_once(f"files of the cache {os.path.dirname(self.cache_dir)} are not used: another user owns or may write {path}; make the cache "
                          "your own (chmod -R go-w), or set TRITON_CACHE_DIR to another folder")  # fmt: skip
                return False
        return True

    def get_group(self, filename):
        import json

        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            children = json.load(file)["child_paths"]
        return children if all(map(os.path.exists, children.values())) else None  # a part of a group is of no use

    def put_group(self, filename, group):
        import json

        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)

    def put(self, data, filename, binary=True):
        import tempfile

        os.makedirs(os.path.dirname(self.cache_dir), mode=0o700, exist_ok=True)  # what others can write is not trusted
        os.makedirs(self.cache_dir, mode=0o700, exist_ok=True)
        if isinstance(data, str):
            data = data.encode()
        descriptor, temporary = tempfile.mkstemp(dir=self.cache_dir)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data if isinstance(data, bytes) else str(data).encode())
            os.replace(temporary, self._path(filename))
        except BaseException:
            os.unlink(temporary)
            raise
        return self._path(filename)


class RemoteCacheBackend:
    """A store shared by many machines, of the files of one key: a user's class derives from it."""

    def __init__(self, key):
        pass

    def get(self, filenames):
        """{name: bytes} of those among the files that it has."""
        raise NotImplementedError

    def put(self, filename, data):
        """Keeps bytes under a name."""
        raise NotImplementedError


def _base32(key):
    """A hexadecimal key in fewer letters."""
    import base64

    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _manager_class():
    return knobs.cache.manager_class or FileCacheManager


def get_cache_manager(key):
    return _manager_class()(_base32(key))


def get_override_manager(key):
    return _manager_class()(_base32(key), override=True)


def get_dump_manager(key):
    return _manager_class()(_base32(key), dump=True)


# What the compiler asks of a manager of the user's.


def _read_entry(key, kind):
    import time

    path = get_cache_manager(key).get_file(f"nacre.{kind}")
    if path is None:
        return None
    with open(path, "rb") as file:
        if time.time() - os.fstat(file.fileno()).st_mtime > _USE_RESOLUTION:
            try:
                os.utime(path)  # among the youngest again
            except OSError:
                pass
        return file.read()


_USE_RESOLUTION = 3600  # seconds
_BYTES_BETWEEN_LOOKS = 64 << 20
_written = {}  # bytes to each folder since it was looked through


def _write_entry(key, kind, data):
    manager = get_cache_manager(key)
    manager.put(data, f"nacre.{kind}", binary=True)
    if getattr(manager, "is_limited", False):
        folder = knobs.cache.dir
        if _written.get(folder, _BYTES_BETWEEN_LOOKS) >= _BYTES_BETWEEN_LOOKS:
            _core.limit_cache(folder, knobs.cache.max_megabytes << 20)
            _written[folder] = 0
        _written[folder] += len(data)


def make_so_cache_key(version_hash, signature, constants, ids, **kwargs):
    """Names a library that is built for a signature."""
    types = "".join("ptr" if type.startswith("*") else type for type in signature.values())
    return _base32(_core.fingerprint("-".join(map(str, (version_hash, types, constants, ids, *kwargs.values())))))


def get_cache_key(src, backend, backend_options, env_vars):
    """Names what a source is compiled to, by a backend with these options."""
    return f"{triton_key()}-{src.hash()}-{backend.hash()}-{backend_options.hash()}-{sorted(env_vars.items())}"


def get_cache_invalidating_env_vars():
    """The variables that are set and change what is compiled, with their values."""
    variables = [variable for row in _core.knobs() if row[6] for variable in row[3:5]]
    return {variable: os.environ[variable] for variable in variables if variable in os.environ}


def triton_key():
    """Names this build of the compiler."""
    return _core.info()["build_id"]


def __getattr__(name):
    if name in ("RemoteCacheManager", "RedisRemoteCacheBackend"):  # not everybody needs them
        from . import remote_cache

        return getattr(remote_cache, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
