"""Compiled kernels shared by many machines through a store that is there already: TRITON_CACHE_MANAGER names RemoteCacheManager and
TRITON_REMOTE_CACHE_BACKEND the store's class, such as nacre.runtime.cache:RedisRemoteCacheBackend.

An entry is machine code. With NACRE_REMOTE_CACHE_SECRET set each is signed (HMAC-SHA256 over its key, its name and its bytes), and one
whose signature is not right is as good as absent: who can write to the store cannot run code on every machine. A store that is down, slow
or wrong costs time, never a launch: the files of this machine go on serving.
"""

import time

from .. import knobs
from .cache import CacheManager, FileCacheManager, RemoteCacheBackend, tell_once

_HEAD = b"NACRE-HMAC-SHA256\n"
_REST_SECONDS = 30.0  # that a store which failed is left alone

def secret():
    """The bytes that sign entries, or None. "@FILE" names a file that holds them."""
    text = knobs.cache.remote_secret
    if not text:
        return None
    if not text.startswith("@"):
        return text.encode()
    try:
        with open(text[1:], "rb") as file:
            found = file.read().strip()
    except OSError as error:
        raise ValueError(f"NACRE_REMOTE_CACHE_SECRET={text}: the file cannot be read: {error.strerror}") from None
    if not found:
        raise ValueError(f"NACRE_REMOTE_CACHE_SECRET={text}: the file is empty")
    return found


def _signature(key, filename, data):
    import hashlib
    import hmac

    parts = [key.encode(), filename.encode(), data]
    message = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hmac.new(secret(), message, hashlib.sha256).digest()


def sign(key, filename, data):
    """What is put into the store."""
    return data if secret() is None else _HEAD + _signature(key, filename, data) + data


def verified(key, filename, entry):
    """The bytes of an entry of the store, or None for one that is not ours."""
    import hmac

    is_signed = entry.startswith(_HEAD)
    body = entry[len(_HEAD) + 32:] if is_signed else entry
    if secret() is None:
        tell_once("the remote cache is not authenticated: whoever can write to it can run code here; set NACRE_REMOTE_CACHE_SECRET")
        return body
    given = entry[len(_HEAD):len(_HEAD) + 32]
    if is_signed and hmac.compare_digest(given, _signature(key, filename, body)):
        return body
    tell_once(f"an entry of the remote cache is not signed with NACRE_REMOTE_CACHE_SECRET and is not used ({filename} of {key})")
    return None


class _Store:
    """A backend of the user's behind a guard: what it raises is told once, and for a while it is not asked again."""

    resting_until = 0.0  # of all stores: they are the same server

    def __init__(self, backend_class, key):
        self.key = key
        self.backend = self._guarded(lambda: backend_class(key))

    def _guarded(self, call):
        if time.monotonic() < _Store.resting_until:
            return None
        try:
            return call()
        except Exception as error:
            _Store.resting_until = time.monotonic() + _REST_SECONDS
            tell_once(f"the remote cache cannot be used, kernels come from this machine's cache ({type(error).__name__}: {error})")
            return None

    def get(self, filename):
        if self.backend is None:
            return None
        found = self._guarded(lambda: self.backend.get([filename])) or {}
        entry = found.get(filename)
        return verified(self.key, filename, entry) if isinstance(entry, bytes) else None

    def put(self, filename, data):
        if self.backend is not None:
            self._guarded(lambda: self.backend.put(filename, sign(self.key, filename, data)))


class RemoteCacheManager(CacheManager):
    """Keeps files in the RemoteCacheBackend that TRITON_REMOTE_CACHE_BACKEND names, and a copy among the files of this machine.
    TRITON_CACHE_MANAGER=nacre.runtime.cache:RemoteCacheManager keeps compiled kernels so."""

    is_limited = True  # the copies

    def __init__(self, key, override=False, dump=False):
        backend = knobs.cache.remote_manager_class
        if backend is None:
            raise RuntimeError("TRITON_REMOTE_CACHE_BACKEND is not set: RemoteCacheManager needs a class that keeps its files")
        secret()  # one that cannot be read is an error, whatever the store has
        self._local = FileCacheManager(key, override=override, dump=dump)
        self._store = None if override or dump else _Store(backend, key)  # what a user edits or looks at stays here

    def get_file(self, filename):
        local = self._local.get_file(filename)
        if self._store is None:
            return local
        # A kernel never changes under its name. A manifest grows: others may know more.
        if local is not None and not filename.endswith(".manifest"):
            return local
        data = self._store.get(filename)
        if data is None:
            return local
        try:
            return self._local.put(data, filename)
        except OSError:
            return local

    def put(self, data, filename, binary=True):
        data = data if isinstance(data, bytes) else str(data).encode()
        if self._store is not None:
            self._store.put(filename, data)
        try:
            return self._local.put(data, filename)
        except OSError as error:
            tell_once(f"kernels cannot be kept in {knobs.cache.dir}: {error.strerror}")
            return None

    def get_group(self, filename):
        import json

        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            found = {name: self.get_file(name) for name in json.load(file)["child_paths"]}
        return None if None in found.values() else found

    def put_group(self, filename, group):
        import json

        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}")


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """A Redis server: TRITON_REDIS_HOST, TRITON_REDIS_PORT, TRITON_REDIS_KEY_FORMAT. It needs the package `redis`. No call waits longer than
    NACRE_REMOTE_CACHE_TIMEOUT."""

    _clients = {}

    def __init__(self, key):
        self._key = key
        self._format = knobs.redis.key_format
        seconds = float(knobs.cache.remote_timeout)
        place = knobs.redis.host, knobs.redis.port, seconds
        if place not in self._clients:
            import redis

            # No retries: the cache on disk is there at once.
            self._clients[place] = redis.Redis(host=place[0], port=place[1], socket_timeout=seconds, socket_connect_timeout=seconds,
                                               retry=_no_retry(redis), decode_responses=False)  # fmt: skip
        self._redis = self._clients[place]

    def _name(self, filename):
        return self._format.format(key=self._key, filename=filename)

    def get(self, filenames):
        names = list(filenames)
        found = self._redis.mget([self._name(name) for name in names])
        return {name: value for name, value in zip(names, found) if value is not None}

    def put(self, filename, data):
        self._redis.set(self._name(filename), data)


def _no_retry(redis):
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Retry(NoBackoff(), 0)
