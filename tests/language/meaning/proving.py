"""How a test of the meaning says what it shows: a kernel that proves its types and stores 1, or one that is refused with certain words."""

import numpy as np
import pytest
import triton


def proved(engine, kernel, *arguments, **constants):
    """The kernel's own static asserts hold, and it ran to its end: there it stores 1 to the pointer passed last."""
    out = engine.zeros(1, "int32")
    kernel[(1,)](*arguments, out, **constants)
    assert engine.numpy(out)[0] == 1


def computed(engine, kernel, count, type_name, *arguments, **constants):
    """What the kernel stores to the pointer passed last."""
    out = engine.empty(count, type_name)
    kernel[(1,)](*arguments, out, **constants)
    return engine.numpy(out)


def refused(engine, kernel, *arguments, words, error=None, **constants):
    """The launch is an error of the language (or of the class given) whose text holds each of the words; the text is returned."""
    with pytest.raises(error or triton.TritonError) as caught:
        kernel[(1,)](*arguments, **constants)
    text = str(caught.value)
    for word in [words] if isinstance(words, str) else words:
        assert word in text, f"{word!r} is not in: {text}"
    return text


def counting(engine, type_name="int32", count=16):
    """0, 1, 2, ... of a type."""
    return engine.array(np.arange(count), type_name)
