"""Makes a program that shows a difference small: cuts statements out, makes numbers smaller, cuts lines, as long as it still shows."""

import ast
import re
import time

from .makers import replayed_program

NOISE = re.compile(r"\d+|0x[0-9a-f]+|'[^']*'|\"[^\"]*\"")


def same_finding(found, other):
    """Whether two findings are of one kind, on one engine; of errors, whether they say the same."""
    if other is None or found["kind"] != other["kind"] or found["engine"] != other["engine"]:
        return False
    if found["kind"] == "error":
        return headline(found["text"]) == headline(other["text"])
    return True


def headline(text):
    """What an error says, without names and numbers."""
    lines = [line for line in text.splitlines() if "error:" in line] or text.splitlines() or [""]
    return NOISE.sub("#", lines[0].split("error:")[-1])[:120]


class Reducer:
    """`check(genes)` runs a program and says what is wrong with it."""

    def __init__(self, check, found, genes, tries=300, seconds=90.0):
        self.check = check
        self.found = found
        self.best = genes
        self.text = self._text(genes)
        self.tries = tries
        self.end = time.monotonic() + seconds
        self.seen = {self.text}

    def reduce(self):
        """(genes, found) of the smallest program within the budget."""
        before = None
        while before != self.best and not self._spent():
            before = self.best
            self._cut_statements()
            self._cut_bodies()
            self._smaller_numbers()
        self._cut_lines()
        return self.best, self.found

    def _spent(self):
        return self.tries <= 0 or time.monotonic() > self.end

    @staticmethod
    def _text(genes):
        program = replayed_program(genes)
        ast.parse(program.source())
        return repr((program.source(), program.scalars, program.constants, program.arrays, program.grid, program.options()))

    def _accepts(self, genes):
        if self._spent():
            return False
        try:
            text = self._text(genes)
        except SyntaxError:  # a head without a body
            return False
        if text == self.text:  # the same program from a simpler record
            self.best = genes
            return True
        if text in self.seen:
            return False
        self.seen.add(text)
        self.tries -= 1
        found = self.check(genes)
        if not same_finding(self.found, found):
            return False
        self.best, self.text, self.found = genes, text, found
        return True

    def _cut_lines(self):
        """Lines of the text, a head with its body, from the last one on. What orders memory stays."""
        lines = replayed_program(self.best).lines
        gone = set()
        for place in range(len(lines) - 1, -1, -1):
            indent = len(lines[place]) - len(lines[place].lstrip())
            end = place + 1
            while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
                end += 1
            block = set(range(place, end))
            if block <= gone or any("debug_barrier" in lines[line] for line in block):
                continue
            header = [*self.best[0][:2], sorted(gone | block)]
            if self._accepts([header, *self.best[1:]]):
                gone |= block

    def _cut_statements(self):
        size = max(1, (len(self.best) - 1) // 2)
        while size:
            start = len(self.best) - size
            while start >= 1:
                self._accepts(self.best[:start] + self.best[start + size :])
                start = min(start - size, len(self.best) - size)
            size //= 2

    def _paths(self):
        """Where the genes are: (index, then indices of children)."""
        def below(gene, path):
            yield path
            for place, child in enumerate(gene[1]):
                yield from below(child, (*path, place))

        for place, gene in enumerate(self.best):
            yield from below(gene, (place,))

    def _changed(self, path, change):
        """A copy of the record with one gene changed; None when the gene is gone."""
        def rebuilt(gene, rest):
            if not rest:
                return change(gene)
            children = list(gene[1])
            made = rebuilt(children[rest[0]], rest[1:])
            children[rest[0] : rest[0] + 1] = [] if made is None else [made]
            return [gene[0], children]

        try:
            made = rebuilt(self.best[path[0]], path[1:])
        except IndexError:
            return None
        return self.best[: path[0]] + ([] if made is None else [made]) + self.best[path[0] + 1 :]

    def _cut_bodies(self):
        for path in sorted(self._paths(), key=lambda p: (-len(p), p), reverse=False)[::-1]:
            if len(path) > 1:
                genes = self._changed(path, lambda gene: None)
                if genes is not None:
                    self._accepts(genes)

    def _smaller_numbers(self):
        for path in list(self._paths()):
            genes = self._changed(path, lambda gene: [gene[0][:2], gene[1]])
            if genes is not None and self._accepts(genes):
                continue
            count = len(self._gene(path)[0])
            for place in range(count - 1, 0, -1):
                if self._spent():
                    return
                self._shrink(path, place)

    def _gene(self, path):
        gene = self.best[path[0]]
        for place in path[1:]:
            gene = gene[1][place]
        return gene

    def _shrink(self, path, place):
        choices = self._gene(path)[0]
        if place >= len(choices) or not choices[place]:
            return
        value = choices[place]
        for smaller in dict.fromkeys([0, value // 2, value - 1] if value < 1000 else [0]):
            genes = self._changed(path, lambda gene, smaller=smaller: [gene[0][:place] + [smaller] + gene[0][place + 1 :], gene[1]])
            if genes is not None and self._accepts(genes):
                return
