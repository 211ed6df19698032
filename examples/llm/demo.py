"""Writes tokens with a model of random weights, in floats and quantized, alone and several requests together, timed beside transformers."""

import itertools
import time

import torch

from . import peers
from .cache import PagedCache
from .decoder import Config, Decoder, random_weights
from .engine import Engine, Sampling

CONFIG = Config(vocab_size=8192, hidden_size=512, intermediate_size=1408, num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=4, head_dim=64)


def engine_of(decoder, most_tokens):
    dtype, device = decoder.embedding.dtype, decoder.embedding.device
    return Engine(decoder, PagedCache(decoder.config, 1 + most_tokens // 16, 16, dtype=dtype, device=device))


def tokens_of(decoder, prompt, count):
    engine = engine_of(decoder, len(prompt) + count)
    request = engine.submit(prompt, count)
    while not request.is_done:
        engine.step()
        yield request.written[-1]


def timed(tokens, count):
    """(tokens, seconds until the first one, tokens a second after that)."""
    times = [time.perf_counter()]
    written = []
    for token in itertools.islice(tokens, count):
        written.append(token)
        times.append(time.perf_counter())
    return written, times[1] - times[0], (count - 1) / (times[-1] - times[1])


def show(name, first, rate):
    print(f"  {name:<44} first token after {1000 * first:7.1f} ms, then {rate:8.1f} tokens/s")


def main(config=CONFIG, prompt=64, tokens=32, requests=4):
    torch.manual_seed(0)
    weights = random_weights(config)
    count = sum(weight.numel() for weight in weights.values())
    print(f"a decoder of {count / 1e6:.0f} million random weights, a prompt of {prompt} tokens")
    prompts = torch.randint(0, config.vocab_size, (requests, prompt)).tolist()
    decoder = Decoder(config, weights)
    expected: list[int] = []
    for name, model in {"float32": decoder, "q8_0": Decoder(config, weights, format="q8_0"), "q4_0": Decoder(config, weights, format="q4_0")}.items():
        timed(tokens_of(model, prompts[0], 2), 2)  # compiles
        written, *times = timed(tokens_of(model, prompts[0], tokens), tokens)
        show(name, *times)
        expected = expected or written
    if peers.HAS_TRANSFORMERS:
        theirs = peers.transformers_model(config, weights)
        timed(peers.tokens_of(theirs, prompts[0]), 2)
        written, *times = timed(peers.tokens_of(theirs, prompts[0]), tokens)
        show("transformers, float32", *times)
        if written != expected:
            raise AssertionError(f"transformers writes {written} and nacre.kernels {expected}")
        print("  transformers writes the same tokens")
    else:
        print("  transformers is not installed: nothing to compare with")
    together(decoder, prompts, tokens)
    print("  the first ones:", *expected[:12])


def together(decoder, prompts, tokens):
    engine = engine_of(decoder, len(prompts) * (len(prompts[0]) + tokens + 16))
    written = [engine.submit(prompt, tokens, Sampling(temperature=0.8, top_p=0.9, seed=seed)) for seed, prompt in enumerate(prompts)]
    engine.step()
    start = time.perf_counter()
    engine.run()
    rate = sum(len(request.written) - 1 for request in written) / (time.perf_counter() - start)
    print(f"  {f'{len(prompts)} requests together, float32, sampled':<44} {'':<29} then {rate:8.1f} tokens/s")
