"""Beam search: the continuations of a prompt with the largest sums of log-probabilities."""

import torch

import nacre.kernels as nk


def beam_search(decoder, cache, prompt, beams, most_tokens, end_token=None):
    """(score, tokens written) of each beam, best first. A beam that has written `end_token` ends there."""
    if beams > decoder.config.vocab_size:
        raise ValueError(f"{beams} beams need as many tokens to begin with; the vocabulary has {decoder.config.vocab_size}")
    sequences = [cache.open(prompt)]
    try:
        return _search(decoder, cache, sequences, beams, most_tokens, end_token)
    finally:
        for sequence in sequences:
            cache.close(sequence)


def _search(decoder, cache, sequences, beams, most_tokens, end_token):
    """`sequences`: the prompt's, and after that those of all beams."""
    prompt = len(sequences[0])
    device = decoder.embedding.device
    scores = torch.tensor([[0.0] + [-torch.inf] * (beams - 1)], device=device)
    finished = torch.zeros(1, beams, dtype=torch.bool, device=device)
    for step in range(most_tokens):
        if not all(cache.reserve(sequence) for sequence in sequences):
            raise MemoryError(f"the cache of {cache.pages} pages has no room for {beams} beams of {len(sequences[0])} tokens")
        logits = decoder.next_logits(cache, sequences)
        if step == 0:
            logits = logits.expand(beams, -1)
            for _ in range(beams - 1):
                sequences.append(cache.fork(sequences[0]))
        scores, parents, tokens = nk.beam_search_step(scores, logits[None], finished=finished, end_token=end_token or 0)
        _continue(cache, sequences, parents[0].tolist(), tokens[0].tolist())
        if end_token is not None:
            finished = nk.reorder_cache(finished, parents) | (tokens == end_token)
            if finished.all():
                break
    written = (sequence.tokens[prompt:] for sequence in sequences)
    return [(score, _until(tokens, end_token)) for score, tokens in zip(scores[0].tolist(), written)]


def _continue(cache, sequences, parents, tokens):
    """Each parent becomes its last child; children before that get a copy. Parents without children go first, which frees their pages."""
    last_child = {parent: child for child, parent in enumerate(parents)}
    for index, sequence in enumerate(sequences):
        if index not in last_child:
            cache.close(sequence)
    sequences[:] = [sequences[parent] if last_child[parent] == child else cache.fork(sequences[parent]) for child, parent in enumerate(parents)]
    for sequence, token in zip(sequences, tokens):
        sequence.tokens.append(token)


def _until(tokens, end_token):
    return tokens[: tokens.index(end_token) + 1] if end_token in tokens else tokens
