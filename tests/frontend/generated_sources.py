"""Random programs, seeded: kernels built from the grammar, laid out in every odd way, and damaged copies of them."""

import io
import random
import tokenize

NAMES = ["x", "y", "acc", "tl", "BLOCK", "pid", "_", "offs_m", "é", "match", "case", "type"]
NUMBERS = [
    "0", "1", "1_000", "0x_FF", "0b101", "0o17", "1.", ".5", "1e-3", "1_0.2_5E+1_0", "00",
    "123456789012345678901234567890",
]  # fmt: skip
STRINGS = [
    "'a'", '"b\\n"', "r'\\d'", "b'\\x00'", "'''t\n  u'''", "'a' \"b\"", "f'{x}'", "f'{x!r:>{y}}'", "rb'z'", "f'{x=}'",
    "u'\\u00e9'", "'é'", "f'a{{b}}{x[0]:.2f}' 'c'",
]  # fmt: skip
BINARY = ["+", "-", "*", "/", "//", "%", "@", "<<", ">>", "&", "|", "^", "**"]
COMPARE = ["<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"]
AUGMENTED = ["+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", "<<=", ">>=", "**="]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.brackets = 0

    def pick(self, items):
        return self.random.choice(items)

    def space(self):
        """Between two tokens: inside brackets the line may end."""
        if self.brackets:
            return self.pick([" "] * 8 + ["", "\n      ", "  # note )\n", "\t"]) or " "
        return self.pick([" "] * 10 + ["  ", "\t", " \\\n   "])

    def bracketed(self, opening, make, closing):
        self.brackets += 1
        text = opening + self.pick(["", "", " ", "\n        "]) + make() + self.pick(["", "", " ", "\n"]) + closing
        self.brackets -= 1
        return text

    def items(self, make, least=0):
        texts = [make() for _ in range(self.random.randint(least, 3))]
        return ", ".join(texts) + (self.pick(["", "", ","]) if texts else "")

    def expression(self, depth=3):
        if depth <= 0:
            return self.pick([self.name(), self.pick(NUMBERS), self.pick(STRINGS), self.pick(["None", "True", "..."])])
        sub = lambda: self.expression(depth - self.random.randint(1, 2))  # noqa: E731
        s = self.space
        form = self.random.randint(0, 21)
        if form <= 3:
            return sub() + s() + self.pick(BINARY) + s() + sub()
        if form == 4:
            pair = lambda: s() + self.pick(COMPARE) + s() + self.primary(depth)  # noqa: E731
            return self.primary(depth) + pair() + pair()
        if form == 5:
            return self.bracketed("(", lambda: sub() + s() + self.pick(["and", "or"]) + s() + "not " + sub(), ")")
        if form == 6:
            return self.pick(["-", "+", "~", "- -"]) + self.primary(depth)
        if form == 7:
            return self.bracketed("(", lambda: sub() + s() + "if" + s() + sub() + s() + "else" + s() + sub(), ")")
        if form == 8:
            return self.bracketed("(", lambda: self.items(sub, 2), ")")
        if form == 9:
            return self.bracketed("[", lambda: self.items(lambda: self.pick(["", "*"]) + self.primary(depth)), "]")
        if form == 10:
            return self.bracketed("{", lambda: f"{self.primary(1)}: {sub()}, {self.primary(1)}: {sub()}, **x", "}")
        if form == 11:
            opening, closing = self.pick(["[]", "{}", "()"])
            element, clause = sub(), f"for {self.name()}, *{self.name()} in {self.primary(1)} if {self.primary(1)}"
            return self.bracketed(opening, lambda: f"{element} {clause}", closing)
        if form == 12:
            return self.bracketed("(", lambda: f"lambda {self.name()}, *a, k={self.primary(1)}, **q: {sub()}", ")")
        if form == 13:
            return self.bracketed("(", lambda: f"{self.name()} := {sub()}", ")")
        return self.primary(depth)

    def primary(self, depth):
        text = self.name()
        for _ in range(self.random.randint(0, 2)):
            form = self.random.randint(0, 3)
            if form == 0:
                text += "." + self.name()
            elif form == 1:
                text += self.bracketed("(", lambda: self.arguments(depth - 1), ")")
            elif form == 2:
                indices = [":, None", "...", "1:", "::2", ":x, y:z:1", "*x, 1", "x,", self.expression(depth - 1)]
                text += self.bracketed("[", lambda: self.pick(indices), "]")
        return text

    def arguments(self, depth):
        parts = [self.expression(depth) for _ in range(self.random.randint(0, 2))]
        parts += self.pick([[], ["*x"], ["k=1"], ["*x", "k=" + self.expression(depth), "**y"]])
        return ("," + self.space()).join(parts)

    def name(self):
        return self.pick(NAMES)

    def target(self):
        return self.pick(["x", "x.y", "x[0]", "x, y", "(x, *y)", "[x, y]", "x,", "x, (y, z)"])

    def simple(self):
        e = self.expression
        return self.pick([
            lambda: f"{self.target()} = {e()}",
            lambda: f"x = {self.target()} = {e()}, {e()}",
            lambda: f"x {self.pick(AUGMENTED)} {e()}",
            lambda: f"x: tl.constexpr = {e()}",
            lambda: f"(x): {e(1)}",
            lambda: e(),
            lambda: f"return {e()}, *x",
            lambda: f"assert {e()}, {e(1)}",
            lambda: "pass;" + self.pick(["", " x = 1"]),
            lambda: f"del x, y[{e(1)}]",
            lambda: "import a.b as c, d",
            lambda: "from . .x import (y as z, w,)",
            lambda: f"raise {e(1)} from x",
            lambda: "global q, r",
        ])()  # fmt: skip

    def block(self, indent, depth):
        if depth == 0 or self.random.random() < 0.1:
            return " " + self.simple() + "\n"
        inner = indent + self.pick(["    ", "  "] if indent else ["    ", "  ", "\t"])
        lines = "\n"
        for _ in range(self.random.randint(1, 3)):
            lines += self.pick(["", "", "\n", indent + "# comment\n", "\f\n"])
            lines += self.statement(inner, depth - 1)
        return lines

    def statement(self, indent, depth):
        e = self.expression
        block = lambda: self.block(indent, depth)  # noqa: E731
        if depth <= 0 or self.random.random() < 0.5:
            return indent + self.simple() + self.pick(["", "", "  # done"]) + "\n"
        return indent + self.pick([
            lambda: f"if {e()}:{block()}{indent}elif {e()}:{block()}{indent}else:{block()}",
            lambda: f"for {self.target()} in {e()}, *x:{block()}{indent}else:{block()}",
            lambda: f"while {e()}:{block()}",
            lambda: f"with x as y, {e()} as (z, w):{block()}",
            lambda: f"with (x as y, {e()}):{block()}",
            lambda: f"with ({e()}):{block()}",
            lambda: f"try:{block()}{indent}except {e(1)} as y:{block()}{indent}else:{block()}{indent}finally:{block()}",
            lambda: f"@{e(1)}\n{indent}def f(a, /, b: {e(1)} = {e(1)}, *args, k, **q) -> {e(1)}:{block()}",
            lambda: f"class C(x, m={e(1)}):\n{indent}  def m(self):{self.block(indent + '  ', depth)}",
            lambda: f"match {e(1)}:\n{indent} case [1, *_] | C(x=-1.5) as z if {e(1)}:{block()}"
            f"{indent} case _:{block()}",
        ])()  # fmt: skip

    def kernel(self):
        return f"@triton.jit\ndef kernel(x_ptr, n, BLOCK: tl.constexpr, *, w=None):{self.block('', 3)}"


def kernels(count):
    return [Generator(seed).kernel() for seed in range(count)]


def damaged(sources, count):
    """Copies with a token lost, doubled, exchanged or replaced. Most are no longer Python."""
    rng = random.Random(0)
    pieces = []
    for source in sources:
        # Each token with the space before it, so that the pieces joined are the source again.
        lines = [0]
        for line in source.splitlines(keepends=True):
            lines.append(lines[-1] + len(line))
        ends = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(source).readline):
                if token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                    ends.append(lines[token.end[0] - 1] + token.end[1])
        except (tokenize.TokenError, IndexError):
            continue
        pieces.append([source[a:b] for a, b in zip([0, *ends], ends) if b > a])
    everything = [piece for part in pieces for piece in part]
    results = []
    for _ in range(count):
        part = list(rng.choice(pieces))
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(part))
            damage = rng.randint(0, 4)
            if damage == 0:
                del part[at]
            elif damage == 1:
                part.insert(at, part[at])
            elif damage == 2:
                part[at] = rng.choice(everything)
            elif damage == 3:
                other = rng.randrange(len(part))
                part[at], part[other] = part[other], part[at]
            else:
                part.insert(at, rng.choice(everything))
            if not part:
                part = ["x"]
        results.append("".join(part))
    return results
