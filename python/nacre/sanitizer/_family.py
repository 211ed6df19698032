"""All launches of a kernel that meet stated conditions, as C++ takes them (sanitizer/StaticCheck.h: LaunchFamily).

    grid[0] == cdiv(n, BLOCK); x.numel == n; out.numel == n; n <= 2**30

Conditions are comparisons of whole numbers, with + - * and // and cdiv by numbers. Names are the kernel's arguments; `x.numel` counts the
elements of an array, which lie one after the other; grid[1] and grid[2] are 1 where nothing is said of them; constexprs and arguments that the compiled kernel takes for constants have their values.
What is said to be equal to a name, a grid's extent or an array's size is put in its place."""

import ast
import itertools
import random
import re

WIDEST = 1 << 60
LONGEST = (1 << 31) - 1  # extent of a grid


class Family:
    """`text`: the conditions, with semicolons between. `signature`: argument -> type as the compiled kernel has it. `constants`: argument ->
    value of those it does not get. `sizes`: argument -> (the first argument that is the same array, bytes of an element)."""

    def __init__(self, text, signature, constants, sizes):
        self.text = "; ".join(part.strip() for part in text.split(";") if part.strip())
        self.constants = {name: value for name, value in constants.items() if isinstance(value, int)}
        self.slots = [row for name, type in signature.items() for row in _flat(name, type)]
        self.sizes = sizes
        self.symbols = []  # (name, low, high)
        self.definitions = {}  # name -> polynomial
        self.conditions = []
        self.helpers = []  # (symbol, dividend, divisor, whether it is rounded up) of quotients
        self.comparisons = []
        for part in filter(None, self.text.split("; ")):
            self._read(part)
        mentioned = {_name(part) for sides in self.comparisons for side in (sides[0], sides[2]) for part in ast.walk(side)}
        for axis in ("grid[1]", "grid[2]"):
            if axis not in self.definitions and axis not in mentioned:
                self.definitions[axis] = _number(1)
                self.text += f"{'; ' if self.text else ''}{axis} == 1"
        for left, operator, right in self.comparisons:
            self._compare(self._polynomial(left), operator, self._polynomial(right))
        self.grid = [self._named(f"grid[{axis}]") for axis in range(3)]
        for extent in self.grid:  # of launches that run something
            self._require(_sum(extent, _number(-1)))
            self._require(_sum(_number(LONGEST), extent, -1))

    def _read(self, text):
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise ValueError(f"--for-all: {text!r} is no condition") from None
        if not isinstance(node, ast.Compare):
            raise ValueError(f"--for-all: {text!r} compares nothing")
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:]):
            name = _name(left) and self._known(_name(left))
            if isinstance(operator, ast.Eq) and name and name not in self.definitions and name not in self.constants:
                self.definitions[name] = None  # not in terms of itself
                self.definitions[name] = self._polynomial(right)
            else:
                self.comparisons.append((left, type(operator), right))

    def _known(self, name):
        """The name by which it is known: an array passed twice has one size."""
        base = name.removesuffix(".numel")
        if name != base and base in self.sizes:
            return self.sizes[base][0] + ".numel"
        if re.fullmatch(r"grid\[[012]\]", name) or name in self.constants or any(name == slot and type[0] != "*" for slot, type in self.slots):
            return name
        known = [slot for slot, type in self.slots if type[0] != "*"] + [f"{array}.numel" for array in self.sizes]
        raise ValueError(f"--for-all: there is no {name}; there are {', '.join([*known, *self.constants, 'grid[0]'])}")

    def _compare(self, left, operator, right):
        if operator in (ast.Lt, ast.LtE):
            left, right = right, left
        elif operator not in (ast.Gt, ast.GtE, ast.Eq):
            raise ValueError("--for-all: conditions are ==, <, <=, > and >=")
        difference = _sum(left, right, -1)
        self._require(_sum(difference, _number(-1)) if operator in (ast.Lt, ast.Gt) else difference)
        if operator is ast.Eq:
            self._require(_sum({}, difference, -1))

    def _require(self, polynomial):
        self.conditions.append(polynomial)

    def _symbol(self, name, low, high):
        self.symbols.append((name, low, high))
        return {(len(self.symbols) - 1,): 1}

    def _named(self, name):
        name = self._known(name)
        if name in self.constants:
            return _number(int(self.constants[name]))
        if name not in self.definitions:
            low, high = (1, LONGEST) if name.startswith("grid[") else (0, WIDEST) if name.endswith(".numel") else (-WIDEST, WIDEST)
            self.definitions[name] = self._symbol(name, low, high)
        if self.definitions[name] is None:
            raise ValueError(f"--for-all: {name} is said to be equal to something made of itself")
        return self.definitions[name]

    def _polynomial(self, node):
        name = _name(node)
        if name:
            return self._named(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return _number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return _sum({}, self._polynomial(node.operand), -1)
        if isinstance(node, ast.Call) and _name(node.func) in ("cdiv", "tl.cdiv", "triton.cdiv") and len(node.args) == 2:
            return self._quotient(node.args[0], node.args[1], up=True)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.FloorDiv):
                return self._quotient(node.left, node.right, up=False)
            left, right = self._polynomial(node.left), self._polynomial(node.right)
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return _sum(left, right, 1 if isinstance(node.op, ast.Add) else -1)
            if isinstance(node.op, ast.Mult):
                return _product(left, right)
            if isinstance(node.op, ast.Pow) and set(left) | set(right) <= {()}:
                return _number(left.get((), 0) ** right.get((), 0))
        raise ValueError(f"--for-all: {ast.unparse(node)!r} is not understood: there are + - * // and cdiv of whole numbers")

    def _quotient(self, dividend, divisor, up):
        dividend, divisor = self._polynomial(dividend), self._polynomial(divisor)
        if set(divisor) != {()} or divisor[()] <= 0:
            raise ValueError("--for-all: // and cdiv are by positive numbers")
        divisor = divisor[()]
        result = self._symbol("", -WIDEST, WIDEST)
        self.helpers.append((len(self.symbols) - 1, dividend, divisor, up))
        slack = _sum(_sum({}, result, divisor), dividend, -1) if up else _sum(dividend, result, -divisor)  # 0 to divisor - 1
        self._require(slack)
        self._require(_sum(_number(divisor - 1), slack, -1))
        return result

    def native(self):
        """What _core.static_check takes."""
        slots, places, arrays = [], [], []
        names = list(dict.fromkeys(first for first, _ in self.sizes.values()))
        for name, type in self.slots:
            is_array = name in self.sizes
            places.append(names.index(self.sizes[name][0]) if is_array else -1)
            slots.append([] if type.startswith("*") else _listed(self._named(name)))
        for name in names:
            size = self.definitions.get(f"{name}.numel")
            arrays.append((name, None if size is None else _listed(_sum({}, size, self.sizes[name][1]))))
        grid = tuple(map(_listed, self.grid))
        return list(self.symbols), [_listed(condition) for condition in self.conditions], grid, slots, places, arrays

    def examples(self, launched, multiples, count=48):
        """Some launches of the family: {name: number}, with those of `multiples` as its arguments are specialized, and the numbers of
        `launched` among what is tried. Always the same ones."""
        dice = random.Random(0)
        near = sorted({1, 2, 3, 5, 16, 17, 33, *launched, *(value + step for value in self.constants.values() if value > 1 for step in (-1, 0, 1))})
        free = [i for i, (name, *_) in enumerate(self.symbols) if name]
        found, tried = [], set()
        for attempt in itertools.count():
            if attempt == 40 * count or len(found) == count:
                return found
            values = [0] * len(self.symbols)
            for i in free:
                name, low, high = self.symbols[i]
                step = multiples.get(name, 1)
                number = dice.choice(near)
                values[i] = max(low, min(high, max(1, number // step) * step))
                if values[i] == 1 and any(name == slot for slot, _ in self.slots):
                    values[i] = 2  # 1 is a constant of another compiled kernel
            for i, dividend, divisor, up in self.helpers:
                value = _value(dividend, values)
                values[i] = -(-value // divisor) if up else value // divisor
            if tuple(values) in tried or any(_value(condition, values) < 0 for condition in self.conditions):
                continue
            tried.add(tuple(values))
            found.append({name: _value(polynomial, values) for name, polynomial in self.definitions.items()})


def _flat(name, type):
    if isinstance(type, (tuple, list)):
        return [row for i, part in enumerate(type) for row in _flat(f"{name}[{i}]", part)]
    return [] if type == "constexpr" else [(name, type)]


def _name(node):
    """x, x.numel, grid[0], t[1]; None for what is no name."""
    if isinstance(node, ast.Name) or (isinstance(node, (ast.Attribute, ast.Subscript)) and _name(node.value)):
        return ast.unparse(node)
    return None


def _number(value):
    return {(): value}


def _sum(a, b, factor=1):
    total = dict(a)
    for symbols, value in b.items():
        total[symbols] = total.get(symbols, 0) + factor * value
    return {symbols: value for symbols, value in total.items() if value}


def _product(a, b):
    total = {}
    for (left, x), (right, y) in itertools.product(a.items(), b.items()):
        total = _sum(total, {tuple(sorted(left + right)): x * y})
    return total


def _value(polynomial, values):
    total = 0
    for symbols, factor in polynomial.items():
        for symbol in symbols:
            factor *= values[symbol]
        total += factor
    return total


def _listed(polynomial):
    return [(factor, symbols) for symbols, factor in polynomial.items()]
