"""Where the decisions of a random program come from: a record that can be replayed, cut and made simpler.

A program is a list of genes, one a statement; the gene of a loop or a branch has those of its body below it. A gene holds the
numbers that were drawn while its statement was made. To replay a program is to draw the same numbers again; a gene cut out
takes its statement with it, and a number made smaller gives a simpler statement, since makers put the simplest choice first.
Whatever is done to the record, the makers only ever make valid programs of it: so the reducer needs to know nothing of them.
"""

import random


class Gene:
    def __init__(self, choices=(), children=()):
        self.choices = list(choices)
        self.children = list(children)

    def copy(self):
        return Gene(self.choices, [child.copy() for child in self.children])

    def to_data(self):
        return [self.choices, [child.to_data() for child in self.children]]

    @staticmethod
    def from_data(data):
        return Gene(data[0], [Gene.from_data(child) for child in data[1]])

    def size(self):
        """How much there is to make simpler: statements first, then numbers."""
        genes = list(self.walk())
        return (len(genes), sum(sum(1 for choice in gene.choices if choice) for gene in genes))

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


class Decisions:
    """The numbers of one gene: drawn at random and recorded, or replayed (zeros once the record ends)."""

    def __init__(self, gene, source=None):
        self.gene = gene
        self.source = source  # random.Random, or None to replay
        self.used = 0
        self.key = self.below(1 << 30)  # sets what this gene makes apart from all else
        self.made = 0

    def below(self, count):
        """A number from 0 to count - 1."""
        if self.source is not None:
            value = int(self.source.random() * count)
            self.gene.choices.append(value)
        else:
            value = self.gene.choices[self.used] if self.used < len(self.gene.choices) else 0
        self.used += 1
        return value % count

    def one_of(self, options):
        return options[self.below(len(options))]

    def chance(self, percent):
        """True in this many of a hundred; False is the simpler."""
        return self.below(100) >= 100 - percent

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def permutation(self, count):
        rest, order = list(range(count)), []
        while rest:
            order.append(rest.pop(self.below(len(rest))))
        return tuple(order)

    def fresh_key(self):
        """A number for something that this gene makes, which does not depend on other genes."""
        self.made += 1
        return (self.key * 2654435761 + self.made * 40503) & 0x3FFFFFFF

    def pick(self, candidates):
        """One of the candidates (each with a `key`): the one nearest to a random place, so that the choice stays the same when
        others come and go."""
        place = self.below(1 << 30)
        return min(candidates, key=lambda candidate: candidate.key ^ place)

    def bodies(self, low, high):
        """The genes of the statements below this one."""
        if self.source is not None:
            self.gene.children += [Gene() for _ in range(self.between(low, high))]
        else:
            self.used += 1
        return self.gene.children


def fresh_source(seed):
    return random.Random(seed)
