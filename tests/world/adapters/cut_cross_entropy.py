"""cut-cross-entropy: the loss of a linear layer over many classes, without its logits."""

from torch.nn import functional

from . import HALVES, Operator


def operators():
    from cut_cross_entropy.cce import cce_linear_cross_entropy

    def make(draw):
        count, classes, width = draw.choice(5, 16, 40), draw.choice(33, 128, 300), draw.choice(32, 64, 96)
        return {"e": draw.tensor(count, width, grad=True), "c": draw.tensor(classes, width, grad=True, scale=0.3),
                "targets": draw.integers(0, classes, count), "softcap": draw.choice(None, 20.0)}  # fmt: skip

    def loss(e, c, targets, softcap):
        logits = e @ c.T
        return functional.cross_entropy(logits if softcap is None else softcap * (logits / softcap).tanh(), targets)

    def call(e, c, targets, softcap):
        return cce_linear_cross_entropy(e, c, targets, softcap=softcap, filter_eps=None)

    return [Operator("linear_cross_entropy", make, call, loss, HALVES, tolerance=2)]
