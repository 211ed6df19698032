"""A language model that runs on nacre.kernels: a decoder of Llama's shape, a cache in pages, continuous batching, sampling, beam search.

    decoder.py           the model: weights, quantization, one forward for prompts and for newest tokens
    cache.py             keys and values in pages, shared between sequences with the same beginning
    engine.py            requests that come and go, computed together
    beams.py             beam search
    safetensors_file.py  the file format of weights
    demo.py              writes tokens and times them, beside transformers where it is installed
    decoder.cpp          the same model in C++ with the kernels of kernels.py, without Python
"""


def main(**sizes):
    from .demo import main

    main(**sizes)
