"""Walking over nested arguments; packages use these two."""


def get_iterable_path(iterable, path):
    """The element at a path of indices."""
    for index in path:
        iterable = iterable[index]
    return iterable


def find_paths_if(iterable, predicate):
    """The paths of all leaves for which predicate(path, leaf) holds."""
    found = []

    def visit(path, value):
        if isinstance(value, (list, tuple)):
            for index, element in enumerate(value):
                visit((*path, index), element)
        elif predicate(path, value):
            found.append(path)

    visit((), iterable)
    return found
