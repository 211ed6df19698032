"""The distribution `nacre-triton`: installed, it makes `import triton` mean Nacre in every process of the environment.

A .pth file imports this module when Python starts. It costs nothing until something asks for triton: then Nacre is
imported and its own alias takes over.
"""

import sys


class _WaitingForTriton:
    @staticmethod
    def _hand_over():
        sys.meta_path.remove(_WaitingForTriton)
        import nacre

        nacre.activate()

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname != "triton" and not fullname.startswith("triton."):
            return None
        _WaitingForTriton._hand_over()
        from importlib.util import find_spec

        return find_spec(fullname)

    @staticmethod
    def find_distributions(context):
        if context.name != "triton":
            return ()
        _WaitingForTriton._hand_over()
        from importlib.metadata import distributions

        return distributions(name="triton")


if _WaitingForTriton not in sys.meta_path:
    sys.meta_path.insert(0, _WaitingForTriton)
