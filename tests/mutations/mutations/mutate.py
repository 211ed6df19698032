"""Changes to a text, drawn at random: tokens replaced, dropped, repeated and swapped, lines likewise, numbers made strange."""

import random
import re

TOKEN = re.compile(r"""tensor<[^<>]*(?:<[^<>]*>)?>|vector<[^<>]*>|!tile\.ptr<[^<>]*>|[%@#!^]?[A-Za-z_][\w.$-]*|%\d+|\d[\w.]*|"[^"\n]*"|'[^'\n]*'|\s+|->|\*\*|//|<<|>>|[<>=!:+*/%&|^-]=|.""")
NUMBERS = ("0", "1", "-1", "2", "3", "7", "16", "31", "32", "33", "63", "64", "65", "128", "255", "256", "1024", "65536", "2147483647",
           "2147483648", "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.5", "-0.0",
           "1e-45", "1e400", "0x7fffffff")  # fmt: skip
SOURCE_WORDS = ("None", "True", "False", "()", "(1,)", "[]", "''", "'x'", "-", "not", "~", "[None]", "[:, None]", "[None, :]", ".to(tl.int1)",
                ".to(tl.float64)", ".T", "*", "**", "//", "%", "<<", ">>", "@", "if", "while True", "return", "break", "continue", "a", "x",
                "for", "lambda: 0", "(yield)", "*x", "**x", ":=", "=", "==", "is", "in", "and", "or", "global x", "tl", "tl.void",
                "tl.pointer_type(tl.void)", "tl.block_type(tl.int32, [2])", "float('nan')", "float('inf')", "slice(0, 1)", "...")  # fmt: skip


def _change_number(text, rng):
    if not re.fullmatch(r"-?\d+", text) or rng.random() < 0.4:
        return rng.choice(NUMBERS)
    value = int(text)
    return str(rng.choice([value + 1, value - 1, value * 2, value // 2, -value, value * value]))


def _change_token(tokens, pool, rng):
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    if not places:
        return
    i = rng.choice(places)
    kind = rng.randrange(7)
    if kind == 0:
        del tokens[i]
    elif kind == 1:
        tokens.insert(i, tokens[i])
    elif kind == 2:
        j = rng.choice(places)
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif kind == 3:
        tokens[i] = rng.choice([token for token in tokens if token[0] == tokens[i][0]])
    elif tokens[i][0].isdigit():
        tokens[i] = _change_number(tokens[i], rng)
    else:
        like = [other for other in pool if other[0] == tokens[i][0] or other.partition(".")[0] == tokens[i].partition(".")[0]]
        tokens[i] = rng.choice(like) if like and rng.random() < 0.7 else rng.choice(pool)


def _change_everywhere(lines, pool, rng, first):
    """Another name, type or number wherever one stands: more of what comes out is valid."""
    tokens = [token for line in lines[first:] for token in TOKEN.findall(line) if not token.isspace()]
    if not tokens:
        return
    old = rng.choice(tokens)
    like = [other for other in pool if other[0] == old[0] and (old[0] != "%" or other[0] == "%")]
    new = _change_number(old, rng) if old[0].isdigit() else rng.choice(like or pool)
    for i in range(first, len(lines)):
        lines[i] = "".join(new if token == old else token for token in TOKEN.findall(lines[i]))


def _change_lines(lines, other_lines, rng, first):
    if len(lines) <= first + 1:
        return
    i, j = rng.randrange(first, len(lines)), rng.randrange(first, len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i] = "    " + lines[i]
    elif kind == 4:
        lines[i] = lines[i][4:] if lines[i].startswith("        ") else lines[i]
    elif other_lines:
        indent = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
        lines.insert(i, indent + rng.choice(other_lines).strip() + "\n")


def mutated(text, others, words, rng: random.Random, first_line=0):
    """`text` with one to three changes. `others` are texts to take lines and tokens from; lines before `first_line` stay."""
    for _ in range(10):
        changed = _mutated_once(text, others, words, rng, first_line)
        if changed != text:
            break
    return changed


def _mutated_once(text, others, words, rng, first_line):
    other = rng.choice(others)
    pool = [*words, *(token for token in TOKEN.findall(other) if not token.isspace())]
    lines = text.splitlines(keepends=True)
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3])):
        kind = rng.random()
        if kind < 0.2:
            _change_everywhere(lines, pool, rng, first_line)
            continue
        if kind < 0.4:
            _change_lines(lines, other.splitlines(keepends=True), rng, first_line)
            continue
        places = [i for i in range(first_line, len(lines)) if lines[i].strip()]
        if places:
            i = rng.choice(places)
            tokens = TOKEN.findall(lines[i])
            _change_token(tokens, pool, rng)
            lines[i] = "".join(tokens)
    return "".join(lines)
