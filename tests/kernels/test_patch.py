"""nacre.kernels.patch: models of transformers give the same results and gradients, write the same tokens, and train the same."""

import copy

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import nacre.kernels as nk  # noqa: E402
from comparison import assert_near  # noqa: E402

DECODER = dict(
    vocab_size=96, hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=None, eos_token_id=None,
)  # fmt: skip
ENCODER = dict(hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
MODELS = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER),
    "mistral": ("MistralForCausalLM", "MistralConfig", DECODER | dict(sliding_window=5)),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {name: value for name, value in DECODER.items() if name != "head_dim"}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", DECODER),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", DECODER),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", DECODER | dict(sliding_window=5, query_pre_attn_scalar=16, attn_logit_softcapping=5.0)),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", DECODER | dict(sliding_window=5, query_pre_attn_scalar=16)),
    "bert": ("BertForTokenClassification", "BertConfig", ENCODER | dict(vocab_size=96, max_position_embeddings=64, num_labels=5)),
    "vit": ("ViTForImageClassification", "ViTConfig", ENCODER | dict(image_size=12, patch_size=4, num_labels=5)),
}


def made(name, **changes):
    """A model whose every parameter, also what starts as 0 or 1, has a random part."""
    model, config, fields = MODELS[name]
    torch.manual_seed(3)
    model = getattr(transformers, model)(getattr(transformers, config)(**(fields | changes), attn_implementation="eager"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
    return model.eval()


def inputs_of(name, rows=2, length=9):
    generator = torch.Generator().manual_seed(4)
    if name == "vit":
        return {"pixel_values": torch.randn(rows, 3, 12, 12, generator=generator), "labels": torch.tensor([1, 4])}
    tokens = torch.randint(1, 96, (rows, length), generator=generator)
    labels = tokens.clone() if name != "bert" else torch.randint(0, 5, (rows, length), generator=generator)
    labels[0, 3] = -100
    return {"input_ids": tokens, "labels": labels}


def in_float64(inputs):
    return {key: x.double() if x.is_floating_point() else x for key, x in inputs.items()}


def assert_same(ours, theirs, inputs, terms=256):
    """Results and all gradients; `theirs` is in float64. Where tokens are padding, the results mean nothing."""
    counted = inputs.get("attention_mask", torch.ones(1)).bool()
    actual, expected = ours(**inputs), theirs(**in_float64(inputs))
    pair = [x.logits if counted.all() else x.logits[counted] for x in (actual, expected)]
    assert_near(*pair, terms, name="the logits")
    assert_near(actual.loss, expected.loss, terms, name="the loss")
    actual.loss.backward(), expected.loss.backward()
    wanted = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        assert (parameter.grad is None) == (wanted[name].grad is None), name
        if parameter.grad is not None:
            assert_near(parameter.grad, wanted[name].grad, 4 * terms, name=f"the gradient of {name}")


@pytest.mark.parametrize("name", MODELS)
def test_results_and_gradients(name):
    theirs = made(name)
    ours = copy.deepcopy(theirs)
    parameters = dict(ours.named_parameters())
    assert nk.patch(ours) is ours
    assert all(parameter is parameters[key] for key, parameter in ours.named_parameters())
    replaced = {type(module).__name__ for module in ours.modules() if type(module).__name__.startswith("Nacre")}
    assert len(replaced) >= 2, replaced
    inputs = inputs_of(name)
    if name != "vit":
        inputs["attention_mask"] = torch.ones(2, 9, dtype=torch.int64)
        inputs["attention_mask"][1, 7:] = 0
        inputs["labels"][1, 7:] = -100
    assert_same(ours, theirs.double(), inputs)


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_without_padding(name):
    """Then there is no mask: attention is causal, or sees all."""
    theirs = made(name)
    assert_same(nk.patch(copy.deepcopy(theirs)), theirs.double(), inputs_of(name))


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_the_same_tokens_are_written(name):
    theirs = made(name)
    ours = nk.patch(copy.deepcopy(theirs))
    tokens = inputs_of(name)["input_ids"]
    mask = torch.ones_like(tokens)
    mask[0, :4] = 0
    cases = [{"attention_mask": mask}, {}] + [{"num_beams": 3}] * (name == "llama")
    for options in cases:
        written = [model.generate(tokens, max_new_tokens=8, do_sample=False, **options).tolist() for model in (ours, theirs)]
        assert written[0] == written[1]


def test_a_cache_of_fixed_size():
    theirs = made("llama")
    ours = nk.patch(copy.deepcopy(theirs))
    tokens = inputs_of("llama")["input_ids"]
    written = [model.generate(tokens, max_new_tokens=6, do_sample=False, cache_implementation="static", disable_compile=True) for model in (ours, theirs)]
    assert torch.equal(*written)


def test_bfloat16():
    theirs = made("llama").bfloat16()
    ours = nk.patch(copy.deepcopy(theirs))
    inputs = inputs_of("llama")
    with torch.no_grad():
        actual, expected, exact = (model(**inputs) for model in (ours, theirs, copy.deepcopy(theirs).double()))
    assert actual.logits.dtype == torch.bfloat16 and actual.loss.dtype == expected.loss.dtype
    errors = [(x.logits.double() - exact.logits).abs().max() for x in (actual, expected)]
    assert errors[0] <= 1.5 * errors[1]


def test_the_loss_of_counted_items():
    theirs = made("llama")
    ours = nk.patch(copy.deepcopy(theirs))
    inputs = inputs_of("llama")
    assert_near(ours(**inputs, num_items_in_batch=7).loss, theirs(**inputs, num_items_in_batch=7).loss)
    shifted = {"labels": inputs["labels"], "shift_labels": inputs["labels"].roll(2, 1).contiguous()}
    assert_near(ours(inputs["input_ids"], **shifted).loss, theirs(inputs["input_ids"], **shifted).loss)


class Adapted(torch.nn.Module):
    """LoRA: a frozen linear layer and the product of two small matrices, the second of which starts as 0."""

    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = torch.nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.up = torch.nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + x @ self.down.T @ self.up.T


def trained(patches_before, patches_after):
    """The losses of some steps of a model with adapters."""
    model = made("llama")
    if patches_before:
        nk.patch(model)
    model.requires_grad_(False)
    torch.manual_seed(5)
    for layer in model.model.layers:
        layer.self_attn.q_proj = Adapted(layer.self_attn.q_proj, 4)
        layer.self_attn.v_proj = Adapted(layer.self_attn.v_proj, 4)
        layer.mlp.gate_proj = Adapted(layer.mlp.gate_proj, 4)
    if patches_after:
        nk.patch(model)
    model.train()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert len(parameters) == 12
    optimizer = torch.optim.AdamW(parameters, lr=0.02)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = model(**inputs_of("llama")).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def test_low_rank_adapters_train_the_same():
    expected = trained(False, False)
    assert expected[-1] < 0.8 * expected[0], "the model learns"
    assert torch.allclose(trained(True, False), expected, rtol=2e-4)
    assert torch.allclose(trained(False, True), expected, rtol=2e-4)


def test_twice_is_once_and_copies_work():
    model = nk.patch(made("llama"))
    classes = [type(module) for module in model.modules()]
    assert [type(module) for module in nk.patch(model).modules()] == classes
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.model.norm.weight.zero_()
        inputs = inputs_of("llama")
        assert not other(**inputs).logits.any() and model(**inputs).logits.any()
    assert isinstance(model.model.norm, transformers.models.llama.modeling_llama.LlamaRMSNorm)


def test_weights_are_saved_and_loaded(tmp_path):
    model = nk.patch(made("qwen2"))
    model.save_pretrained(tmp_path)
    loaded = transformers.Qwen2ForCausalLM.from_pretrained(tmp_path)
    inputs = inputs_of("qwen2")
    with torch.no_grad():
        assert torch.allclose(loaded(**inputs).logits, model(**inputs).logits, atol=1e-4)


def test_it_stays_in_the_graph_of_torch_compile():
    model = nk.patch(made("llama"))
    tokens = inputs_of("llama")["input_ids"]
    with torch.no_grad():
        compiled = torch.compile(lambda tokens: model(tokens, use_cache=False).logits, fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(tokens), model(tokens).logits, atol=1e-5)


def test_what_is_refused():
    with pytest.raises(TypeError, match="model is a Linear; a model of transformers is expected"):
        nk.patch(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="model is of the type 'gpt2'; llama, .* are supported"):
        nk.patch(transformers.GPT2Model(transformers.GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=8)))
    model = made("llama", hidden_act="relu2")
    with pytest.raises(ValueError, match="LlamaMLP has the activation ReLUSquaredActivation; SiLUActivation, .* are supported"):
        nk.patch(model)
    assert type(model.model.norm).__name__ == "LlamaRMSNorm", "nothing has changed"
    bert = nk.patch(made("bert", attention_probs_dropout_prob=0.1))
    bert(**inputs_of("bert"))
    with pytest.raises(ValueError, match="BertSelfAttention has a dropout of 0.1 in its attention"):
        bert.train()(**inputs_of("bert"))
    with pytest.raises(ValueError, match="attention takes no output_attentions: load the model with attn_implementation='eager'"):
        bert.eval()(**inputs_of("bert"), output_attentions=True)
