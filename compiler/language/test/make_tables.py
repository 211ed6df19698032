"""Makes the tables of facts that the tests check against: what CPython says of constexpr operators, and which common type
Triton's promotion rules give. Run it in a Python with triton installed; the tables are kept in the repository.

    python make_tables.py
"""
import itertools
import operator
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def constexpr_table():
    numbers = [0, 1, -7, 3, 2**63, -10**30, True, -0.0, 0.5, -2.5, 7.0, 1e300, 123456.789]
    operators = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
        "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
        ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
        ">=": operator.ge
    }
    sequences = ["", "it's", (), (1, ), (1, (2, "x"), None), 0, 2, None]

    def cases():
        for symbol, function in operators.items():
            for lhs, rhs in itertools.product(numbers, numbers):
                if symbol in ("**", "<<") and abs(rhs) > 100:
                    continue
                yield symbol, function, lhs, rhs
            for lhs, rhs in itertools.product(sequences, sequences):
                if (isinstance(lhs, (str, tuple)) or isinstance(rhs, (str, tuple))) and not (symbol == "%" and isinstance(lhs, str)):
                    yield symbol, function, lhs, rhs
        for lhs, rhs in [("%d", 3), ("%5d|%-5d|%05d", (3, -4, 5)), ("%x %X %#x %o", (255, 255, 255, 8)), ("%.3f %e %g", (2.5, 12345.678, 1e-10)),
                         ("%s and %r", ("a", "b")), ("100%%", ()), ("%8.2f", 3.14159), ("%+d % d", (1, 2)), ("%d", 2.9), ("%s", (1, 2)), ("%d %d", 1)]:
            yield "%", operators["%"], lhs, rhs
        for item, container in itertools.product([1, 2.5, "a", None, 7], [(), (1, 2.5), (None, "a"), "cat"]):
            yield "in", lambda a, b: a in b, item, container

    with open(os.path.join(HERE, "constexpr_cases.txt"), "w") as table:
        for symbol, function, lhs, rhs in cases():
            try:
                result = function(lhs, rhs)
                text = "error" if isinstance(result, complex) else repr(result)
            except Exception:  # Python refuses, and so must we
                text = "error"
            table.write("\t".join([symbol, repr(lhs), repr(rhs), text]) + "\n")


def promotion_table():
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.language as tl
    from triton.language.semantic import TritonSemantic
    semantic = TritonSemantic(None)
    types = [tl.int1, tl.int8, tl.int16, tl.int32, tl.int64, tl.uint8, tl.uint16, tl.uint32, tl.uint64, tl.float8e4nv, tl.float8e5, tl.float8e4b15,
             tl.float8e4b8, tl.float8e5b16, tl.float16, tl.bfloat16, tl.float32, tl.float64]
    numbers = [True, 1, -1, 300, 2**31, 2**40, 2**63, 1.5, 1e300, 1e-40, float("inf")]

    def common(lhs, lhs_is_number, rhs, rhs_is_number, division):
        try:
            return str(semantic.computation_type_impl(lhs, lhs_is_number, rhs, rhs_is_number, division))
        except Exception:  # no common type
            return "error"

    with open(os.path.join(HERE, "promotion_cases.txt"), "w") as table:
        for lhs, rhs in itertools.product(types, types):
            table.write(f"{lhs}\t{rhs}\t{common(lhs, False, rhs, False, False)}\t{common(lhs, False, rhs, False, True)}\n")
        for lhs, rhs in itertools.product(types, numbers):
            kind = semantic.to_tensor_type(rhs)
            table.write(f"{lhs}\t{rhs!r}\t{common(lhs, False, kind, True, False)}\t{common(lhs, False, kind, True, True)}\n")


if __name__ == "__main__":
    constexpr_table()
    promotion_table()
