"""Hooks of sessions: the one with the highest priority is called first."""

from collections import defaultdict

from ... import knobs


class Hook:
    """What a session may add. Derive from it and write the methods that are wanted."""

    priority = 0

    def init_handle(self, module, function, name, metadata_group, hash):
        """A kernel has been loaded."""

    def destroy_handle(self, module, function, name, metadata_group, hash):
        """A kernel is being taken away."""

    def enter(self, metadata):
        """A launch begins."""

    def exit(self, metadata):
        """It has ended."""

    def activate(self):
        pass

    def deactivate(self):
        pass


class HookManager:
    """The hooks of every session. A hook of several sessions is called once, while one of them is active."""

    active_hooks = []
    session_hooks = defaultdict(lambda: defaultdict(bool))

    @staticmethod
    def init_handle(module, function, name, metadata_group, hash):
        for hook in HookManager.active_hooks:
            hook.init_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def destroy_handle(module, function, name, metadata_group, hash):
        for hook in reversed(HookManager.active_hooks):
            hook.destroy_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def enter(metadata):
        for hook in HookManager.active_hooks:
            hook.enter(metadata)

    @staticmethod
    def exit(metadata):
        for hook in reversed(HookManager.active_hooks):
            hook.exit(metadata)

    @staticmethod
    def _sessions(session):
        return list(HookManager.session_hooks) if session is None else [session]

    @staticmethod
    def _refresh():
        wanted = {hook for hooks in HookManager.session_hooks.values() for hook, is_active in hooks.items() if is_active}
        for hook in [hook for hook in HookManager.active_hooks if hook not in wanted]:
            HookManager.active_hooks.remove(hook)
            hook.deactivate()
        known = [hook for hooks in HookManager.session_hooks.values() for hook in hooks]  # in the order of their sessions
        for hook in dict.fromkeys(hook for hook in known if hook in wanted and hook not in HookManager.active_hooks):
            hook.activate()
            HookManager.active_hooks.append(hook)
        HookManager.active_hooks.sort(key=lambda hook: -hook.priority)
        places = (
            (knobs.runtime.kernel_load_end_hook, HookManager.init_handle), (knobs.runtime.kernel_unload_hook, HookManager.destroy_handle),
            (knobs.runtime.launch_enter_hook, HookManager.enter), (knobs.runtime.launch_exit_hook, HookManager.exit),
        )  # fmt: skip
        for chain, function in places:
            is_there = function in getattr(chain, "calls", ())
            if HookManager.active_hooks and not is_there:
                chain.add(function)
            elif not HookManager.active_hooks and is_there:
                chain.remove(function)

    @staticmethod
    def activate(session=None):
        for number in HookManager._sessions(session):
            for hook in HookManager.session_hooks.get(number, {}):
                HookManager.session_hooks[number][hook] = True
        HookManager._refresh()

    @staticmethod
    def deactivate(session=None):
        for number in HookManager._sessions(session):
            for hook in HookManager.session_hooks.get(number, {}):
                HookManager.session_hooks[number][hook] = False
        HookManager._refresh()

    @staticmethod
    def register(hook, session):
        HookManager.session_hooks[session][hook] = True
        HookManager._refresh()

    @staticmethod
    def unregister(session=None):
        for number in HookManager._sessions(session):
            HookManager.session_hooks.pop(number, None)
        HookManager._refresh()
