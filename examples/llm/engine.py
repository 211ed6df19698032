"""Continuous batching: requests come at any time, are computed together, and leave when they are done.

A step takes the prompts of new requests, or one token of every request that runs. When the cache has no page left, the youngest request gives its
pages back and waits; it goes on later with what it has written.
"""

import collections
import dataclasses

import torch

import nacre.kernels as nk


@dataclasses.dataclass
class Sampling:
    """The settings of nacre.kernels.sample. The temperature 0 takes the likeliest token."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0


class Request:
    def __init__(self, prompt, most_tokens, sampling, end_token):
        self.prompt = list(prompt)
        self.written = []
        self.most_tokens = most_tokens
        self.sampling = sampling
        self.end_token = end_token
        self.sequence = None  # while it has pages
        self.reused = 0  # tokens of the prompt that the cache had already

    @property
    def is_done(self):
        return len(self.written) >= self.most_tokens or (bool(self.written) and self.written[-1] == self.end_token)


class Engine:
    def __init__(self, decoder, cache, most_together=16):
        self.decoder, self.cache, self.most_together = decoder, cache, most_together
        self.waiting, self.running = collections.deque(), []

    def submit(self, prompt, most_tokens, sampling=None, end_token=None):
        """A request, whose `written` grows with every step. The result of the last token is not cached, so it needs no room there."""
        if not prompt or most_tokens < 1:
            raise ValueError("a request has a prompt of at least one token and writes at least one")
        whole = len(prompt) + most_tokens - 1
        room = min(self.cache.pages * self.cache.page_size, self.decoder.config.max_position_embeddings)
        if whole > room:
            raise ValueError(f"the request needs {whole} positions; the cache and the model have {room}")
        request = Request(prompt, most_tokens, sampling or Sampling(), end_token)
        self.waiting.append(request)
        return request

    def run(self):
        """Steps until all requests are done."""
        while self.waiting or self.running:
            self.step()

    def step(self):
        """Computes the next token of some requests, and gives those that are done now."""
        together = self._admit() or self._with_room()
        if not together:
            return []
        logits = self.decoder.next_logits(self.cache, [request.sequence for request in together])
        for request, token in zip(together, self._choose(together, logits)):
            request.written.append(token)
            request.sequence.tokens.append(token)
        done = [request for request in together if request.is_done]
        for request in done:
            self._leave(request)
        return done

    def _admit(self):
        """New requests, as long as there are pages for all their tokens."""
        admitted = []
        while self.waiting and len(self.running) < self.most_together:
            request = self.waiting[0]
            sequence = self.cache.open(request.prompt + request.written)
            if not self.cache.reserve(sequence):
                self.cache.close(sequence)
                break
            if not request.written:
                request.reused = sequence.cached
            request.sequence = sequence
            admitted.append(self.waiting.popleft())
            self.running.append(request)
        return admitted

    def _with_room(self):
        """The running requests, each with a page for its newest token; the youngest make room where there is none."""
        for request in list(self.running):
            while request.sequence is not None and not self.cache.reserve(request.sequence):
                youngest = self.running[-1]
                self._leave(youngest)
                self.waiting.appendleft(youngest)
        return list(self.running)

    def _leave(self, request):
        self.running.remove(request)
        self.cache.close(request.sequence)
        request.sequence = None

    def _choose(self, requests, logits):
        settings = [request.sampling for request in requests]
        if all(setting.temperature == 0 and setting.repetition_penalty == 1 for setting in settings):
            return nk.greedy(logits).tolist()
        of_rows = {
            field.name: torch.tensor([getattr(setting, field.name) for setting in settings], device=logits.device) for field in dataclasses.fields(Sampling)
        }
        counts = None
        if any(setting.repetition_penalty != 1 for setting in settings):
            counts = torch.cat([nk.count_tokens(torch.tensor([request.sequence.tokens], device=logits.device), logits.shape[1]) for request in requests])
        offset = torch.tensor([len(request.written) for request in requests], device=logits.device)
        return nk.sample(logits, token_counts=counts, offset=offset, **of_rows).tolist()
