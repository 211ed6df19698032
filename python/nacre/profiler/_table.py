"""A table of a profile's frames by columns, for programs that read `graph.dataframe`: pandas' where it is installed, a small one else."""


class Column(list):
    """The values of one column."""

    def tolist(self):
        return list(self)

    @property
    def values(self):
        return list(self)

    def sum(self):
        return sum(value for value in self if value is not None and value == value)

    def max(self):
        return max((value for value in self if value is not None and value == value), default=float("nan"))

    def __eq__(self, other):
        return Column(value == other for value in self) if not isinstance(other, list) else list.__eq__(self, other)

    __hash__ = None


class Table:
    """Columns by name."""

    def __init__(self, columns):
        self._columns = {name: Column(values) for name, values in columns.items()}

    @property
    def columns(self):
        return list(self._columns)

    def __getitem__(self, name):
        if isinstance(name, list) and len(name) == len(self) and all(isinstance(flag, bool) for flag in name):
            return Table({column: [value for value, keep in zip(values, name) if keep] for column, values in self._columns.items()})
        return self._columns[name]

    def __setitem__(self, name, values):
        self._columns[name] = Column(values)

    def __contains__(self, name):
        return name in self._columns

    def __len__(self):
        return len(next(iter(self._columns.values()), ()))

    @property
    def loc(self):
        return self

    @property
    def iloc(self):
        return [{name: values[i] for name, values in self._columns.items()} for i in range(len(self))]


def table(columns):
    try:
        import pandas
    except ImportError:
        return Table(columns)
    return pandas.DataFrame(columns)
