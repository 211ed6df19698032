"""Our parser against CPython's: the same trees with the same locations, and the same texts refused."""

import ast
import os
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cpython_tree  # noqa: E402
import generated_sources  # noqa: E402

ROOT = Path(__file__).parents[2]
DUMP = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "compiler/frontend/test/nacre-ast-dump"

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")


def our_dumps(paths):
    """For each path the lines of our tree, or one line that starts with "error"."""
    assert DUMP.exists(), f"{DUMP} is missing: build the target nacre-ast-dump"
    flags = [] if cpython_tree.EXACT_F_STRINGS else ["--hide-f-string-locations"]
    names = "\n".join(map(str, paths))
    run = subprocess.run([DUMP, *flags], input=names.encode(), capture_output=True, timeout=600)
    assert run.returncode == 0, f"exit code {run.returncode}: {run.stderr.decode()}"
    dumps = {}
    for part in ("\n" + run.stdout.decode()).split("\nfile ")[1:]:
        name, _, rest = part.partition("\n")
        dumps[name] = rest.split("\n") if rest else []
        if dumps[name] and dumps[name][-1] == "":
            dumps[name].pop()
    return [dumps[str(path)] for path in paths]


def check_equal(name, expected, found):
    if expected == found:
        return
    at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
    pytest.fail(f"{name}, node {at}:\n  CPython: {expected[at:at + 3]}\n  ours:    {found[at:at + 3]}")


def write_all(folder, sources):
    paths = []
    for index, source in enumerate(sources):
        paths.append(folder / f"{index}.py")
        paths[-1].write_bytes(source.encode("utf-8", "surrogatepass"))
    return paths


def check_sources(tmp_path, sources):
    for source, found in zip(sources, our_dumps(write_all(tmp_path, sources))):
        check_equal(repr(source), cpython_tree.dump(source), found)


def check_files(paths):
    readable = []
    for path in paths:
        try:
            text = path.read_bytes().decode("utf-8-sig")
            readable.append((path, text, cpython_tree.dump(text)))
        except (UnicodeDecodeError, SyntaxError):  # another encoding, or broken on purpose
            continue
    assert readable
    for (path, _, expected), found in zip(readable, our_dumps([path for path, _, _ in readable])):
        check_equal(path, expected, found)
    return len(readable)


def test_standard_library():
    library = Path(sysconfig.get_paths()["stdlib"])
    skipped = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3", "turtledemo", "encodings"}
    paths = [path for path in sorted(library.rglob("*.py")) if not skipped & set(path.relative_to(library).parts)]
    assert check_files(paths) > 300


def test_own_files():
    folders = ["python", "tests", "examples", "kernels", "bench"]
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert check_files(paths) > 3


EXPRESSIONS = """
a
(a)
((a)) + b
()
(a,)
a,
a, b,
*a, b
[*a, *b,]
{}
{a}
{a: b, **c, d: e,}
{*a, b}
a.b.c(d)[e](f)
- a ** - b ** c
not a in b
a not in b is not c
a if b else c if d else e
lambda: a
lambda a, /, b=1, *c, d, e=2, **f: (a, b)
lambda *, a: a
lambda *a: (yield)
a or b and c or not d
a < b <= c == d != e > f >= g
a | b ^ c & d << e >> f + g - h * i @ j / k // l % m
~+-a
(yield)
(yield a, b)
(yield from a)
(a := b, c := d)
f(a := 1)
f(a for a in b)
f((a for a in b), c)
f(*a, *b, c, **d, e=f, **g)
f(a=1, *b)
f(a, b=c,)
[a for b in c for d in e if f if g]
{a: b for c, d in e}
{a for *b, c in d}
(a for a.b in c)
(a for a[0], (b, c) in d or e)
[a for a in b if c or d]
[lambda: a for a in b]
a[b]
a[b,]
a[:]
a[::]
a[b:c:d, e, ..., None]
a[*b]
a[*b, c]
a[b:=c]
a[:, None][None, :]
a[lambda: b:c]
x if y else lambda: z
...
None, True, False
1_000, 0xdead_BEEF, 0B1, 0O7, 00_0, 0_0
1.5, 1., .5, 1e10, 1E-5, 1_1.1_1e1_1, 01.5, 09e1, 1e400, 1e-400, 5e-324, 2.2250738585072011e-308
1j, 1.5J, 0777j
340282366920938463463374607431768211455
0x1for x in y
1if a else 2
[1for a in b]
'a' "b" '''c''' \"\"\"d\"\"\"
'a' f'b' f'{c}'
f'' 'a'
f''
f'{a}{b}'
f'{{}}'
f'{{{a}}}'
f'a{b!r}c{d!s:>10}e{f!a}'
f'{a=}'
f'{a = }'
f'{a=!s}'
f'{a=:>5}'
f'{a=:{b}}'
f'{a:{b}.{c}}'
f'{a!r:^{b}}'
f'{a["b"]}'
f'{a, b}'
f'{*a, b}'
f'{(lambda x: x)}'
f'{a if b else c}'
f'{a!=b}'
f'{a==b}'
f'{a<=b}'
f'{a:=5}'
f'{(a:=5)}'
f'{ a }'
f'{a:%H:%M}'
f'{{a}}:{b:{{c}}}' if 0 else 0
rf'\\d{a}\\{b}'
f'\\n{a}\\x41\\u00e9'
f'\\N{DEGREE SIGN}{a}'
f'{yield_}'
f'{ {a: b}[c] }'
'\\N{LATIN SMALL LETTER A}\\N{greek small letter alpha}'
'\\x41\\101\\0\\07\\777\\u20ac\\U0001F600\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\"\\d'
'\\ud800'
b'\\x41\\101\\777\\u0041\\N'
rb'\\x41' BR"b" Rb'c' bR'd'
u'a' U'b' R'\\d' f"\\'"
'é€😀', é, 变量
(a
 + b  # note
 )
a + \\
  b
f(
)
"""


# Texts that do not fit on a line of the list above.
EXPRESSION_TEXTS = [
    "'''a\n  b\\\n c'''",
    "'a\\\nb'",
    'f"""a\n{b}\n  {c!r}"""',
    "f'''\n{\na\n}\n'''",
    "f'''{a:\n}'''",
    "(\n  a,\n\n  # c\n  b)",
    "[\n1,\n\t2,\n]",
]

STATEMENTS = [
    "",
    "\n\n",
    "# only a comment",
    "\ufeffx = 1",
    "x = 1\r\ny = '''a\r\nb'''\r\n",
    "x = 1\ry = 2\r",
    "\x0cx = 1\n\x0c\ndef f():\n\x0c    pass\n",
    "x = 1; y = 2;",
    "x = y = z = 1",
    "x, = y",
    "x, *y = [z, *w] = v",
    "(x, y), [z] = w",
    "(x) = 1",
    "x.y = z[0] = 1",
    "x = yield y",
    "x = *y, z",
    "x += yield",
    "x **= 2, 3",
    "x: int",
    "x: int = 1, 2",
    "(x): int = 1",
    "x.y: int",
    "x[0]: int = yield",
    "pass",
    "del x, y.z, w[0]",
    "del (x, y), [z]",
    "del x,",
    "assert x, y",
    "raise",
    "raise x",
    "raise x from y",
    "global x, y",
    "def f():\n nonlocal x",
    "import a, b.c as d",
    "from a import b as c, d",
    "from . import a",
    "from ... import a",
    "from .... import a",
    "from ..a.b import (c, d as e,)",
    "from a import *",
    "if x: y\nelif z: w\nelse: v",
    "if x:\n  y\nelif z:\n  w\nelif v:\n  u\nelse:\n  t",
    "if (x := y): pass",
    "if x := y: pass",
    "while x:\n  break\nelse:\n  pass",
    "while x := y: continue",
    "for x, y in z: pass\nelse: w",
    "for x.y in z, w: pass",
    "for (x) in *y, z: pass",
    "for x[0], *y in z: break",
    "for x in y:\n\n  # c\n  pass\n# d\n  continue\n",
    "try: x\nexcept: y",
    "try: x\nexcept a: y\nexcept (b, c) as d: z\nelse: w\nfinally: v",
    "try: x\nfinally: y",
    "try: x\nexcept* a as b: y",
    "with a: b",
    "with a as b, c as (d, e), f: g",
    "with (a): b",
    "with (a, b): c",
    "with (a as b): c",
    "with (a as b, c,): d",
    "with (a, b) as c: d",
    "with (a), (b): c",
    "with (yield): c",
    "with (a := b): c",
    "with (a for a in b): c",
    "with (*a, b): c",
    "with (): c",
    "with (a).b as c: d",
    "with (a) as b, c: d",
    "with (a if b else c) as d: e",
    "with (a * b): c",
    "with a() as b.c, d as e[0]: f",
    "def f(): pass",
    "def f(a, b: int = 1, /, c=2, *d: int, e, f: x = 3, **g: y) -> z: return a",
    "def f(*, a): return",
    "def f(a, /): return *a, b",
    "def f(a=1, *, b, c=2): return a,",
    "def f(*a: *b): pass",
    "@a\n@b.c(d)\n@(e := f)\ndef g():\n  'doc'\n",
    "@a[0]\nclass B(c, d=e, *f, **g):\n  x: int\n  def h(self): pass\n",
    "class A: pass",
    "class A(): x = 1; y = 2",
    "async def f():\n  async with a as b: await c\n  async for d in e: pass\n  return [f async for f in g if await h]",
    "@a\nasync def f(): pass",
    "match x:\n  case 1 | -2 | 'a' 'b' | None | True: pass\n  case [a, *_, b] if c: pass\n"
    "  case (a, b): pass\n  case (a): pass",
    "match x, y:\n  case a, *b: pass\n  case *_,: pass\n  case A.b.c: pass\n"
    "  case {1: a, 'b': [c], **d}: pass\n  case {}: pass",
    "match *x, y:\n  case C(a, b=c, d=E()): pass\n  case -1 + 2j | 1.5 - 3j: pass\n"
    "  case (1 | 2) as z: pass\n  case _: pass",
    "match (x):\n  case []: pass\n  case (): pass\n  case (a,): pass\n  case {A.b: 1}: pass\n  case b'x': pass",
    "match = case = type = _ = 1\nmatch.x; match(x); match[x]; match * x; match - x\n"
    "print(match)\ntype(x)\nmatch (x)\n",
    "match -x:\n  case 1: pass",
    "if x:\n\ty\n\tz\n",
    "if x:\n        y\nif z:\n\tw\n",
    "if x:\n  if y:\n    z\nw",
    "if x:\n  if y:\n    z\n  w\n  # c\n# d",
    "x = 1 \\\n  + 2\ny",
    "if x:\n  y\n\\\n  z\n",
    "def f():\n  return (\n1)\n",
    "x = [\n  1,\n    2,\n]\ny",
    "x = 1 # é\né = '€'; y = é",
    "'doc'\nx",
    "x = f'é{y}' + z",
]

if cpython_tree.EXACT_F_STRINGS:  # Python 3.12's additions
    STATEMENTS += [
        "type X = int",
        "type X[T, *U, **V] = y",
        "def f[T: int](x: T) -> T: pass",
        "class A[T, *U](B): pass",
        "x = f'{a['b']}'",
        "x = f'{f'{f'{a}'}'}'",
        "x = f'{\na\n}'",
        "x = f'{a:{b:{c}}}'",
        "x = f'{'\\n'.join(a)}'",
    ]


def test_expressions(tmp_path):
    lines = EXPRESSIONS.strip("\n").split("\n")
    sources, pending = [], ""
    for line in lines:  # a case that is not complete goes on with the next line
        pending += line + "\n"
        try:
            ast.parse(pending)
        except SyntaxError as error:
            assert "never closed" in str(error) or "EOF" in str(error) or "indent" in str(error), pending
            continue
        sources.append(pending)
        pending = ""
    assert not pending
    check_sources(tmp_path, sources + EXPRESSION_TEXTS)


def test_statements(tmp_path):
    check_sources(tmp_path, STATEMENTS)


def test_generated_kernels(tmp_path):
    check_sources(tmp_path, generated_sources.kernels(400))


def is_python(source):
    """Whether CPython parses it, and whether it also compiles it (ours checks some of what CPython's compiler does)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            return False, False
        try:
            compile(source, "generated", "exec")
        except (SyntaxError, ValueError):
            return True, False
        return True, True


def test_damaged_kernels(tmp_path):
    sources = generated_sources.damaged(generated_sources.kernels(200), 6000)
    accepted = 0
    for source, found in zip(sources, our_dumps(write_all(tmp_path, sources))):
        parses, compiles = is_python(source)
        rejected = bool(found) and found[0].startswith("error")
        if rejected:
            assert not compiles, f"CPython accepts, ours does not: {found[0]}\n{source}"
        else:
            assert parses, f"ours accepts, CPython does not:\n{source}"
            check_equal(repr(source), cpython_tree.dump(source), found)
            accepted += 1
    assert 300 < accepted < 3000  # the damage is neither harmless nor always fatal
