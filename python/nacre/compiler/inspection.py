"""`knobs.runtime.add_stages_inspection_hook`: a user's function that looks at the stages of every compile and may change them.

The hook is called in two ways. `hook()` returns a pair that names what it does: kernels compiled under another name are other
kernels. `hook(backend, stages, options, language, capability)` is called before each compile; `stages` maps each stage ("ttir",
"ttgir", "llir", "s") to a function (text of the stage before, metadata) -> text of the stage, and may be given other functions.
"""

from .. import _core


class Stage:
    """A stage as the compiler makes it: called with the text of the stage before, it gives its own."""

    def __init__(self, name):
        self.name = name
        self.before = self.text = None

    def __call__(self, source, metadata):
        if source != self.before:
            raise ValueError(f"the stage {self.name} is made of what the stage before gave: change that stage's text there")
        return self.text


class Inspection:
    """One compile under the hook."""

    def __init__(self, hook, source, options):
        from ..runtime.driver import driver
        from .compiler import make_backend

        backend = make_backend(driver.active.get_current_target())
        self.aliases = _core.TARGETS[backend.target.backend]["stages"]
        self.made = {alias: Stage(alias) for alias in self.aliases}
        self.stages = dict(self.made)
        self.metadata = dict(options)
        self.before = source
        hook(backend, self.stages, backend.parse_options(options), None, None)
        if self.stages.keys() != self.made.keys():
            raise ValueError(f"a stage can be changed, not added or taken away; stages: {', '.join(self.made)}")

    def replace(self, name, text):
        """What takes the place of a stage's text, or None: asked for each stage in turn."""
        alias = next(alias for alias, ours in self.aliases.items() if ours == name)
        stage = self.made[alias]
        stage.before, stage.text = self.before, text
        function = self.stages[alias]
        result = text if function is stage else function(self.before, self.metadata)
        if not isinstance(result, str):
            raise TypeError(f"the function of the stage {alias} must return its text, not {type(result).__name__}")
        self.before = result
        return None if result == text else result
