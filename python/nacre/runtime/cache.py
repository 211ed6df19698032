"""Files kept between runs. Compiled kernels have a cache of their own, in C++; this one is for tools that keep other files."""

import os

from .. import _core


def _folder():
    return _core.directories()["cache"]


class FileCacheManager:
    """Named files that belong to one key, in a folder of the cache. Safe for several processes: a file appears whole."""

    def __init__(self, key, override=False, dump=False):
        self.key = key
        base = _core.directories()["dump"] if dump else _folder()
        self.cache_dir = os.path.join(base, key)

    def _path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        return os.path.exists(self._path(filename))

    def get_file(self, filename):
        return self._path(filename) if self.has_file(filename) else None

    def get_group(self, filename):
        import json

        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            children = json.load(file)["child_paths"]
        return {name: path for name, path in children.items() if os.path.exists(path)}

    def put_group(self, filename, group):
        import json

        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)

    def put(self, data, filename, binary=True):
        import tempfile

        os.makedirs(self.cache_dir, exist_ok=True)
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


def _base32(key):
    """A hexadecimal key in fewer letters."""
    import base64

    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def get_cache_manager(key):
    return FileCacheManager(_base32(key))


def get_dump_manager(key):
    return FileCacheManager(_base32(key), dump=True)


def triton_key():
    """Names this build of the compiler."""
    return _core.info()["build_id"]
