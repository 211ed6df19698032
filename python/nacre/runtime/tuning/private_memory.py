"""Makes memory that a forked child shares with other processes the child's own: tensors in shared memory, files that are mapped.

A mapping of a file is mapped anew as a private one: only pages that are written are copied. What has no file that can be opened is
copied where that is little, and else made read-only, so that a store to it is a fault of the candidate that makes it.

Large arrays that will be written are copied ahead, in one go and in large pages: that takes a quarter of the time of the faults by
which the system would copy them page by page.
"""

import ctypes
import os

MAPS = "/proc/self/maps"
_READ, _WRITE = 1, 2
_PRIVATE, _FIXED, _ANONYMOUS = 0x02, 0x10, 0x20
_MAY_MOVE, _MOVE_TO = 1, 2
_FAILED = ctypes.c_void_p(-1).value
_USE_LARGE_PAGES = 14  # MADV_HUGEPAGE
_LARGE_PAGE = 2 << 20
_MOST_COPIED = 256 << 20  # bytes
_LEAST_COPIED = 4 << 20  # of less there are few pages


class _Mapping:
    """A line of /proc/self/maps."""

    def __init__(self, line):
        span, permissions, offset, _, inode, *path = line.split(maxsplit=5)
        self.begin, self.end = (int(bound, 16) for bound in span.split("-"))
        self.size = self.end - self.begin
        self.is_shared = permissions[3] == "s" and permissions[1] == "w"
        self.protection = (_READ if permissions[0] == "r" else 0) | _WRITE
        self.offset = int(offset, 16)
        self.inode = int(inode)
        self.path = path[0].rstrip("\n") if path else ""
        self.name = self.path.removesuffix(" (deleted)")
        self.is_device = self.name.startswith("/dev/") and not self.name.startswith(("/dev/shm/", "/dev/zero"))

    def opened(self):
        """A descriptor of the mapped file; None when it cannot be opened."""
        for path, is_it in self._ways():
            descriptor = None
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                if is_it(descriptor):
                    return descriptor
            except (OSError, ValueError):
                pass
            if descriptor is not None:
                os.close(descriptor)
        return None

    def _ways(self):
        """(path, function that says of a descriptor whether it is the file). A file system made of layers may name another device here
        than stat() does, so where the path is known the inode is enough."""

        def same_inode(descriptor):
            return os.fstat(descriptor).st_ino == self.inode

        if self.path == self.name and self.path:
            yield self.path, same_inode
        yield f"/proc/self/map_files/{self.begin:x}-{self.end:x}", same_inode
        try:  # a file that is deleted but open
            names = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        except OSError:
            return
        for name in names:
            try:
                if self.path and os.readlink(name) == self.path:
                    yield name, same_inode
            except OSError:
                pass


class _Memory:
    """The system's calls."""

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.map = libc.mmap
        self.map.restype = ctypes.c_void_p
        self.map.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
        self.move = libc.mremap
        self.move.restype = ctypes.c_void_p
        self.move.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        self.advise = libc.madvise
        self.advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.protect = libc.mprotect
        self.protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def map_file(self, mapping):
        descriptor = mapping.opened()
        if descriptor is None:
            return False
        try:
            flags = _PRIVATE | _FIXED
            return self.map(mapping.begin, mapping.size, mapping.protection, flags, descriptor, mapping.offset) == mapping.begin
        finally:
            os.close(descriptor)

    def copy(self, begin, size):
        """Puts a copy in the place of whole pages."""
        fresh = self.map(None, size + _LARGE_PAGE, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if fresh == _FAILED:
            return False
        fresh += (begin - fresh) % _LARGE_PAGE  # large pages can be moved to where large pages fit
        self.advise(fresh, size, _USE_LARGE_PAGES)
        ctypes.memmove(fresh, begin, size)
        return self.move(fresh, size, size, _MAY_MOVE | _MOVE_TO, begin) == begin

    def close(self, mapping):
        if self.protect(mapping.begin, mapping.size, mapping.protection & ~_WRITE) != 0:
            raise RuntimeError(f"memory that is shared with other processes cannot be protected: {mapping.path or 'without a name'}, "
                               f"{mapping.size} bytes ({os.strerror(ctypes.get_errno())})")  # fmt: skip


def unshare():
    """From here on nothing this process writes to memory is seen by another one. For a forked child alone. Returns the names of what could
    only be made read-only."""
    with open(MAPS) as file:
        shared = [mapping for mapping in map(_Mapping, file) if mapping.is_shared]
    memory, copied, closed = _Memory() if shared else None, 0, []
    for mapping in shared:
        if not mapping.is_device and memory.map_file(mapping):
            continue
        # A file may be shorter than its mapping, and reading behind its end is a fault: only what has no file is copied.
        is_memory = not mapping.path or mapping.name.startswith(("/dev/zero", "/SYSV"))
        if is_memory and copied + mapping.size <= _MOST_COPIED and memory.copy(mapping.begin, mapping.size):
            copied += mapping.size
            continue
        memory.close(mapping)
        closed.append(f"{mapping.path or 'memory without a name'} ({mapping.size} bytes)")
    return closed


def copy_ahead(ranges):
    """Copies memory that this process will write, [(begin, end)]. For a forked child alone, after unshare()."""
    memory, page = _Memory(), os.sysconf("SC_PAGE_SIZE")
    for begin, end in ranges:
        begin, end = -(-begin // page) * page, end // page * page
        if end - begin >= _LEAST_COPIED:
            memory.copy(begin, end - begin)  # where that fails the system copies
