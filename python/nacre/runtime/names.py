"""Names that packages around Triton take from triton.runtime.jit."""

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"


def get_full_name(fn):
    return f"{fn.__module__}.{fn.__qualname__}"


def convert_to_tuple_if_list(item):
    """Lists, and lists in them, as tuples."""
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, (list, tuple)) and not hasattr(item, "_fields") else item


def compute_cache_key(kernel_key_cache, specialization, options):
    """Names what a kernel is compiled to for a specialization, with functions by their sources; kernel_key_cache keeps the names."""
    key = tuple(specialization), str(options)
    if key not in kernel_key_cache:
        kernel_key_cache[key] = str(_by_source(specialization)) + str(options)
    return kernel_key_cache[key]


def _by_source(value):
    from .jit import JITCallable

    if isinstance(value, JITCallable):
        return value.cache_key
    if isinstance(value, (list, tuple)):
        items = map(_by_source, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def serialize_specialization_data(name, signature, constants, attrs, options, key, target):
    """The specialization of a kernel as JSON: what `jit_post_compile_hook` gives and `JITFunction.preload` takes."""
    from .specialization_data import as_text

    return as_text(name, key, signature, constants, attrs, dict(vars(options)), dict(vars(target)))


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
