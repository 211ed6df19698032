"""A kernel's IR, boiled down to what torch.compile looks for in it: which arguments may be read and which may be written.

The compiler has found that out already. It is told in the form torch walks over: a function with the kernel's arguments and one
load or store for each that is accessed. Stores are there twice, so that nothing is fused into them.
"""

import itertools


class Value:
    def __init__(self, number):
        self._number = number

    def id(self):
        return self._number


class Region:
    def __init__(self, number):
        self._number = number

    def id(self):
        return self._number


class Block:
    def __init__(self, number, arguments, region):
        self._number = number
        self._arguments = arguments
        self._region = region

    def id(self):
        return self._number

    def get_num_arguments(self):
        return len(self._arguments)

    def get_argument(self, index):
        return self._arguments[index]

    def get_parent(self):
        return self._region


class Operation:
    def __init__(self, name, operands=(), block=None, regions=(), attributes=None):
        self._name = name
        self._operands = operands
        self._block = block
        self._regions = regions
        self._attributes = attributes or {}

    def get_name(self):
        return self._name

    def get_num_operands(self):
        return len(self._operands)

    def get_operand(self, index):
        return self._operands[index]

    def get_num_results(self):
        return 0

    def get_result(self, index):
        raise IndexError(index)

    def get_num_regions(self):
        return len(self._regions)

    def get_region(self, index):
        return self._regions[index]

    def get_block(self):
        return self._block

    def get_str_attr(self, name):
        return self._attributes.get(name)

    get_flat_symbol_ref_attr = get_bool_attr = get_str_attr


class Module:
    """The summary of a kernel with `count` arguments; `read` and `written` are sets of bits."""

    def __init__(self, name, count, read, written):
        numbers = itertools.count(1)
        region = Region(next(numbers))
        arguments = [Value(next(numbers)) for _ in range(count)]
        body = Block(next(numbers), arguments, region)
        self._operations = []
        for index, argument in enumerate(arguments):
            if index >= 64 or read >> index & 1:
                self._operations.append(Operation("tt.load", (argument,), body))
            if index >= 64 or written >> index & 1:
                self._operations += [Operation("tt.store", (argument,), body)] * 2
        self._operations.append(Operation("tt.return", (), body))
        self._operations.append(Operation("tt.func", (), None, (region,), {"sym_name": name}))
        self._text = f"{name}: {count} arguments, reads {read & (1 << count) - 1:#b}, writes {written & (1 << count) - 1:#b}"

    def verify(self):
        return True

    def walk(self, callback):
        for operation in self._operations:
            callback(operation)

    def __str__(self):
        return self._text
