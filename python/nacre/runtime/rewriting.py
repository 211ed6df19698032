"""The text of a kernel as CPython runs it. CPython reads most of it as the language does, since tiles bring their own operators;
what it would read differently is rewritten here, on the syntax tree, and compiled under the file name and the lines of the
original, so that debuggers and tracebacks show the kernel's own text:

- a number assigned to a variable becomes a run-time value (`c = 2.0`), also one that a loop or a branch carries; constexprs stay;
- `and`, `or`, `not` and chained comparisons of tiles; `[1] + x.shape`, of a list and a tuple;
- the index of `range` is a run-time value of the type of its bounds;
- `assert` is tl.device_assert; `int`, `float`, `bool`, `min`, `max` and `isinstance` know tiles;
- a number has a dtype and methods (`n.to(tl.int64)` where n is 1).
"""

import ast
import contextlib
import sys
import types
import warnings

from .. import _core
from .source import NoSource

_PREFIX = "__nacre_"
_PYTHON = ("min", "max", "int", "float", "bool")  # functions that tiles can be given to

_helpers = {
    "variable": _core.interpreted_variable,
    "constexpr": _core.interpreted_constexpr,
    "annotated": _core.interpreted_annotated,
    "variable_if": _core.interpreted_variable_if,
    "is_run_time": _core.interpreted_is_run_time,
    "and": _core.interpreted_and,
    "or": _core.interpreted_or,
    "not": _core.interpreted_not,
    "is_none": _core.interpreted_is_none,
    "attribute": _core.interpreted_attribute,
    "assert": _core.interpreted_assert,
    "isinstance": _core.interpreted_isinstance,
    "print": _core.interpreted_print,
    "iterate": _core.interpreted_iterate,
    **{name: _core.interpreted_python_function(name) for name in _PYTHON},
}


def rewritten(kernel):
    """The function that Python runs for a kernel."""
    try:
        text, line, column = kernel._function_block()
    except NoSource:
        return _made_of(kernel.fn, kernel.fn.__code__, kernel.fn.__closure__)
    tree = ast.parse(text)
    _shift(tree, line - 1, column)
    height, deepest = _deepest(tree)
    try:
        with _room_for(height):
            module, made = _rewritten_module(kernel.fn, tree.body[0])
        return made(_compiled(module, kernel.fn))
    except RecursionError:
        raise _too_deep(kernel.fn, deepest) from None


def _children_first(tree):
    return reversed(list(ast.walk(tree)))


def _deepest(tree):
    """The height of a tree, and the expression in it that is highest as it will be rewritten."""
    heights, highest, deepest = {}, 0, tree.body[0]
    for node in _children_first(tree):
        height = 1 + max((heights[child] for child in ast.iter_child_nodes(node)), default=0)
        if isinstance(node, (ast.BoolOp, ast.Compare)):
            height += 2 * len(getattr(node, "values", None) or node.comparators)
        heights[node] = height
        if isinstance(node, ast.expr) and height > highest:
            highest, deepest = height, node
    return heights[tree], deepest


@contextlib.contextmanager
def _room_for(height):
    """Lets the walks below recurse as deep as a tree is high: what can be compiled can be rewritten."""
    limit = sys.getrecursionlimit()
    wanted = limit + 5 * height  # calls a level
    if height < 50:
        wanted = limit
    sys.setrecursionlimit(wanted)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _too_deep(fn, place):
    from ..compiler.errors import UnsupportedLanguageConstruct
    from .errors import _shown

    name = fn.__code__.co_filename
    message, hint = "this is nested too deeply for Python to run", "split it into several statements"
    shown = _shown(name, place.lineno, place.col_offset + 1)
    text = f"{name}:{place.lineno}:{place.col_offset + 1}: error: {message}{shown}\nhint: {hint}"
    source = shown.lstrip("\n").partition("\n")[0]
    return UnsupportedLanguageConstruct(text, message, hint, name, place.lineno, place.col_offset, source, "unsupported")


def _rewritten_module(fn, definition):
    """A module that defines the rewritten function inside a factory, and what makes the function of its code."""
    definition.decorator_list = []
    definition.returns = None
    arguments = definition.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for parameter in (*parameters, arguments.vararg, arguments.kwarg):
        if parameter is not None:
            parameter.annotation = None
    # Defaults were evaluated when the kernel was defined; here they only say how many there are.
    arguments.defaults = [_constant(None, definition) for _ in arguments.defaults]
    arguments.kw_defaults = [None if default is None else _constant(None, definition) for default in arguments.kw_defaults]

    local = {*fn.__code__.co_varnames, *fn.__code__.co_cellvars}
    _Rewriter(local, {p.arg for p in parameters}, fn.__globals__).rewrite(definition)
    definition.name = _PREFIX + "kernel"  # its own name stays the module's: a function may call itself

    # Variables of enclosing functions are free variables: the function keeps the module's own globals.
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    _look_up(definition, {**fn.__globals__, **{name: _contents(cell) for name, cell in cells.items()}})
    factory = ast.FunctionDef("factory", ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, []),
                              [definition], [], None)  # fmt: skip
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(factory, definition)], []))

    def made(code):
        code = _with_helpers(_inner(_inner(code, "factory"), definition.name))
        code = code.replace(co_name=fn.__name__, co_qualname=fn.__qualname__)
        return _made_of(fn, code, tuple(cells[n] for n in code.co_freevars))

    return module, made


def _compiled(module, fn):
    with warnings.catch_warnings():  # the original's have been given, and constants are called here
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(module, fn.__code__.co_filename, "exec")


def _made_of(fn, code, closure):
    made = types.FunctionType(code, fn.__globals__, fn.__name__, _plain(fn.__defaults__), closure)
    made.__kwdefaults__ = fn.__kwdefaults__ and dict(zip(fn.__kwdefaults__, _plain(tuple(fn.__kwdefaults__.values()))))
    made.__module__ = fn.__module__
    made.__qualname__ = fn.__qualname__
    return made


def _shift(tree, lines, columns):
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno += lines
            node.end_lineno += lines
            node.col_offset += columns
            node.end_col_offset += columns


def _contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _look_up(definition, names):
    """Reads what the text names of the language's modules, which they make when it is first asked for: a debugger that steps
    through the kernel need not see that."""
    for node in ast.walk(definition):
        path = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        found = names.get(node.id) if isinstance(node, ast.Name) else None
        while path and isinstance(found, types.ModuleType) and found.__name__.split(".")[0] in ("nacre", "triton"):
            found = getattr(found, path.pop(), None)


def _with_helpers(code):
    """The code with the helpers in the places of their names: as constants they are seen by nobody who lists its variables."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constant = _with_helpers(constant)
        elif isinstance(constant, str) and constant.startswith(_PREFIX):
            constant = _helpers.get(constant.removeprefix(_PREFIX), constant)
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _inner(code, name):
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType) and constant.co_name == name)


def _plain(values):
    return values and tuple(getattr(v, "value", v) if type(v).__name__ == "constexpr" else v for v in values)


def _constant(value, place):
    return ast.copy_location(ast.Constant(value), place)


def _is_constexpr(annotation):
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return "constexpr" in annotation.value
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name == "constexpr"


class _Rewriter(ast.NodeTransformer):
    def __init__(self, local, parameters, global_names):
        self.local = local
        self.parameters = parameters
        self.global_names = global_names
        self.constexpr_names = set()
        self.temporaries = 0
        self.in_iterable = False  # of a comprehension: nothing can be bound there
        self.branch = None  # the variable that holds a run-time test which a return depends on
        self.assigned = {}  # node -> the parameters that it binds
        self.returning = set()  # nodes that hold a return

    def rewrite(self, definition):
        for node in _children_first(definition):
            if isinstance(node, ast.AnnAssign) and node.value is None and _is_constexpr(node.annotation):
                self.constexpr_names.add(node.target.id)
            self._note(node)
        returns = [node for node in ast.walk(definition) if isinstance(node, ast.Return) and node.value is not None]
        if not {*returns} <= {*definition.body}:
            self.branch = _PREFIX + "branch"
        definition.body = self._block(definition.body)
        if self.branch is not None:
            start = definition.body[0]
            definition.body.insert(0, self._assign(self.branch, _constant(None, start), start))

    def _note(self, node):
        """Remembers what a node binds and whether it returns; its children are noted."""
        children = list(ast.iter_child_nodes(node))
        names = frozenset().union(*(self.assigned.get(child, ()) for child in children))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in self.parameters:
            names = frozenset((node.id,))
        if names:
            self.assigned[node] = names
        if isinstance(node, ast.Return) or any(child in self.returning for child in children):
            self.returning.add(node)

    def _assigned(self, statements):
        """The parameters that statements bind."""
        return sorted(frozenset().union(*(self.assigned.get(statement, ()) for statement in statements)))

    def _block(self, statements):
        result = []
        for statement in statements:
            made = self.visit(statement)
            result.extend(made if isinstance(made, list) else [made])
        return result

    # Making nodes.

    def _call(self, name, *args, keywords=()):
        return ast.copy_location(ast.Call(self._helper(name, args[0]), list(args), list(keywords)), args[0])

    def _helper(self, name, place):
        return _constant(_PREFIX + name, place)  # see _with_helpers

    def _temporary(self):
        self.temporaries += 1
        return f"{_PREFIX}{self.temporaries}"

    def _load(self, name, place):
        return ast.copy_location(ast.Name(name, ast.Load()), place)

    def _bind(self, name, value):
        return ast.copy_location(ast.NamedExpr(ast.copy_location(ast.Name(name, ast.Store()), value), value), value)

    def _assign(self, name, value, place):
        return ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), place)], value), place)

    def _is_free(self, name):
        """Whether a name means what Python's builtins say."""
        return name not in self.local and name not in self.global_names

    # Assignments.

    def _held(self, name, value):
        return self._call("constexpr" if name in self.constexpr_names else "variable", value)

    def visit_Assign(self, node):
        self.generic_visit(node)
        first = node.targets[0]
        node.value = self._held(first.id if isinstance(first, ast.Name) else None, node.value)
        return node

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        name = node.target.id
        value = ast.copy_location(ast.BinOp(self._load(name, node.target), node.op, self.visit(node.value)), node)
        return self._assign(name, self._held(name, value), node)

    def visit_AnnAssign(self, node):
        if node.value is None or not isinstance(node.target, ast.Name):
            return ast.copy_location(ast.Pass(), node) if node.value is None else self.generic_visit(node)
        is_declared = node.target.id in self.constexpr_names
        helper = "constexpr" if is_declared else "annotated" if _is_constexpr(node.annotation) else "variable"
        return self._assign(node.target.id, self._call(helper, self.visit(node.value)), node)

    def visit_NamedExpr(self, node):
        self.generic_visit(node)
        node.value = self._held(node.target.id, node.value)
        return node

    # Operators.

    def _combine(self, is_and, left, right):
        name = self._temporary()
        known = self._load(name, left)
        decided = known if is_and else ast.copy_location(ast.UnaryOp(ast.Not(), known), left)
        goes_on = ast.copy_location(ast.BoolOp(ast.Or(), [self._call("is_run_time", self._bind(name, left)), decided]), left)
        combined = ast.copy_location(self._call("and" if is_and else "or", self._load(name, left), right), left)
        return ast.copy_location(ast.IfExp(goes_on, combined, self._load(name, left)), left)

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        if self.in_iterable:
            return node
        result = node.values[0]
        for value in node.values[1:]:
            result = ast.copy_location(self._combine(isinstance(node.op, ast.And), result, value), node)
            ast.copy_location(result.body, node)
        return result

    def visit_BinOp(self, node):
        self.generic_visit(node)
        displays = (ast.List, ast.Tuple)
        if not isinstance(node.op, ast.Add) or not (isinstance(node.left, displays) or isinstance(node.right, displays)):
            return node
        # [a] + x: x may be a list or a tuple, such as a shape
        first = node.left if isinstance(node.left, displays) else node.right
        elements = [
            element
            for side in (node.left, node.right)
            for element in (side.elts if isinstance(side, displays) else [ast.copy_location(ast.Starred(side, ast.Load()), side)])
        ]
        return ast.copy_location(type(first)(elements, ast.Load()), node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self._call("not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1:
            return self._comparison(node.left, node.ops[0], node.comparators[0], node)
        if self.in_iterable:
            return node
        result, left = None, node.left
        for position, (op, right) in enumerate(zip(node.ops, node.comparators)):
            following = None
            if position + 1 < len(node.ops):
                name = self._temporary()
                following, right = self._load(name, right), self._bind(name, right)
            compared = self._comparison(left, op, right, node)
            result = compared if result is None else ast.copy_location(self._combine(True, result, compared), node)
            left = following
        return result

    def _comparison(self, left, op, right, place):
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
            is_none = self._call("is_none", left)
            return is_none if isinstance(op, ast.Is) else ast.copy_location(ast.UnaryOp(ast.Not(), is_none), place)
        return ast.copy_location(ast.Compare(left, [op], [right]), place)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        if self.in_iterable:
            return node
        name = self._temporary()
        test = self._bind(name, node.test)
        return self._call("variable_if", test, ast.copy_location(ast.IfExp(self._load(name, test), node.body, node.orelse), node))

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):
            return node
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in self.local:
            return node  # tl.load
        return ast.copy_location(self._call("attribute", node.value, _constant(node.attr, node)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in (*_PYTHON, "isinstance", "print") and self._is_free(node.func.id):
            node.func = self._helper(node.func.id, node.func)
        return node

    def visit_comprehension(self, node):
        before, self.in_iterable = self.in_iterable, True
        node.iter = self.visit(node.iter)
        self.in_iterable = before
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    # Control flow.

    def visit_Assert(self, node):
        self.generic_visit(node)
        check = self._call("assert", node.test, *([node.msg] if node.msg is not None else []))
        return ast.copy_location(ast.Expr(ast.copy_location(check, node)), node)

    def _carried(self, node):
        """Statements before a loop at run time: what it carries is a run-time value from the start."""
        names = self._assigned(node.body)
        made = [self._assign(name, self._call("variable", self._load(name, node)), node) for name in names]
        if self.branch is not None and node in self.returning:
            made.append(self._assign(self.branch, self._call("variable", _constant(True, node)), node))
        return made

    def _is_range(self, node):
        """Whether the loop may run at run time: over range or tl.range."""
        if not isinstance(node, ast.Call):
            return False
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name == "range"

    def visit_For(self, node):
        before = self._carried(node) if self._is_range(node.iter) else []
        call = node.iter if isinstance(node.iter, ast.Call) else None
        node.iter = self.visit(node.iter)
        if call is not None and isinstance(node.iter, ast.Call):
            arguments = [node.iter.func, *node.iter.args]
            node.iter = ast.copy_location(self._call("iterate", *arguments, keywords=node.iter.keywords), node.iter)
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse)
        return [*before, node]

    def visit_While(self, node):
        before = self._carried(node)
        node.test = self.visit(node.test)
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse)
        return [*before, node]

    def visit_If(self, node):
        names = self._assigned([*node.body, *node.orelse])
        holds_return = self.branch is not None and node in self.returning
        node.test = self.visit(node.test)
        node.body = self._block(node.body)
        node.orelse = self._block(node.orelse)
        if not names and not holds_return:
            return node
        name = self._temporary()
        place = node.test
        test = self._bind(name, node.test)
        if holds_return:
            chosen = ast.copy_location(ast.IfExp(self._call("is_run_time", self._load(name, place)), self._load(name, place),
                                                 self._load(self.branch, place)), place)  # fmt: skip
            both = ast.copy_location(ast.Tuple([test, self._bind(self.branch, chosen)], ast.Load()), place)
            test = ast.copy_location(ast.Subscript(both, _constant(0, place), ast.Load()), place)
        node.test = test
        # A parameter that one branch assigns is a run-time value after either.
        for block in (node.body, node.orelse):
            end = block[-1] if block else place
            block.extend(
                self._assign(carried, self._call("variable_if", self._load(name, end), self._load(carried, end)), end)
                for carried in names
            )
        return node

    def visit_Return(self, node):
        self.generic_visit(node)
        if node.value is not None and self.branch is not None:
            node.value = self._call("variable_if", self._load(self.branch, node.value), node.value)
        return node
