"""Names that packages around Triton take from triton.runtime.jit."""

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"


def get_full_name(fn):
    return f"{fn.__module__}.{fn.__qualname__}"


def convert_to_tuple_if_list(item):
    """Lists, and lists in them, as tuples."""
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, (list, tuple)) and not hasattr(item, "_fields") else item


def get_def_line_number(raw_src, starting_line_number):
    """The line of `def`, which decorators may stand above."""
    for place, line in enumerate(raw_src):
        if line.lstrip().startswith(("def ", "async def ")):
            return starting_line_number + place
    return starting_line_number


def get_def_col_number(raw_src_str):
    """The column of `def`."""
    for line in raw_src_str.splitlines():
        if line.lstrip().startswith(("def ", "async def ")):
            return len(line) - len(line.lstrip())
    return 0
