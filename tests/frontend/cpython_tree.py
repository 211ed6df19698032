"""CPython's syntax tree, printed as nacre-ast-dump prints ours (compiler/frontend/test/ASTDump.cpp), one line a node.

Two things are put straight: columns are counted in characters and not in bytes, and before Python 3.12 nothing inside
an f-string has a location, since CPython's own were then wrong.
"""

import ast
import struct
import sys

EXACT_F_STRINGS = sys.version_info >= (3, 12)

UNARY = {ast.Not: "not", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-"}
BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def bits(value):
    return struct.pack(">d", value).hex()


def text(value):
    return value.encode("utf-8", "surrogatepass").hex()


# For each class: our name for it, the value shown on its line, and its fields as (our name, its name).
NODES = {
    ast.Name: ("Name", lambda n: n.id, []),
    ast.Attribute: ("Attribute", lambda n: n.attr, [("value", "value")]),
    ast.Subscript: ("Subscript", None, [("value", "value"), ("index", "slice")]),
    ast.Slice: ("Slice", None, [("lower", "lower"), ("upper", "upper"), ("step", "step")]),
    ast.Call: ("Call", None, [("callee", "func"), ("argument", "args"), ("keyword", "keywords")]),
    ast.Starred: ("Starred", None, [("value", "value")]),
    ast.UnaryOp: ("UnaryOperation", lambda n: UNARY[type(n.op)], [("operand", "operand")]),
    ast.BinOp: ("BinaryOperation", lambda n: BINARY[type(n.op)], [("left", "left"), ("right", "right")]),
    ast.BoolOp: ("BooleanOperation", lambda n: "and" if isinstance(n.op, ast.And) else "or", [("value", "values")]),
    ast.Compare: (
        "Comparison",
        lambda n: ",".join(COMPARE[type(op)] for op in n.ops),
        [("left", "left"), ("comparator", "comparators")],
    ),
    ast.IfExp: ("Conditional", None, [("test", "test"), ("body", "body"), ("else", "orelse")]),
    ast.NamedExpr: ("NamedExpression", None, [("target", "target"), ("value", "value")]),
    ast.Lambda: ("Lambda", None, [("parameter", "args"), ("body", "body")]),
    ast.Tuple: ("Tuple", None, [("element", "elts")]),
    ast.List: ("List", None, [("element", "elts")]),
    ast.Set: ("Set", None, [("element", "elts")]),
    ast.Dict: ("Dictionary", None, [("key", "keys"), ("value", "values")]),
    ast.ListComp: ("Comprehension", lambda n: "list", [("key", None), ("element", "elt"), ("clause", "generators")]),
    ast.SetComp: ("Comprehension", lambda n: "set", [("key", None), ("element", "elt"), ("clause", "generators")]),
    ast.GeneratorExp: (
        "Comprehension",
        lambda n: "generator",
        [("key", None), ("element", "elt"), ("clause", "generators")],
    ),
    ast.DictComp: (
        "Comprehension",
        lambda n: "dictionary",
        [("key", "key"), ("element", "value"), ("clause", "generators")],
    ),
    ast.comprehension: (
        "clause",
        lambda n: "async" if n.is_async else "",
        [("target", "target"), ("iterable", "iter"), ("condition", "ifs")],
    ),
    ast.Await: ("Await", None, [("value", "value")]),
    ast.Yield: ("Yield", None, [("value", "value")]),
    ast.YieldFrom: ("Yield", lambda n: "from", [("value", "value")]),
    ast.FormattedValue: (
        "FormattedValue",
        lambda n: chr(n.conversion) if n.conversion >= 0 else "",
        [("value", "value"), ("format", "format_spec")],
    ),
    ast.keyword: ("keyword", lambda n: n.arg or "", [("value", "value")]),
    ast.Return: ("Return", None, [("value", "value")]),
    ast.Delete: ("Delete", None, [("target", "targets")]),
    ast.Assign: ("Assign", None, [("target", "targets"), ("value", "value")]),
    ast.AugAssign: ("AugmentedAssign", lambda n: BINARY[type(n.op)], [("target", "target"), ("value", "value")]),
    ast.AnnAssign: (
        "AnnotatedAssign",
        lambda n: "simple" if n.simple else "",
        [("target", "target"), ("annotation", "annotation"), ("value", "value")],
    ),
    ast.For: (
        "For",
        None,
        [("target", "target"), ("iterable", "iter"), ("body", "body"), ("else", "orelse")],
    ),
    ast.AsyncFor: (
        "For",
        lambda n: "async",
        [("target", "target"), ("iterable", "iter"), ("body", "body"), ("else", "orelse")],
    ),
    ast.While: ("While", None, [("test", "test"), ("body", "body"), ("else", "orelse")]),
    ast.If: ("If", None, [("test", "test"), ("body", "body"), ("else", "orelse")]),
    ast.With: ("With", None, [("item", "items"), ("body", "body")]),
    ast.AsyncWith: ("With", lambda n: "async", [("item", "items"), ("body", "body")]),
    ast.withitem: ("item", None, [("context", "context_expr"), ("target", "optional_vars")]),
    ast.Raise: ("Raise", None, [("exception", "exc"), ("cause", "cause")]),
    ast.Try: (
        "Try",
        None,
        [("body", "body"), ("handler", "handlers"), ("else", "orelse"), ("finally", "finalbody")],
    ),
    ast.ExceptHandler: ("handler", lambda n: n.name or "", [("type", "type"), ("body", "body")]),
    ast.Assert: ("Assert", None, [("test", "test"), ("message", "msg")]),
    ast.Import: ("Import", None, [("name", "names")]),
    ast.ImportFrom: ("ImportFrom", lambda n: "." * n.level + (n.module or ""), [("name", "names")]),
    ast.alias: ("import", lambda n: f"{n.name} {n.asname or ''}", []),
    ast.Global: ("Scope", lambda n: "global", [("name", "names")]),
    ast.Nonlocal: ("Scope", lambda n: "nonlocal", [("name", "names")]),
    ast.Expr: ("ExpressionStatement", None, [("value", "value")]),
    ast.Pass: ("Pass", None, []),
    ast.Break: ("Break", None, []),
    ast.Continue: ("Continue", None, []),
    ast.ClassDef: (
        "ClassDefinition",
        lambda n: n.name,
        [
            ("decorator", "decorator_list"),
            ("typeParameter", "type_params"),
            ("base", "bases"),
            ("keyword", "keywords"),
            ("body", "body"),
        ],
    ),
    ast.Match: ("Match", None, [("subject", "subject"), ("case", "cases")]),
    ast.match_case: ("case", None, [("pattern", "pattern"), ("guard", "guard"), ("body", "body")]),
}
FUNCTION_FIELDS = [
    ("decorator", "decorator_list"),
    ("typeParameter", "type_params"),
    ("parameter", "args"),
    ("returns", "returns"),
    ("body", "body"),
]
NODES[ast.FunctionDef] = ("FunctionDefinition", lambda n: n.name, FUNCTION_FIELDS)
NODES[ast.AsyncFunctionDef] = ("FunctionDefinition", lambda n: "async " + n.name, FUNCTION_FIELDS)
if hasattr(ast, "TryStar"):
    NODES[ast.TryStar] = ("Try", lambda n: "star", NODES[ast.Try][2])
if hasattr(ast, "TypeAlias"):
    NODES[ast.TypeAlias] = ("TypeAlias", None, [("name", "name"), ("typeParameter", "type_params"), ("value", "value")])
    bound = [("bound", "bound"), ("default", "default_value")]
    NODES[ast.TypeVar] = ("type parameter", lambda n: n.name, bound)
    NODES[ast.TypeVarTuple] = ("type parameter", lambda n: "*" + n.name, bound)
    NODES[ast.ParamSpec] = ("type parameter", lambda n: "**" + n.name, bound)

# Fields that hold a list even where an older Python has no such field.
LISTS = {"type_params"}


class Printer:
    def __init__(self, source):
        self.lines = []
        self.source = source.encode("utf-8", "surrogatepass").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self.ascii = source.isascii()
        self.f_string_depth = 0

    def column(self, line, offset):
        return offset if self.ascii else len(self.source[line - 1][:offset].decode("utf-8", "surrogatepass"))

    def location(self, node):
        if not hasattr(node, "lineno") or (self.f_string_depth and not EXACT_F_STRINGS):
            return "-"
        start = self.column(node.lineno, node.col_offset)
        end = self.column(node.end_lineno, node.end_col_offset)
        return f"{node.lineno}:{start}-{node.end_lineno}:{end}"

    def field(self, depth, name, value):
        if isinstance(value, list):
            for item in value:
                self.node(depth, name, item)
        else:
            self.node(depth, name, value)

    def node(self, depth, field, node):
        kind = type(node)
        if node is None:
            self.lines.append(f"{depth} {field} none")
        elif kind is str:
            self.lines.append(f"{depth} {field} {node}")
        elif kind in NODES:
            name, value, fields = NODES[kind]
            self.lines.append(f"{depth} {field} {name} {self.location(node)} {value(node) if value else ''}")
            for ours, theirs in fields:
                missing = [] if theirs in LISTS else None
                self.field(depth + 1, ours, getattr(node, theirs, missing) if theirs else missing)
        elif kind is ast.Constant:
            self.constant(depth, field, node, self.location(node))
        elif kind is ast.JoinedStr:
            self.joined(depth, field, node)
        elif kind is ast.arguments:
            self.parameters(depth, field, node)
        else:
            self.pattern(depth, field, node)

    def constant(self, depth, field, node, location):
        value = node.value
        kind, shown = {
            type(None): ("NoneLiteral", lambda: ""),
            type(...): ("EllipsisLiteral", lambda: ""),
            bool: ("BoolLiteral", lambda: "true" if value else "false"),
            int: ("IntegerLiteral", lambda: str(value)),
            float: ("FloatLiteral", lambda: bits(value)),
            complex: ("ImaginaryLiteral", lambda: bits(value.imag)),
            str: ("StringLiteral", lambda: text(value)),
            bytes: ("BytesLiteral", lambda: value.hex()),
        }[type(value)]
        self.lines.append(f"{depth} {field} {kind} {location} {shown()}")

    def joined(self, depth, field, node):
        self.lines.append(f"{depth} {field} FormattedString {self.location(node)} ")
        self.f_string_depth += 1
        pending = None  # neighbouring pieces of text are one, and an empty one is none
        for part in [*node.values, None]:
            if isinstance(part, ast.Constant):
                pending = (pending or "") + part.value
                continue
            if pending:
                self.lines.append(f"{depth + 1} part StringLiteral - {text(pending)}")
            pending = None
            if part is not None:
                self.node(depth + 1, "part", part)
        self.f_string_depth -= 1

    def parameters(self, depth, field, arguments):
        positional = arguments.posonlyargs + arguments.args
        defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
        entries = [("positional", *pair) for pair in zip(arguments.posonlyargs, defaults)]
        entries += [("regular", *pair) for pair in zip(arguments.args, defaults[len(arguments.posonlyargs) :])]
        if arguments.vararg:
            entries.append(("variadic", arguments.vararg, None))
        entries += [("keyword", *pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg:
            entries.append(("keywords", arguments.kwarg, None))
        for kind, argument, default in entries:
            self.lines.append(f"{depth} {field} {kind} {self.location(argument)} {argument.arg}")
            self.node(depth + 1, "annotation", argument.annotation)
            self.node(depth + 1, "default", default)

    def pattern(self, depth, field, node):
        kind = type(node)
        form, name, value, keys, attributes, patterns = None, None, None, [], [], []
        if kind is ast.MatchValue:
            form, value = "value", node.value
        elif kind is ast.MatchSingleton:
            form = "value"
        elif kind is ast.MatchSequence:
            form, patterns = "sequence", node.patterns
        elif kind is ast.MatchStar:
            form, name = "star", node.name
        elif kind is ast.MatchMapping:
            form, name, keys, patterns = "mapping", node.rest, node.keys, node.patterns
        elif kind is ast.MatchClass:
            form, value, attributes = "class", node.cls, node.kwd_attrs
            patterns = node.patterns + node.kwd_patterns
        elif kind is ast.MatchAs:
            form, name, patterns = "as", node.name, [node.pattern] if node.pattern else []
        elif kind is ast.MatchOr:
            form, patterns = "or", node.patterns
        else:
            raise TypeError(f"no rule for {kind}")
        self.lines.append(f"{depth} {field} Pattern {self.location(node)} {form} {name or ''}")
        if kind is ast.MatchSingleton:  # a bare value there, a literal with the pattern's place here
            self.constant(depth + 1, "value", node, self.location(node))
        else:
            self.node(depth + 1, "value", value)
        self.field(depth + 1, "key", keys)
        self.field(depth + 1, "attribute", attributes)
        self.field(depth + 1, "pattern", patterns)


def dump(source):
    """The lines for a source text; raises SyntaxError."""
    source = source.removeprefix("\ufeff")
    printer = Printer(source)
    for statement in ast.parse(source).body:
        printer.node(0, "body", statement)
    return printer.lines
