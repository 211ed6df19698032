"""The distribution nacre-triton: `import triton` gives nacre where no Triton is installed.

It has no file of Triton's: nacre_triton.pth imports this module when Python starts, and a finder answers for the name. An installed Triton, and
an installed triton-viz, are found before it, whichever came first, so that installing or removing one leaves the other as it is. Folders of
that name without a package are no Triton.
"""

import sys

_NAMES = ("triton", "triton_viz")


def _is_installed(name):
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, None) if find is not None and finder is not Finder else None
        if spec is not None and spec.origin is not None:
            return True
    return False


class Finder:
    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname not in _NAMES or any(_is_installed(name) for name in {fullname, "triton"}):
            return None
        import importlib.util

        if importlib.util.find_spec("nacre") is None:
            return None
        from nacre import _alias

        _alias.activate(tuple(name for name in _NAMES if not _is_installed(name)))
        return importlib.util.find_spec(fullname)

    @staticmethod
    def find_distributions(context):
        """What importlib.metadata says of triton, before anything has imported it too."""
        if getattr(context, "name", None) != "triton" or _is_installed("triton"):
            return ()
        import importlib.util

        if importlib.util.find_spec("nacre") is None:
            return ()
        from nacre._alias import is_active
        from nacre._distribution import AliasDistribution

        return () if is_active() else (AliasDistribution(),)


if Finder not in sys.meta_path:
    sys.meta_path.insert(0, Finder)
