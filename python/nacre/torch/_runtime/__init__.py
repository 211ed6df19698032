"""What Inductor's kernels run with (`torch._inductor.runtime`), with this package for its Triton: for programs where another one is installed
under that name, and stays what torch's own backend compiles with.

The modules of it that build on Triton exist a second time here, made of torch's own files; what they import under the name of triton is this
package. Everything else they share with torch. The text of a kernel names these modules, so that workers, and caches, find them too.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys

_TORCHS = "torch._inductor.runtime"
_OURS = __name__.partition(".")[0]
# Some came under other names in earlier versions of torch.
_BUILT_ON_TRITON = ("triton_compat", "triton_helpers", "triton_heuristics", "static_triton_launcher", "static_cuda_launcher")


def our_name(module):
    """The module that stands for one of that name: of triton, or of torch."""
    first, dot, rest = module.partition(".")
    if first == "triton":
        return _OURS + dot + rest
    package, _, name = module.rpartition(".")
    return f"{__name__}.{name}" if package == _TORCHS and name in _BUILT_ON_TRITON else module


class _Renamed(ast.NodeTransformer):
    """Imports, relative ones made absolute, of what stands for the modules they name."""

    def visit_Import(self, node):
        made = []
        for alias in node.names:
            name = our_name(alias.name)
            if name == alias.name or alias.asname:
                made.append(ast.Import([ast.alias(name, alias.asname)]))
                continue
            if "." in name:  # `import triton.backends` binds `triton`
                made.append(ast.Import([ast.alias(name, "_")]))
            made.append(ast.Import([ast.alias(our_name(alias.name.partition(".")[0]), alias.name.partition(".")[0])]))
        return [ast.copy_location(one, node) for one in made]

    def visit_ImportFrom(self, node):
        if node.module == "__future__":
            return node
        module = node.module or ""
        if node.level:
            package = _TORCHS.rsplit(".", node.level - 1)[0]
            module = f"{package}.{module}" if module else package
        made = []
        for alias in node.names:
            whole = f"{module}.{alias.name}"
            owner = __name__ if our_name(whole) != whole and module == _TORCHS else our_name(module)
            made.append(ast.ImportFrom(owner, [ast.alias(alias.name, alias.asname)], 0))
        return [ast.copy_location(one, node) for one in made]


class _Loader(importlib.abc.Loader):
    def __init__(self, torchs):
        self.torchs = torchs

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        source = self.torchs.loader.get_source(self.torchs.name)
        tree = ast.fix_missing_locations(_Renamed().visit(ast.parse(source)))
        module.__file__ = self.torchs.origin
        exec(compile(tree, self.torchs.origin, "exec"), vars(module))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        package, _, name = fullname.rpartition(".")
        if package != __name__ or name not in _BUILT_ON_TRITON:
            return None
        torchs = importlib.util.find_spec(f"{_TORCHS}.{name}")
        return None if torchs is None else importlib.machinery.ModuleSpec(fullname, _Loader(torchs), origin=torchs.origin)


sys.meta_path.append(_Finder())
