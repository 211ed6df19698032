"""The same model in transformers, to compare with: the same weights, greedy, one forward for the prompt and one for each token."""

import importlib.util

import torch

HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None


def transformers_model(config, weights):
    from transformers import LlamaConfig, LlamaForCausalLM

    fields = config.to_json()
    del fields["model_type"]
    theirs = LlamaConfig(**fields, rope_parameters={"rope_type": "default", "rope_theta": fields.pop("rope_theta")})
    with torch.device("meta"):
        model = LlamaForCausalLM(theirs)
    model.load_state_dict(weights, assign=True, strict=not config.tie_word_embeddings)
    if config.tie_word_embeddings:
        model.tie_weights()
    model.model.rotary_emb = type(model.model.rotary_emb)(theirs)  # its buffers are not among the weights
    return model.eval()


@torch.no_grad()
def tokens_of(model, prompt):
    """Greedy tokens without an end: the next one is computed when it is asked for."""
    tokens, past = torch.tensor([prompt]), None
    while True:
        out = model(tokens, past_key_values=past, use_cache=True, logits_to_keep=1)
        tokens, past = out.logits[:, -1].argmax(-1, keepdim=True), out.past_key_values
        yield tokens.item()
