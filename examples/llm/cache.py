"""Keys and values of many sequences, in pages of a common pool. A full page belongs to its tokens and all tokens before it.

A sequence that begins with the tokens of remembered pages shares them and does not compute them again. A page that no sequence uses any more stays
remembered until its memory is needed; then the page that was left longest ago goes first.
"""

import collections

import torch


class Sequence:
    """Tokens, and the pages with the keys and values of the first `cached` of them."""

    def __init__(self, tokens):
        self.tokens = list(tokens)
        self.pages = []
        self.cached = 0
        self.serial = 0  # of its last remembered page

    def __len__(self):
        return len(self.tokens)


class PagedCache:
    def __init__(self, config, pages, page_size=16, *, dtype=torch.float32, device="cpu"):
        shape = (config.num_hidden_layers, pages, page_size, config.num_key_value_heads, config.head_dim)
        self.keys, self.values = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        self.page_size = page_size
        self._free = list(range(pages))
        self._users = [0] * pages
        # Remembered pages: (serial of the page before, its tokens) -> (page, serial), and back. Serials are never used twice.
        self._remembered = {}
        self._names = {}
        self._serials = 0
        self._unused = collections.OrderedDict()  # remembered pages without a user, the one left longest ago first

    @property
    def pages(self):
        return len(self._users)

    @property
    def available(self):
        """Pages that a sequence can have."""
        return len(self._free) + len(self._unused)

    def pages_of(self, tokens):
        return -(-tokens // self.page_size)

    def open(self, tokens):
        """A sequence that has the remembered pages of its beginning. The last token is never among them: its logits are wanted."""
        sequence = Sequence(tokens)
        while sequence.cached + self.page_size < len(sequence):
            found = self._remembered.get(self._name(sequence, sequence.cached))
            if found is None:
                break
            page, sequence.serial = found
            self._take(page)
            sequence.pages.append(page)
            sequence.cached += self.page_size
        return sequence

    def reserve(self, sequence):
        """Pages for all tokens of the sequence. Where there are not enough, nothing is taken and the result is False."""
        missing = self.pages_of(len(sequence)) - len(sequence.pages)
        if missing > self.available:
            return False
        sequence.pages += [self._new_page() for _ in range(missing)]
        return True

    def computed(self, sequence):
        """All tokens have their keys and values: full pages are remembered."""
        full = len(sequence) // self.page_size
        for index in range(sequence.cached // self.page_size, full):
            name, page = self._name(sequence, index * self.page_size), sequence.pages[index]
            if name in self._remembered:  # computed by another sequence too: what follows is named after that one
                sequence.serial = self._remembered[name][1]
                continue
            self._serials += 1
            sequence.serial = self._serials
            self._remembered[name] = (page, self._serials)
            self._names[page] = name
        sequence.cached = len(sequence)

    def fork(self, sequence):
        """A copy that goes on by itself: full pages are shared, the contents of one that is filled in part are copied."""
        child = Sequence(sequence.tokens)
        child.cached, child.serial = sequence.cached, sequence.serial
        full = sequence.cached // self.page_size
        for page in sequence.pages[:full]:
            self._take(page)
            child.pages.append(page)
        if sequence.cached % self.page_size:
            if not self.available:
                raise MemoryError(f"all {self.pages} pages of the cache are in use: give it more pages")
            page = self._new_page()
            for pool in (self.keys, self.values):
                pool[:, page] = pool[:, sequence.pages[full]]
            child.pages.append(page)
        return child

    def close(self, sequence):
        """Gives the pages back. The last one goes first, so that beginnings, which others may share, stay longest."""
        for page in reversed(sequence.pages):
            self._users[page] -= 1
            if self._users[page] == 0:
                if page in self._names:
                    self._unused[page] = None
                else:
                    self._free.append(page)
        sequence.pages, sequence.cached, sequence.serial = [], 0, 0

    def slots(self, sequence, start, end):
        """Where tokens start to end lie: page * page_size + place."""
        places = torch.arange(start, end)
        return torch.tensor(sequence.pages)[places // self.page_size] * self.page_size + places % self.page_size

    def tables(self, sequences):
        """(sequences, most pages): the pages of each."""
        tables = torch.zeros(len(sequences), max(len(sequence.pages) for sequence in sequences), dtype=torch.int32)
        for row, sequence in zip(tables, sequences):
            row[: len(sequence.pages)] = torch.tensor(sequence.pages, dtype=torch.int32)
        return tables

    def write(self, layer, slots, keys, values):
        self.rows(self.keys, layer)[slots] = keys
        self.rows(self.values, layer)[slots] = values

    def rows(self, pool, layer):
        """A layer's keys, or values, as (slots, heads, size)."""
        return pool[layer].flatten(0, 1)

    def _name(self, sequence, start):
        """Of the page with the tokens from `start` on, which follows the last remembered page of the sequence."""
        return sequence.serial, tuple(sequence.tokens[start : start + self.page_size])

    def _take(self, page):
        self._users[page] += 1
        self._unused.pop(page, None)

    def _new_page(self):
        if self._free:
            page = self._free.pop()
        else:
            page, _ = self._unused.popitem(last=False)
            del self._remembered[self._names.pop(page)]
        self._users[page] = 1
        return page
