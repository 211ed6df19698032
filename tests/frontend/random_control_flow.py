"""Small random kernels of integer control flow: branches, loops, break, continue, return, helpers. The text is also plain
Python, with the same meaning: only operators on which the two agree are used, and every name is bound before it is read."""

import random

NAMES = ["a", "b", "c", "d"]


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.budget = 0
        self.counters = 0

    def expression(self, names, depth=0):
        kind = self.random.randrange(6 if depth < 2 else 2)
        if kind == 0:
            return str(self.random.randrange(-3, 9))
        if kind <= 2:
            return self.random.choice(names)
        operator = self.random.choice(["+", "-", "*", "&", "|", "^"])
        return f"({self.expression(names, depth + 1)} {operator} {self.expression(names, depth + 1)}) & 127"

    def condition(self, names):
        # At least one side is a name: of constants alone it would be constexpr, which is tested elsewhere.
        operator = self.random.choice(["<", "<=", "==", "!=", ">", ">="])
        simple = f"({self.random.choice(names)} & 15) {operator} {self.random.randrange(-1, 14)}"
        choice = self.random.randrange(5)
        if choice == 0:
            return f"{simple} and ({self.random.choice(names)} & 3) != 1"
        if choice == 1:
            return f"not ({simple})"
        return simple

    def block(self, indent, names, loop, depth, may_return):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent, names, loop, depth, may_return)

    def statement(self, indent, names, loop, depth, may_return):
        self.budget -= 1
        pad = "    " * indent
        choices = ["assign", "assign", "assign", "augment"]
        if depth < 3 and self.budget > 0:
            choices += ["if", "if", "ifelse", "for", "for", "while", "static", "ternary"]
        if loop:
            choices += ["break", "continue"]
        if may_return:
            choices += ["return"]
        kind = self.random.choice(choices)
        say = lambda text: self.lines.append(pad + text)
        if kind == "assign":
            say(f"{self.random.choice(names)} = {self.expression(names)} + 0 * a")
        elif kind == "augment":
            say(f"{self.random.choice(names)} += {self.expression(names)}")
        elif kind == "ternary":
            first, second = self.random.choice(names), self.random.choice(names)
            say(f"{self.random.choice(names)} = {first} if {self.condition(names)} else {second} + 1")
        elif kind in ("if", "ifelse"):
            say(f"if {self.condition(names)}:")
            self.block(indent + 1, names, loop, depth + 1, may_return)
            if kind == "ifelse" and self.random.randrange(2):
                say(f"elif {self.condition(names)}:")
                self.block(indent + 1, names, loop, depth + 1, may_return)
            if kind == "ifelse":
                say("else:")
                self.block(indent + 1, names, loop, depth + 1, may_return)
        elif kind in ("for", "static"):
            self.counters += 1
            index = f"i{self.counters}"
            if kind == "static":
                say(f"for {index} in tl.static_range({self.random.randrange(4)}):")
            else:
                bound = f"{self.random.choice(names)} & 7"
                say(f"for {index} in range({self.random.choice([bound, f'0, {bound}, 2', f'{bound}, -2, -1'])}):")
            self.block(indent + 1, names, True, depth + 1, may_return)
            self.lines.append("    " * (indent + 1) + f"{self.random.choice(NAMES)} += {index}")
        elif kind == "while":
            self.counters += 1
            guard = f"w{self.counters}"
            say(f"{guard} = 0")
            say(f"while {guard} < 5 and {self.condition(names)}:")
            self.lines.append("    " * (indent + 1) + f"{guard} += 1")
            self.block(indent + 1, names, True, depth + 1, may_return)
        elif kind in ("break", "continue"):
            say(f"if {self.condition(names)}:")
            self.lines.append("    " * (indent + 1) + kind)
        elif kind == "return":
            say(f"if {self.condition(names)}:")
            self.lines.append("    " * (indent + 1) + f"return {self.expression(names)} + 0 * a, b")

    def function(self):
        self.budget = 14
        self.lines.append("@triton.jit")
        self.lines.append("def helper(a, b):")
        self.lines.append("    c = a ^ b")
        self.lines.append("    d = 3")
        self.block(1, NAMES, False, 0, True)
        self.block(1, NAMES, False, 0, True)
        self.lines.append("    return (a + b * 3 + c * 5 + d * 7) & 1023, c")


def kernel(seed):
    """The text of a function `helper(a, b)` that returns two integers, and of a kernel that stores them."""
    writer = Writer(seed)
    writer.lines += ["import triton", "import triton.language as tl", "", ""]
    writer.function()
    writer.lines += ["", "", "@triton.jit", "def kernel(out_ptr, a, b):", "    x, y = helper(a, b)",
                     "    tl.store(out_ptr, x)", "    tl.store(out_ptr + 1, y)", ""]
    return "\n".join(writer.lines)


def run_as_python(text, a, b):
    """What the helper returns when CPython runs it."""

    class Language:
        static_range = range

    source = text.replace("import triton.language as tl", "").replace("import triton", "").replace("@triton.jit", "")
    scope = {"tl": Language}
    exec(source, scope)
    return scope["helper"](a, b)
