"""Reads and writes safetensors files: the length of a header, the header in JSON (name -> type, shape, place), the bytes of the tensors."""

import json
import math
import mmap
import struct

import torch

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8}
_NAMES = {dtype: name for name, dtype in TYPES.items()}


def load(path):
    """Name -> tensor. The tensors lie in the file's own pages, which are read when they are touched and copied when they are written."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in TYPES:
            raise ValueError(f"{path}: {name} has the type {entry['dtype']}; {', '.join(TYPES)} are supported")
        dtype, shape = TYPES[entry["dtype"]], entry["shape"]
        start, end = entry["data_offsets"]
        if end - start != math.prod(shape) * dtype.itemsize or 8 + length + end > len(data):
            raise ValueError(f"{path}: {name} has {end - start} bytes at {start}, which do not fit its shape or the file")
        flat = torch.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=8 + length + start) if end > start else torch.empty(0, dtype=dtype)
        tensors[name] = flat.view(shape)
    return tensors


def save(path, tensors):
    """The header is padded with blanks, so that all tensors lie at multiples of 8 bytes from the file's start where their sizes are such."""
    header, place = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.itemsize
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [place, place + size]}
        place += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
