"""Makes `import triton`, and every submodule of it, mean this package."""

import importlib
import importlib.util
import os
import sys

_OURS = __name__.partition(".")[0]
_ALIAS = "triton"
# Packages that programs for the language import, and ours that stand for them.
_NAMES = {_ALIAS: _OURS, "triton_viz": _OURS + ".viz.triton_viz"}


class _Loader:
    """Hands out the module that the alias stands for."""

    def __init__(self, name):
        self.name = name

    def create_module(self, spec):
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def get_code(self, fullname):
        """For `-m triton.tools.compile`."""
        return importlib.util.find_spec(self.name).loader.get_code(self.name)

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has just put the alias's there
        _share_loaded()


class _Finder:
    """Finds triton and triton.* among our modules, ahead of any that is installed."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        alias, dot, rest = fullname.partition(".")
        if alias not in _NAMES:
            return None
        name = _NAMES[alias] + dot + rest
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise ModuleNotFoundError(f"No module named {fullname!r} (it stands for {name!r})", name=fullname)
        spec = importlib.util.spec_from_loader(fullname, _Loader(name), is_package=found.submodule_search_locations is not None)
        return spec

    @staticmethod
    def find_distributions(context):
        """The installed distribution of that name: this package, in the version of the language that it speaks."""
        if context.name is not None and context.name != _ALIAS:
            return ()
        from ._distribution import AliasDistribution

        return (AliasDistribution(),)


def _share_loaded():
    """Every module of ours that is loaded, under the alias's name too: importing it again by that name must not happen (it
    would set attributes of packages anew)."""
    for name, module in list(sys.modules.items()):
        for alias, ours in _NAMES.items():
            if name == ours or name.startswith(ours + "."):
                sys.modules.setdefault(alias + name[len(ours):], module)


def replace_triton():
    """For the package `triton` that children find on their path: takes its place while it is being imported."""
    sys.modules.pop(_ALIAS, None)
    activate()
    sys.modules[_ALIAS] = sys.modules[_OURS]


def _tell_children():
    """Processes that this one starts have the alias too: torch.compile's workers compile kernels for it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_children")
    path = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if folder not in path:
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *path])
    if folder not in sys.path:
        sys.path.insert(1, folder)  # some hand down this instead of the variable


def activate(names=tuple(_NAMES)):
    """From now on `import triton` gives this package, in this process and in those it starts. Call it before anything imports
    triton. `names`: of the packages that it stands for, those wanted."""
    _tell_children()
    if is_active():
        return
    for name in set(_NAMES) - set(names):
        del _NAMES[name]
    other = sys.modules.get(_ALIAS)
    if other is not None and other is not sys.modules[_OURS]:
        raise RuntimeError(
            f"another package named {_ALIAS} is imported already ({getattr(other, '__file__', None)}): "
            f"call {_OURS}.activate() before anything imports it"
        )
    sys.meta_path.insert(0, _Finder)
    _share_loaded()


def is_active():
    return _Finder in sys.meta_path
