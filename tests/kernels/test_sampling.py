"""Choosing tokens: filters against sorted rows in torch, draws by their frequencies, beams against all continuations."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near  # noqa: E402


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def filtered(logits, temperature=1.0, min_p=0.0, top_k=0, top_p=1.0):
    x = logits.double() / temperature
    x = x.masked_fill(x < x.amax(-1, keepdim=True) + math.log(max(min_p, 1e-300)), -math.inf)
    if top_k:
        x = x.masked_fill(x < x.topk(top_k, -1)[0][:, -1:], -math.inf)
    values, places = x.sort(-1, descending=True)
    weights = values.softmax(-1)
    dropped = weights.cumsum(-1) - weights >= top_p
    return x.masked_fill(torch.zeros_like(dropped).scatter(1, places, dropped), -math.inf)


OPTIONS = [{"temperature": 0.7}, {"top_k": 17}, {"top_p": 0.8}, {"min_p": 0.1}, {"temperature": 1.3, "top_k": 60, "top_p": 0.9, "min_p": 0.01}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_filters(options, dtype):
    logits = (3 * random(4, 5003)).to(dtype)
    if dtype == torch.bfloat16:  # equal logits, which a sort may drop one by one
        options = {name: value for name, value in options.items() if name != "top_p"}
    kept = kernels.filter_logits(logits, **options)
    assert kept.dtype == dtype
    assert_near(kept, filtered(logits, **options))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_samples_are_among_those_kept_and_repeat(options):
    logits = 3 * random(4, 5003)
    tokens = kernels.sample(logits, seed=3, offset=1, **options)
    assert bool(filtered(logits, **options).gather(1, tokens[:, None]).isfinite().all())
    assert torch.equal(tokens, kernels.sample(logits, seed=3, offset=1, **options))


def test_settings_of_each_row():
    logits = 3 * random(4, 3000)
    top_k, top_p = torch.tensor([0, 1, 5, 50]), torch.tensor([1.0, 0.5, 1.0, 0.9])
    temperature = torch.tensor([1.0, 2.0, 0.5, 0.7])
    kept = kernels.filter_logits(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    for row in range(4):
        expected = filtered(logits[row : row + 1], float(temperature[row]), top_k=int(top_k[row]), top_p=float(top_p[row]))
        assert_near(kept[row : row + 1], expected)
    cold = kernels.sample(logits, temperature=torch.tensor([0.0, 1.0, 0.0, 1.0]), seed=5)
    assert torch.equal(cold[::2], logits.argmax(-1)[::2])


def test_frequencies_are_the_probabilities():
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0, float("-inf")])
    count = 20000
    found = torch.bincount(kernels.sample(logits.expand(count, 5), seed=11), minlength=5) / count
    wanted = logits.softmax(0)
    # Five standard deviations: the seed is fixed, so this either holds or it does not.
    assert bool(((found - wanted).abs() <= 5 * (wanted * (1 - wanted) / count).sqrt()).all())
    offsets = [int(kernels.sample(logits[None], seed=11, offset=step)) for step in range(60)]
    assert len(set(offsets)) > 2


def test_a_seed_of_a_row_goes_with_the_row():
    logits = random(1, 500).expand(6, 500)
    seeds = torch.tensor([5, 6, 7, 5, 6, 7])
    tokens = kernels.sample(logits, seed=seeds, offset=3)
    assert torch.equal(tokens[:3], tokens[3:]) and len(set(tokens.tolist())) > 1
    assert torch.equal(kernels.sample(logits[:3], seed=seeds.flip(0)[:3], offset=3), tokens[:3].flip(0))
    shared = kernels.sample(logits, seed=5)
    assert len(set(shared.tolist())) > 1
    by_offset = kernels.sample(logits, seed=5, offset=torch.arange(6))
    assert by_offset[0] == shared[0] and by_offset[2] == kernels.sample(logits, seed=5, offset=2)[2]


def test_greedy_ties_nan_and_rows_without_logits():
    nan, low = math.nan, -math.inf
    logits = torch.tensor([[1.0, 3.0, 3.0], [nan, 2.0, 1.0], [nan, low, low], [0.0, math.inf, 1.0]])
    assert kernels.greedy(logits).tolist() == [1, 1, -1, 1]
    assert kernels.sample(logits, seed=1).tolist()[1:] != [] and kernels.sample(logits)[2] == -1
    assert kernels.greedy(logits[:0]).shape == (0,)
    wide = random(3, 2048)
    assert torch.equal(kernels.greedy(wide[:, ::2]), wide[:, ::2].argmax(-1))


def test_penalties():
    counts = kernels.count_tokens(torch.tensor([[1, 1, 2, -1, 9], [3, 3, 3, 0, 0]]), 4, torch.tensor([5, 3]))
    assert counts.tolist() == [[0, 2, 1, 0], [0, 0, 0, 3]]
    logits = torch.tensor([[1.0, -1.0, 2.0, 0.0]] * 2)
    kept = kernels.filter_logits(logits, token_counts=counts, repetition_penalty=2.0, presence_penalty=0.5, frequency_penalty=0.25, temperature=0.5)
    assert kept.tolist() == [[2.0, -6.0, 0.5, 0.0], [2.0, -2.0, 4.0, -2.5]]


def every_continuation(scores, logits, finished, end_token):
    total = scores.double()[..., None] + logits.double().log_softmax(-1)
    ended = torch.full_like(total, -math.inf)
    ended[..., end_token] = scores.double()
    total = torch.where(finished[..., None], ended, total)
    values, places = total.flatten(1).topk(scores.shape[1], -1)
    return values, places // logits.shape[2], places % logits.shape[2]


@pytest.mark.parametrize("sequences, beams, vocabulary", [(3, 4, 5003), (2, 5, 1200), (2, 3, 2), (2, 1, 10)])
def test_a_step_of_beam_search(sequences, beams, vocabulary):
    scores, logits = random(sequences, beams), 2 * random(sequences, beams, vocabulary)
    finished = random(sequences, beams, seed=5) < -0.5
    found = kernels.beam_search_step(scores, logits, finished=finished, end_token=1)
    wanted = every_continuation(scores, logits, finished, 1)
    real = wanted[0].isfinite()
    assert_near(found[0], wanted[0])
    assert torch.equal(found[1][real], wanted[1][real]) and torch.equal(found[2][real], wanted[2][real])


def test_the_first_step_has_one_beam():
    logits = random(1, 3, 50)
    scores, parents, tokens = kernels.beam_search_step(torch.tensor([[0.0, -math.inf, -math.inf]]), logits)
    assert parents.tolist() == [[0, 0, 0]] and torch.equal(tokens[0], logits[0, 0].topk(3)[1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.bool, torch.float8_e4m3fn], ids=str)
def test_caches_follow_their_beams(dtype):
    cache = (10 * random(2, 3, 700, 2)).to(dtype)
    parents = torch.tensor([[2, 0, 0], [1, 1, 2]])
    moved = kernels.reorder_cache(cache.transpose(2, 3), parents)
    expected = torch.stack([cache[s].transpose(1, 2)[parents[s]] for s in range(2)])
    assert torch.equal(moved.view(torch.int8), expected.contiguous().view(torch.int8))
    assert kernels.reorder_cache(cache[:, :, :0], parents).shape == (2, 3, 0, 2)


def test_numpy():
    logits = random(3, 100).numpy()
    tokens = kernels.sample(logits, top_k=5, seed=np.arange(3))
    assert isinstance(tokens, np.ndarray) and tokens.dtype == np.int64
    assert (tokens == kernels.sample(torch.from_numpy(logits), top_k=5, seed=torch.arange(3)).numpy()).all()
    scores, parents, _ = kernels.beam_search_step(np.zeros((1, 3), np.float32), logits[None])
    assert scores.dtype == np.float32 and (kernels.reorder_cache(np.arange(3)[None], parents) == parents).all()


def test_compiled_in_one_graph():
    logits = random(3, 100)

    def step(logits, scores):
        scores, parents, tokens = kernels.beam_search_step(scores, logits[None])
        return kernels.sample(logits * 2, top_k=5, top_p=0.9, seed=4), kernels.reorder_cache(tokens, parents)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    assert all(torch.equal(x, y) for x, y in zip(compiled(logits, torch.zeros(1, 3)), step(logits, torch.zeros(1, 3))))


@pytest.mark.parametrize("call, text", [
    (lambda x: kernels.sample(x, top_p=1.5), "top_p is 1.5; it must be at least 0 and at most 1"),
    (lambda x: kernels.sample(x, temperature=-1.0), "temperature is -1.0; it must be at least 0"),
    (lambda x: kernels.sample(x, top_k=torch.ones(3)), r"top_k has shape \(3,\); \(2,\) is expected, one number a row"),
    (lambda x: kernels.sample(x, repetition_penalty=0), "repetition_penalty is 0; it must be above 0"),
    (lambda x: kernels.sample(x, token_counts=torch.zeros(2, 9).int()), r"token_counts has shape \(2, 9\); \(2, 8\)"),
    (lambda x: kernels.filter_logits(x, temperature=0.0), r"temperature is 0, .* take greedy\(\)"),
    (lambda x: kernels.sample(x[0]), r"logits has shape \(8,\)"),
    (lambda x: kernels.beam_search_step(torch.zeros(1, 3), x[None]), r"scores has shape \(1, 3\); \(1, 2\) is expected, as logits has"),
    (lambda x: kernels.beam_search_step(torch.zeros(1, 70), x[:1].expand(1, 70, 8)), "the number of beams is 70; .* at most 64"),
    (lambda x: kernels.reorder_cache(x, torch.zeros(3, 2).int()), r"cache has shape \(2, 8\); it must begin with that of parents, \(3, 2\)"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call(random(2, 8))


def test_engines(engine):
    logits = 3 * random(2, 70)
    options = {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "min_p": 0.01}
    assert_near(kernels.filter_logits(logits.to(engine.device), **options), filtered(logits, **options))
    tokens = kernels.sample(logits.to(engine.device), seed=4, **options).cpu()
    assert bool(filtered(logits, **options).gather(1, tokens[:, None]).isfinite().all())
    scores = random(1, 2)
    found = kernels.beam_search_step(scores.to(engine.device), logits[None].to(engine.device))
    wanted = every_continuation(scores, logits[None], torch.zeros(1, 2, dtype=torch.bool), 0)
    assert_near(found[0], wanted[0])
    assert torch.equal(found[1].cpu(), wanted[1]) and torch.equal(found[2].cpu(), wanted[2])
