"""Tokens a second of the language model in examples/llm, beside transformers on the same weights: eager, with nacre.kernels.patch, and compiled by
Inductor's C++.

    python bench/llm.py [--size small|medium] [--threads N] [--only TEXT] [--quick] [--eager] [--write]

Weights are random, tokens are the likeliest ones, and all float32 contenders must write the same. "Prompt" is one of 128 tokens, "alone" the tokens
after it, "8 together" those of eight such requests at once. Contenders take turns, and the best of several rounds counts. With one thread (the
default) a second is one of processor time, so that other work on the machine counts less. --write puts the table in bench/RESULTS.md.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "bench")]  # the package llm is found before this file
THREADS = int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else 1
for variable in ("NACRE_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import torch  # noqa: E402

import nacre.kernels as nk  # noqa: E402
from llm import demo, peers  # noqa: E402
from llm.cache import PagedCache  # noqa: E402
from llm.decoder import Config, Decoder, random_weights, save  # noqa: E402
from library import processor  # noqa: E402  (it puts its own folder first, so it comes last)

# transformers looks for a package `kernels`, which is not the file here.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != ROOT / "bench"]
torch.set_num_threads(THREADS)
clock = time.process_time if THREADS == 1 else time.perf_counter

SIZES = {
    "small": demo.CONFIG,
    "medium": Config(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16, num_key_value_heads=8, head_dim=64
    ),
}
PROMPT, TOGETHER = 128, 8
PROGRAM = ROOT / "build" / "runtime" / "test" / "example_llm"


class Ours:
    def __init__(self, config, weights, format=None):
        self.decoder = Decoder(config, weights, format=format)

    def start(self, prompts, tokens):
        self.cache = PagedCache(self.decoder.config, len(prompts) * (1 + (len(prompts[0]) + tokens) // 16))
        self.sequences = [self.cache.open(prompt) for prompt in prompts]
        return self.step()

    def step(self):
        for sequence in self.sequences:
            self.cache.reserve(sequence)
        tokens = nk.greedy(self.decoder.next_logits(self.cache, self.sequences)).tolist()
        for sequence, token in zip(self.sequences, tokens):
            sequence.tokens.append(token)
        return tokens


class Theirs:
    def __init__(self, model):
        self.model = model

    def start(self, prompts, tokens):
        from transformers import DynamicCache

        self.past, self.newest = DynamicCache(config=self.model.config), torch.tensor(prompts)
        return self.step()

    @torch.no_grad()
    def step(self):
        self.newest = self.forward().logits[:, -1].argmax(-1, keepdim=True)
        return self.newest[:, 0].tolist()

    def forward(self):
        return self.model(self.newest, past_key_values=self.past, use_cache=True, logits_to_keep=1)


class Compiled(Theirs):
    """With a cache of fixed size, so that every step has the same shapes."""

    def __init__(self, model):
        super().__init__(model)
        self.compiled = torch.compile(model.forward, dynamic=False)

    def start(self, prompts, tokens):
        from transformers import StaticCache

        self.past, self.newest = StaticCache(config=self.model.config, max_cache_len=len(prompts[0]) + tokens), torch.tensor(prompts)
        return self.step()

    def forward(self):
        return self.compiled(self.newest, past_key_values=self.past, use_cache=True, logits_to_keep=1)


def contenders(config, weights, with_compiled):
    """Name, what makes it, whether its tokens are those of float32."""
    yield "ours, float32", lambda: Ours(config, weights), True
    yield "ours, q8_0", lambda: Ours(config, weights, "q8_0"), False
    yield "ours, q4_0", lambda: Ours(config, weights, "q4_0"), False
    if not peers.HAS_TRANSFORMERS:
        print("transformers is not installed: nothing to compare with")
        return
    yield "transformers", lambda: Theirs(peers.transformers_model(config, weights)), True
    yield "transformers, nacre.kernels.patch", lambda: Theirs(nk.patch(peers.transformers_model(config, weights))), True
    if with_compiled:
        yield "transformers, torch.compile", lambda: Compiled(peers.transformers_model(config, weights)), True


def timed(contender, prompts, tokens):
    """(seconds of the prompts, seconds a step, tokens of all)."""
    start = clock()
    written = [contender.start(prompts, tokens)]
    after_first = clock()
    written += [contender.step() for _ in range(tokens - 1)]
    return after_first - start, (clock() - after_first) / (tokens - 1), written


def program_in_cpp(config, weights, prompt, tokens, rounds):
    """(seconds of the prompt, seconds a token) of examples/llm/decoder.cpp, by its own clock of the wall."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder, config, weights)
        command = [PROGRAM, ROOT / "examples" / "llm" / "kernels.py", folder, tokens, *prompt]
        found = []
        for _ in range(rounds + 1):
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
            first, rate = re.search(r"after ([\d.]+) ms, then ([\d.]+)", done.stderr).groups()
            found.append((float(first) / 1000, 1 / float(rate)))
        return tuple(map(min, zip(*found[1:])))


def measure(config, only, with_compiled, tokens, rounds):
    """Rows of the table."""
    weights = random_weights(config)
    generator = torch.Generator().manual_seed(0)
    prompts = torch.randint(0, config.vocab_size, (TOGETHER, PROMPT), generator=generator).tolist()
    made = {name: (make(), is_exact) for name, make, is_exact in contenders(config, weights, with_compiled) if only in name}
    best, expected = {}, {}
    for batch in (prompts[:1], prompts):
        for round in range(rounds + 1):
            for name, (contender, is_exact) in made.items():
                first, step, written = timed(contender, batch, tokens)
                if is_exact and written != expected.setdefault(len(batch), written):
                    raise AssertionError(f"{name} writes other tokens than {next(iter(made))}")
                if round:  # the first one compiles
                    times = best.setdefault((name, len(batch)), (first, step))
                    best[name, len(batch)] = tuple(map(min, times, (first, step)))
    lines = ["| model | prompt, tokens/s | alone, tokens/s | 8 together, tokens/s |", "|---|---|---|---|"]
    for name in made:
        (first, alone), (_, together) = best[name, 1], best[name, TOGETHER]
        lines.append(f"| {name} | {PROMPT / first:.0f} | {1 / alone:.1f} | {TOGETHER / together:.1f} |")
    if PROGRAM.exists() and only in "ours, C++":
        first, alone = program_in_cpp(config, weights, prompts[0], tokens, rounds)
        lines.append(f"| ours, C++ (by the wall's clock) | {PROMPT / first:.0f} | {1 / alone:.1f} | |")
    return lines, sum(weight.numel() for weight in weights.values())


TITLE = "A language model"


def write(lines, size, count):
    file = ROOT / "bench" / "RESULTS.md"
    title = f"{TITLE}, {size}"
    sections = [section for section in file.read_text().split("\n## ") if not section.startswith(title)]
    what = "one thread for everybody, tokens a second of processor time" if THREADS == 1 else f"{THREADS} threads for everybody"
    intro = (
        f"`make bench-llm ARGS='{' '.join(sys.argv[1:])}'`, {datetime.date.today().isoformat()}, {processor()}, torch {torch.__version__}; {what}. "
        f"{count / 1e6:.0f} million parameters, a prompt of {PROMPT} tokens."
    )
    file.write_text("\n## ".join([*(section.rstrip("\n") + "\n" for section in sections), "\n".join([title, "", intro, "", *lines]) + "\n"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="small", choices=SIZES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="models whose name has this text")
    parser.add_argument("--quick", action="store_true", help="one round of a few tokens, for a first look")
    parser.add_argument("--eager", action="store_true", help="without torch.compile, which takes minutes")
    parser.add_argument("--write", action="store_true", help="put the table in bench/RESULTS.md")
    arguments = parser.parse_args()
    lines, count = measure(SIZES[arguments.size], arguments.only, not arguments.eager, *(8, 1) if arguments.quick else (24, 3))
    print("\n".join(lines))
    if arguments.write:
        write(lines, arguments.size, count)


if __name__ == "__main__":
    main()
