"""Constants that a kernel was compiled with and that change while the process runs: the next launch has the new ones."""

import sys
import types

import numpy as np
import pytest

import nacre
import nacre.language as tl

settings = types.ModuleType("settings")
settings.inner = types.ModuleType("settings.inner")
sys.modules["settings_for_a_test"] = settings
SIZE = 1
LIST = [1]
TABLE = {"size": 1}


class Config:
    size = 1


class Derived(Config):
    pass


class Stateful:
    def __init__(self, size):
        self.size = size


INSTANCE = tl.constexpr(Stateful(1))


def helper():
    return SIZE


@nacre.constexpr_function
def from_global():
    return SIZE


@nacre.constexpr_function
def through_helper():
    return helper() + 0


@nacre.constexpr_function
def from_module():
    return settings.inner.size


@nacre.constexpr_function
def from_import():
    import settings_for_a_test

    return settings_for_a_test.size


@nacre.constexpr_function
def from_class():
    return Derived.size


@nacre.constexpr_function
def from_list():
    return LIST[0]


@nacre.constexpr_function
def from_table():
    return [TABLE[name] for name in ("size",)][0]


@nacre.constexpr_function
def from_argument(instance):
    return instance.size


@nacre.jit
def module_kernel(out):
    tl.store(out, settings.size)


@nacre.jit
def inner_module_kernel(out):
    tl.store(out, settings.inner.size)


@nacre.jit
def class_kernel(out):
    tl.store(out, Config.size)


@nacre.jit
def derived_kernel(out):
    tl.store(out, Derived.size)


@nacre.jit
def instance_kernel(out):
    tl.store(out, INSTANCE.size)


@nacre.jit
def stored_by_helper(out):
    tl.store(out, settings.size)


@nacre.jit
def helper_kernel(out):
    stored_by_helper(out)


def calling(function):
    @nacre.jit
    def kernel(out):
        tl.store(out, function())

    return kernel


@nacre.jit
def argument_kernel(out):
    tl.store(out, from_argument(INSTANCE))


def set_all(value):
    global SIZE
    SIZE = settings.size = settings.inner.size = Config.size = LIST[0] = TABLE["size"] = INSTANCE.value.size = value


KERNELS = {
    **{kernel.__name__: kernel for kernel in (module_kernel, inner_module_kernel, class_kernel, derived_kernel, instance_kernel,
                                              helper_kernel, argument_kernel)},
    **{function.__name__: calling(function) for function in (from_global, through_helper, from_module, from_import, from_class, from_list,
                                                             from_table)},
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_changed_constant_compiles_anew(name):
    kernel = KERNELS[name]
    out = np.zeros(1, np.int32)
    for value in (1, 2, 2, 300, 1):
        set_all(value)
        kernel[(1,)](out)
        assert out[0] == value
    set_all(1)
    before = nacre._core.cache_counts()
    for _ in range(3):
        kernel[(1,)](out)
    assert nacre._core.cache_counts() == before  # nothing was compiled, or looked for


@nacre.constexpr_function
def kind(value):
    return [int, float, bool].index(type(value))


def test_a_changed_type():
    """1, 1.0 and True are equal and not the same."""

    @nacre.jit
    def kernel(out):
        tl.store(out, kind(settings.size))

    out = np.zeros(1, np.int32)
    for expected, value in enumerate((1, 1.0, True)):
        settings.size = value
        kernel[(1,)](out)
        assert out[0] == expected


def test_a_changed_variable_of_an_enclosing_function():
    def make():
        value = tl.constexpr(1)

        @nacre.jit
        def kernel(out):
            tl.store(out, value)

        def set_value(new):
            nonlocal value
            value = tl.constexpr(new)

        return kernel, set_value

    kernel, set_value = make()
    out = np.zeros(1, np.int32)
    for value in (1, 2, 3, 1):
        set_value(value)
        kernel[(1,)](out)
        assert out[0] == value


def test_a_constant_that_is_gone():
    @nacre.jit
    def kernel(out):
        tl.store(out, settings.passing)

    out = np.zeros(1, np.int32)
    settings.passing = 5
    kernel[(1,)](out)
    del settings.passing
    with pytest.raises(nacre.CompilationError, match="passing"):
        kernel[(1,)](out)
    settings.passing = 6
    kernel[(1,)](out)
    assert out[0] == 6


def test_functions_of_constants_alone_are_not_called_again():
    calls = []

    @nacre.constexpr_function
    def noted(n):
        calls.append(n)
        return n + SIZE

    @nacre.constexpr_function
    def plain(n):
        return sum(i for i in range(n)) + SIZE

    from nacre.runtime.dependencies import inputs_of

    assert inputs_of(noted, (1,), {}) is None  # it uses a list
    assert {name for _, name, _ in inputs_of(plain, (1,), {})} == {"__code__", "SIZE"}
    assert inputs_of(plain, ([1],), {}) is None

    @nacre.jit
    def kernel(out):
        tl.store(out, noted(3))

    set_all(1)
    out = np.zeros(1, np.int32)
    for _ in range(3):
        kernel[(1,)](out)
    assert out[0] == 4 and calls


def test_a_function_that_launches_the_kernel_it_is_called_for():
    """It is called again at each launch, since it uses a list; the kernel that it launches is the one that asks."""
    state = [0]

    @nacre.constexpr_function
    def nested(n):
        state[0] += 1
        if state[0] % 3 == 0:
            kernel[(1,)](np.zeros(1, np.int32), N=n + 1 + state[0])
        return n

    @nacre.jit
    def kernel(out, N: tl.constexpr):
        tl.store(out, nested(N))

    out = np.zeros(1, np.int32)
    for _ in range(20):
        kernel[(1,)](out, N=5)
        assert out[0] == 5
