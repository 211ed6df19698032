"""Queries of hatchet's language over a profile's frames, as far as scripts for Proton use it:

    MATCH ("*", c) WHERE c."name" =~ ".*foo.*" AND c IS LEAF

One node with any number of frames, and conditions on it: a column compared (=, <, <=, >, >=), texts by =~, STARTS WITH, ENDS WITH and
CONTAINS, IS LEAF, IS NONE, each with NOT, joined by AND, OR and XOR from left to right.
"""

import operator
import re

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|\'([^\']*)\'|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(=~|<=|>=|[=<>().,])|([A-Za-z_]\w*))')
_COMPARED = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_TEXTS = {"STARTS": str.startswith, "ENDS": str.endswith, "CONTAINS": str.__contains__}


class _Reader:
    def __init__(self, text):
        self.text = text
        self.tokens = []
        place = 0
        while place < len(text.rstrip()):
            match = _TOKEN.match(text, place)
            if not match:
                self.fail(text[place:].strip())
            double, single, number, sign, word = match.groups()
            if number is not None:
                self.tokens.append(("value", float(number)))
            elif word or sign:
                self.tokens.append(("word", word or sign))
            else:
                self.tokens.append(("value", double if double is not None else single))
            place = match.end()

    def fail(self, what):
        raise ValueError(f'the query {self.text!r} is not understood at {what!r}; there is MATCH ("*", c) WHERE c."name" =~ "..." AND c IS LEAF')

    def take(self, *expected):
        kind, value = self.tokens.pop(0) if self.tokens else ("end", "its end")
        if expected and not (kind == "word" and value.upper() in expected):
            self.fail(value)
        return value

    def value(self):
        if not self.tokens or self.tokens[0][0] != "value":
            self.fail(self.tokens[0][1] if self.tokens else "its end")
        return self.tokens.pop(0)[1]

    def follows(self, *words):
        if self.tokens and self.tokens[0][0] == "word" and self.tokens[0][1].upper() in words:
            return self.tokens.pop(0)[1].upper()
        return None


def _value(frame, column):
    return frame.name if column == "name" else frame.columns.get(column, frame.own.get(column))


def _condition(reader, node):
    is_negated = reader.follows("NOT") is not None
    if reader.take() != node:
        reader.fail(node)
    if reader.follows("IS"):
        is_negated ^= reader.follows("NOT") is not None
        kind = reader.take("LEAF", "NONE")
        if kind.upper() == "NONE":
            reader.fail("NONE without a column")
        return lambda frame: (not frame.children) != is_negated
    reader.take(".")
    column = reader.value()
    if reader.follows("IS"):
        is_negated ^= reader.follows("NOT") is not None
        reader.take("NONE")
        return lambda frame: (_value(frame, column) is None) != is_negated
    sign = reader.take().upper()
    if sign in ("STARTS", "ENDS"):
        reader.take("WITH")
    if sign not in (*_COMPARED, *_TEXTS, "=~"):
        reader.fail(sign)
    wanted = reader.value()

    def holds(frame):
        value = _value(frame, column)
        if sign == "=~":
            return isinstance(value, str) and re.match(wanted + r"\Z", value) is not None
        if sign in _TEXTS:
            return isinstance(value, str) and _TEXTS[sign](value, wanted)
        is_number = isinstance(value, (int, float)) and isinstance(wanted, float)
        return (is_number or (isinstance(value, str) and isinstance(wanted, str))) and _COMPARED[sign](value, wanted)

    return lambda frame: holds(frame) != is_negated


def condition(query):
    """The function of a frame that a query is."""
    reader = _Reader(query)
    reader.take("MATCH")
    reader.take("(")
    if reader.value() not in ("*", "+", "."):
        reader.fail("a quantifier")
    reader.take(",")
    node = reader.take()
    reader.take(")")
    if not reader.tokens:
        return lambda frame: True
    reader.take("WHERE")
    joined = _condition(reader, node)
    while reader.tokens:
        how = reader.take("AND", "OR", "XOR").upper()
        joined = _join(how, joined, _condition(reader, node))
    return joined


def _join(how, first, second):
    if how == "AND":
        return lambda frame: first(frame) and second(frame)
    if how == "OR":
        return lambda frame: first(frame) or second(frame)
    return lambda frame: first(frame) != second(frame)
