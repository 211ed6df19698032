"""Makes small random kernels on int32 tiles and says what they must compute.

Integers wrap, so that every result is exact whatever the order of evaluation, and any difference is a bug. The text of the
kernel and its meaning in NumPy grow side by side: each step appends a statement and computes its value.
"""

import math

import numpy as np

I32 = np.int32
LARGEST = 8192  # elements of a tile


class RandomKernel:
    def __init__(self, seed, odd):
        self.rng = np.random.default_rng(seed)
        self.odd = odd  # shapes that are not powers of two, too
        self.lines = []
        self.values = []  # (name, NumPy value)
        self.inputs = []
        self.outputs = []
        self.flag = int(self.rng.integers(0, 5))
        for _ in range(3):
            self._input()
        for _ in range(int(self.rng.integers(6, 14))):
            self.rng.choice([self._binary, self._binary, self._binary, self._where, self._reduce, self._reshape, self._transpose,
                             self._expand, self._cast, self._loop, self._branch, self._unary])()  # fmt: skip
        for name, value in self.values[-4:]:
            self._output(name, value)

    # ---- The text

    def source(self):
        parameters = [f"in{i}" for i in range(len(self.inputs))] + [f"out{i}" for i in range(len(self.outputs))] + ["flag"]
        body = "\n".join("    " + line for line in self.lines)
        return (
            "import triton\nimport triton.language as tl\n\n\n@triton.jit\n" f"def kernel({', '.join(parameters)}):\n{body}\n"
        )

    def _emit(self, expression, value):
        name = f"v{len(self.values)}"
        self.lines.append(f"{name} = {expression}")
        self.values.append((name, value.astype(I32)))

    @staticmethod
    def _offsets(shape):
        """The row-major offsets of a tile, as an expression."""
        terms, stride = [], 1
        for axis in reversed(range(len(shape))):
            index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
            lanes = f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")
            terms.append(f"{lanes} * {stride}" if stride != 1 else lanes)
            stride *= shape[axis]
        return " + ".join(reversed(terms))

    # ---- Choices

    def _extent(self):
        largest = 7 if self.rng.integers(4) == 0 else 4  # a few longer than any vector
        return int(self.rng.integers(1, 2**largest + 4)) if self.odd else 2 ** int(self.rng.integers(0, largest + 1))

    def _any(self, rank=None):
        candidates = [v for v in self.values if rank is None or v[1].ndim == rank]
        return candidates[int(self.rng.integers(len(candidates)))] if candidates else None

    def _pair(self):
        """Two operands that broadcast together."""
        name, value = self._any()
        others = [v for v in self.values if v[1].ndim == value.ndim and all(a == b or 1 in (a, b) for a, b in zip(v[1].shape, value.shape))]
        other = others[int(self.rng.integers(len(others)))]
        if math.prod(np.broadcast_shapes(value.shape, other[1].shape)) > LARGEST:
            other = (name, value)
        return (name, value), other

    # ---- Statements

    def _input(self):
        shape = tuple(self._extent() for _ in range(int(self.rng.integers(1, 4))))
        while math.prod(shape) > LARGEST:
            shape = shape[1:]
        value = self.rng.integers(-(2**31), 2**31, shape).astype(I32)
        self._emit(f"tl.load(in{len(self.inputs)} + {self._offsets(shape)})", value)
        self.inputs.append(value)

    def _output(self, name, value):
        if value.ndim == 0:
            self.lines.append(f"tl.store(out{len(self.outputs)}, {name})")
        else:
            self.lines.append(f"tl.store(out{len(self.outputs)} + {self._offsets(value.shape)}, {name})")
        self.outputs.append(value)

    def _binary(self):
        (a, x), (b, y) = self._pair()
        operation = self.rng.choice(["+", "-", "*", "&", "|", "^", "minimum", "maximum", "<<", "//"])
        with np.errstate(all="ignore"):
            if operation == "minimum" or operation == "maximum":
                self._emit(f"tl.{operation}({a}, {b})", getattr(np, operation)(x, y))
            elif operation == "<<":
                self._emit(f"{a} << ({b} & 7)", x << (y & 7))
            elif operation == "//":
                divisor = (y & 15) + 1
                quotient = np.abs(x.astype(np.int64)) // divisor * np.sign(x.astype(np.int64))
                self._emit(f"{a} // (({b} & 15) + 1)", quotient)
            else:
                function = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
                self._emit(f"{a} {operation} {b}", function[operation](x, y))

    def _unary(self):
        a, x = self._any()
        with np.errstate(over="ignore"):
            self._emit(*((f"-{a}", -x) if self.rng.integers(2) else (f"~{a} + 3", ~x + I32(3))))

    def _where(self):
        (a, x), (b, y) = self._pair()
        comparison, function = [("<", np.less), (">=", np.greater_equal), ("==", np.equal)][int(self.rng.integers(3))]
        self._emit(f"tl.where({a} {comparison} {b}, {a}, {b})", np.where(function(x, y), x, y))

    def _reduce(self):
        a, x = self._any()
        if x.ndim == 0:
            return
        axis = int(self.rng.integers(x.ndim))
        operation = self.rng.choice(["sum", "max", "min", "argmax", "argmin", "xor_sum"])
        if operation == "xor_sum":
            value = np.bitwise_xor.reduce(x, axis=axis)
        elif operation == "sum":
            value = x.sum(axis=axis, dtype=I32)
        else:
            value = getattr(np, operation)(x, axis=axis)
        keep = bool(self.rng.integers(2)) and operation != "xor_sum"
        if keep:
            value = np.expand_dims(value, axis)
        self._emit(f"tl.{operation}({a}, axis={axis}{', keep_dims=True' if keep else ''})", np.asarray(value))

    def _reshape(self):
        a, x = self._any()
        if x.ndim == 0:
            return
        factors = [f for f in range(1, x.size + 1) if x.size % f == 0]
        first = int(self.rng.choice(factors))
        shape = [(x.size,), (first, x.size // first), (1, first, x.size // first)][int(self.rng.integers(3))]
        self._emit(f"tl.reshape({a}, {shape})", x.reshape(shape))

    def _transpose(self):
        a, x = self._any()
        if x.ndim < 2:
            return
        order = tuple(int(axis) for axis in self.rng.permutation(x.ndim))
        self._emit(f"tl.permute({a}, {order})", x.transpose(order))

    def _expand(self):
        found = self._any(rank=1)
        if found is None or found[1].size > 64:
            return
        a, x = found
        extent = self._extent()
        if self.rng.integers(2):
            self._emit(f"tl.broadcast_to({a}[:, None], ({x.size}, {extent}))", np.broadcast_to(x[:, None], (x.size, extent)))
        else:
            self._emit(f"{a}[None, :] + tl.arange(0, {extent})[:, None]", x[None, :] + np.arange(extent, dtype=I32)[:, None])

    def _cast(self):
        a, x = self._any()
        name = self.rng.choice(["int8", "uint8", "int16", "int64", "uint32"])
        self._emit(f"({a}.to(tl.{name}) + 1).to(tl.int32)", (x.astype(name) + np.dtype(name).type(1)).astype(I32))

    def _loop(self):
        a, x = self._any()
        count = int(self.rng.integers(0, 4))
        name = f"v{len(self.values)}"
        self.lines += [f"{name} = {a} + 0", f"for i in range(flag, flag + {count}):", f"    {name} = {name} * 3 + {a} + i"]
        value = x.copy()
        with np.errstate(over="ignore"):
            for i in range(self.flag, self.flag + count):
                value = value * I32(3) + x + I32(i)
        self.values.append((name, value.astype(I32)))

    def _branch(self):
        a, x = self._any()
        name = f"v{len(self.values)}"
        self.lines += ["if flag > 2:", f"    {name} = {a} + flag", "else:", f"    {name} = {a} ^ 21845"]
        with np.errstate(over="ignore"):
            value = x + I32(self.flag) if self.flag > 2 else x ^ I32(21845)
        self.values.append((name, value.astype(I32)))
