"""The language model of examples/llm: the same tokens as transformers from the same weights, and the same tokens however requests are computed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import nacre.kernels as nk  # noqa: E402
from llm import decoder as llm  # noqa: E402
from llm import demo, peers, safetensors_file  # noqa: E402
from llm.beams import beam_search  # noqa: E402
from llm.cache import PagedCache  # noqa: E402
from llm.engine import Engine, Sampling  # noqa: E402

CONFIG = llm.Config(
    vocab_size=300, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
    max_position_embeddings=256,
)  # fmt: skip
LENGTHS = (5, 16, 33)
needs_transformers = pytest.mark.skipif(not peers.HAS_TRANSFORMERS, reason="transformers is not installed")


@pytest.fixture(scope="module")
def weights():
    return llm.random_weights(CONFIG, seed=1)


@pytest.fixture(scope="module")
def decoder(weights):
    return llm.Decoder(CONFIG, weights)


@pytest.fixture(scope="module")
def theirs(weights):
    return peers.transformers_model(CONFIG, weights)


@pytest.fixture(scope="module")
def prompts():
    generator = torch.Generator().manual_seed(2)
    return [torch.randint(0, CONFIG.vocab_size, (length,), generator=generator).tolist() for length in LENGTHS]


def written(decoder, prompts, tokens=12, pages=64, sampling=(None,), page_size=16, **engine):
    """What is written after each prompt, all submitted at once."""
    cache = PagedCache(CONFIG, pages, page_size)
    engine = Engine(decoder, cache, **engine)
    requests = [engine.submit(prompt, tokens, sampling[index % len(sampling)]) for index, prompt in enumerate(prompts)]
    engine.run()
    assert cache.available == pages, "every page was given back"
    return [request.written for request in requests]


def generated(model, prompt, tokens=12, **options):
    return model.generate(torch.tensor([prompt]), max_new_tokens=tokens, do_sample=False, eos_token_id=None, pad_token_id=0, **options)


@needs_transformers
def test_the_same_tokens_as_transformers(decoder, theirs, prompts):
    expected = [generated(theirs, prompt)[0, len(prompt) :].tolist() for prompt in prompts]
    assert written(decoder, prompts) == expected
    assert [tokens for tokens, _, _ in (demo.timed(peers.tokens_of(theirs, prompt), 12) for prompt in prompts)] == expected


@needs_transformers
def test_logits_are_those_of_transformers(decoder, theirs, prompts):
    cache = PagedCache(CONFIG, 64)
    sequences = [cache.open(prompt) for prompt in prompts]
    assert all(map(cache.reserve, sequences))
    with torch.no_grad():
        expected = torch.cat([theirs(torch.tensor([prompt])).logits[:, -1] for prompt in prompts])
    assert torch.allclose(decoder.next_logits(cache, sequences), expected, atol=2e-5)


@needs_transformers
@pytest.mark.parametrize("format", ("q8_0", "q4_0"))
def test_quantized_weights(format, weights, prompts):
    """transformers gets the weights that the quantized ones stand for."""

    def rounded(name, weight):
        if weight.dim() == 1 or name == "model.embed_tokens.weight":
            return weight
        return nk.dequantize(nk.quantize(weight, format=format)[0], format=format)

    theirs = peers.transformers_model(CONFIG, {name: rounded(name, weight) for name, weight in weights.items()})
    decoder = llm.Decoder(CONFIG, weights, format=format)
    assert written(decoder, prompts[:2]) == [generated(theirs, prompt)[0, len(prompt) :].tolist() for prompt in prompts[:2]]


@needs_transformers
def test_beam_search(decoder, theirs, prompts):
    prompt, beams = prompts[1], 4
    options = {"num_beams": beams, "num_return_sequences": beams, "length_penalty": 0.0, "output_scores": True, "return_dict_in_generate": True}
    expected = generated(theirs, prompt, tokens=20, **options)
    cache = PagedCache(CONFIG, 32, page_size=8)
    found = beam_search(decoder, cache, prompt, beams, 20)
    assert [tokens for _, tokens in found] == expected.sequences[:, len(prompt) :].tolist()
    assert torch.allclose(torch.tensor([score for score, _ in found]), expected.sequences_scores, atol=1e-3)
    assert cache.available == 32


def test_a_beam_ends_at_the_end_token(decoder, prompts):
    (_, tokens), *_ = beam_search(decoder, PagedCache(CONFIG, 32), prompts[0], 2, 10)
    end = tokens[3]
    for score, tokens in beam_search(decoder, PagedCache(CONFIG, 32), prompts[0], 2, 10, end_token=end):
        assert end not in tokens[:-1] and (len(tokens) == 10 or tokens[-1] == end)
    with pytest.raises(MemoryError, match="of the cache are in use"):
        beam_search(decoder, PagedCache(CONFIG, 3), prompts[0], 4, 40)


def test_a_request_does_not_depend_on_others(decoder, prompts):
    """Greedy and sampled, alone, together, two at a time, and with so few pages that requests have to make room."""
    sampling = (None, Sampling(temperature=0.9, top_k=40, top_p=0.9, seed=5), Sampling(temperature=1.2, min_p=0.02, repetition_penalty=1.3, seed=6))
    alone = [written(decoder, [prompt], sampling=[setting])[0] for prompt, setting in zip(prompts, sampling)]
    assert written(decoder, prompts, sampling=sampling) == alone
    assert written(decoder, prompts, sampling=sampling, most_together=2) == alone
    assert written(decoder, prompts, sampling=sampling, page_size=8, pages=6) == alone
    assert alone[1] != written(decoder, prompts[1:2])[0], "sampled tokens are not the likeliest ones"


def test_requests_come_and_go(decoder, prompts):
    engine = Engine(decoder, PagedCache(CONFIG, 64))
    first = engine.submit(prompts[0], 10)
    for _ in range(4):
        engine.step()
    assert len(first.written) == 4
    second = engine.submit(prompts[2], 3)
    assert engine.step() == [] and len(second.written) == 1 and len(first.written) == 4, "a prompt is a step of its own"
    assert engine.step() == [] and engine.step() == [second]
    engine.run()
    assert [first.written, second.written] == [written(decoder, [prompts[0]], 10)[0], written(decoder, [prompts[2]], 3)[0]]
    end = first.written[2]
    third = engine.submit(prompts[0], 10, end_token=end)
    engine.run()
    assert third.written == first.written[:3]


def test_a_beginning_is_computed_once(decoder, prompts):
    cache = PagedCache(CONFIG, 12, page_size=8)
    engine = Engine(decoder, cache)
    first = engine.submit(prompts[2], 4)
    engine.run()
    again, longer, other = engine.submit(prompts[2], 4), engine.submit(prompts[2][:20] + prompts[0], 4), engine.submit(prompts[1], 4)
    engine.run()
    assert (first.reused, again.reused, longer.reused, other.reused) == (0, 32, 16, 0)
    assert again.written == first.written
    assert longer.written == written(decoder, [prompts[2][:20] + prompts[0]], 4)[0]
    for seed in range(3):  # other requests take all the memory
        engine.submit(torch.randint(0, 300, (80,), generator=torch.Generator().manual_seed(seed)).tolist(), 4)
        engine.run()
    last = engine.submit(prompts[2], 4)
    engine.run()
    assert last.reused == 0 and last.written == first.written


def test_files(tmp_path, decoder, weights, prompts):
    llm.save(tmp_path, CONFIG, weights)
    config, loaded = llm.load(tmp_path)
    assert config == CONFIG and loaded.keys() == weights.keys()
    assert all(torch.equal(loaded[name], weight) for name, weight in weights.items())
    assert written(llm.Decoder(config, loaded), prompts[:1]) == written(decoder, prompts[:1])
    halves = {"a": torch.arange(6, dtype=torch.bfloat16).view(2, 3), "empty": torch.empty(0, 4), "b": torch.tensor(3)}
    safetensors_file.save(tmp_path / "halves", halves)
    assert all(torch.equal(halves[name], x) and halves[name].dtype == x.dtype for name, x in safetensors_file.load(tmp_path / "halves").items())


@needs_transformers
def test_files_of_transformers(tmp_path, theirs, decoder, prompts):
    theirs.save_pretrained(tmp_path)
    assert written(llm.Decoder(*llm.load(tmp_path)), prompts[:1]) == written(decoder, prompts[:1])


def test_tied_embeddings(weights, prompts):
    config = llm.Config.from_json({**CONFIG.to_json(), "tie_word_embeddings": True})
    tied = {name: weight for name, weight in weights.items() if name != "lm_head.weight"}
    untied = weights | {"lm_head.weight": weights["model.embed_tokens.weight"]}
    assert written(llm.Decoder(config, tied), prompts[:1]) == written(llm.Decoder(CONFIG, untied), prompts[:1])


def test_what_is_refused(decoder, weights):
    with pytest.raises(ValueError, match="rope_type 'llama3'"):
        llm.Config.from_json({**CONFIG.to_json(), "rope_scaling": {"rope_type": "llama3"}})
    with pytest.raises(ValueError, match="'mixtral'"):
        llm.Config.from_json({**CONFIG.to_json(), "model_type": "mixtral"})
    with pytest.raises(ValueError, match="no lm_head.weight"):
        llm.Decoder(CONFIG, {name: weight for name, weight in weights.items() if name != "lm_head.weight"})
    with pytest.raises(ValueError, match="needs 45 positions; the cache and the model have 32"):
        Engine(decoder, PagedCache(CONFIG, 2)).submit([1] * 40, 6)
    with pytest.raises(ValueError, match="at least one token"):
        Engine(decoder, PagedCache(CONFIG, 2)).submit([], 6)


def test_the_demo(capsys):
    demo.main(CONFIG, prompt=8, tokens=4, requests=2)
    assert "2 requests together" in capsys.readouterr().out


PROGRAM = ROOT / os.environ.get("NACRE_BUILD_DIR", "build") / "runtime" / "test" / "example_llm"
KERNELS = ROOT / "examples" / "llm" / "kernels.py"


def run_program(*arguments):
    return subprocess.run([str(x) for x in (PROGRAM, KERNELS, *arguments)], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
def test_the_program_in_cpp_writes_the_same_tokens(tmp_path, weights, prompts, dtype):
    """From the same file, of floats of 32 or 16 bits."""
    weights = {name: weight.to(dtype) for name, weight in weights.items()}
    llm.save(tmp_path, CONFIG, weights)
    decoder = llm.Decoder(CONFIG, {name: weight.float() for name, weight in weights.items()})
    for prompt in prompts[1:] + [prompts[0][:1]]:
        done = run_program(tmp_path, 12, *prompt)
        assert done.returncode == 0, done.stderr
        assert [int(token) for token in done.stdout.split()] == written(decoder, [prompt])[0]


def test_what_the_program_in_cpp_refuses(tmp_path, weights):
    assert "usage: decoder" in run_program(tmp_path).stderr
    assert f"cannot read {tmp_path}/config.json" in run_program(tmp_path, 1, 1).stderr
    llm.save(tmp_path, CONFIG, {name: weight for name, weight in weights.items() if name != "model.layers.1.mlp.up_proj.weight"})
    assert run_program(tmp_path, 1, 1).stderr == "the files have no model.layers.1.mlp.up_proj.weight\n"
    llm.save(tmp_path, CONFIG, weights)
    done = run_program(tmp_path, 1, CONFIG.vocab_size)
    assert done.returncode == 1 and done.stderr == "the model has no token 300\n"
    (tmp_path / "model.safetensors").write_bytes((tmp_path / "model.safetensors").read_bytes()[:5000])
    assert "model.safetensors" in run_program(tmp_path, 1, 1).stderr
    (tmp_path / "config.json").write_text('{"vocab_size": [300')
    assert run_program(tmp_path, 1, 1).stderr == "JSON: , is expected at byte 19\n"
