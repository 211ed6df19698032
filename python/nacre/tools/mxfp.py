"""Microscaling formats (OCP MX) on torch tensors, to make inputs of tl.dot_scaled and to check its results.

MXFP4Tensor: elements of four bits, e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; no infinity, no NaN.
MXScaleTensor: scales of eight bits, e8m0: 2**-127 to 2**127, and NaN.

Both hold one element a byte in `data`.
"""

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS = 127
_NAN = 255


class _Encoded:
    """Elements as bytes. Made of floats (`data`), or of a size, to be filled by random()."""

    def __init__(self, data=None, size=None, device=None):
        import torch

        self.device = device
        if data is not None:
            if not isinstance(data, torch.Tensor):
                raise TypeError(f"data: expected a torch tensor, found {type(data).__name__}")
            self.device = data.device
            self.data = self._encode(data)
        elif size is not None:
            self.size = size if isinstance(size, tuple) else (size,)
        else:
            raise ValueError("either data or size is needed")

    def _check_float32(self, dtype):
        import torch

        if dtype != torch.float32:
            raise TypeError(f"{type(self).__name__} converts to torch.float32, not to {dtype}")


class MXFP4Tensor(_Encoded):
    """A tensor of e2m1 elements, one in the low half of each byte of `data`.

    data: floats to convert: rounded to nearest, ties to even; what is too large, infinite or NaN becomes 6 with its sign.
    size: the shape of a tensor for random() to fill. device: where that tensor is made.
    """

    def random(self):
        """Fills the tensor with random elements, each of the 16 alike; returns it."""
        import torch

        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype):
        """The elements as torch.float32."""
        import torch

        self._check_float32(dtype)
        values = torch.tensor([*_MAGNITUDES, *(-value for value in _MAGNITUDES)], dtype=dtype, device=self.data.device)
        return values[(self.data & 15).long()]

    @staticmethod
    def _encode(values):
        import torch

        magnitudes = values.abs().to(torch.float32)
        halfway = torch.tensor([(a + b) / 2 for a, b in zip(_MAGNITUDES, _MAGNITUDES[1:])], device=values.device)
        below = torch.searchsorted(halfway, magnitudes.contiguous(), right=False)
        above = torch.searchsorted(halfway, magnitudes.contiguous(), right=True)
        code = torch.where(below % 2 == 0, below, above)  # they differ at ties alone
        code = torch.where(magnitudes.isfinite(), code, len(halfway))
        return (code + 8 * torch.signbit(values)).to(torch.uint8)

    def to_packed_tensor(self, dim):
        """The elements, two in a byte along axis `dim`, the first in the low half. An odd axis is filled up with a zero."""
        import torch

        data = self.data
        if not 0 <= dim < data.ndim:
            raise ValueError(f"dim={dim}: a tensor of {data.ndim} axes has no such axis")
        if data.shape[dim] % 2:
            end = list(data.shape)
            end[dim] = 1
            data = torch.cat([data, torch.zeros(end, dtype=data.dtype, device=data.device)], dim)
        pairs = data.unflatten(dim, (-1, 2))
        return pairs.select(dim + 1, 0) | pairs.select(dim + 1, 1) << 4

    def unpack_packed_tensor(self, packed_tensor, dim, original_shape):
        """The bytes of one element each that to_packed_tensor(dim) packed from a tensor of `original_shape`."""
        import torch

        pairs = torch.stack((packed_tensor & 15, packed_tensor >> 4 & 15), dim + 1)
        return pairs.flatten(dim, dim + 1).narrow(dim, 0, original_shape[dim]).to(torch.uint8)


def fp8e8m0_to_float32(scale):
    """The bytes of e8m0 scales as torch.float32."""
    import torch

    exponents = scale.view(torch.uint8)
    values = torch.ldexp(torch.ones_like(exponents, dtype=torch.float32), exponents.to(torch.int32) - _BIAS)
    return values.masked_fill(exponents == _NAN, float("nan"))


class MXScaleTensor(_Encoded):
    """A tensor of e8m0 scales, the bytes of `data`.

    data: floats to convert: the power of two below or at each; what is not positive and finite becomes NaN.
    size: the shape of a tensor for random() to fill. device: where that tensor is made.
    """

    def random(self, low=None, high=None):
        """Fills the tensor with random powers of two from `low` to `high`, never NaN; returns it."""
        import math

        import torch

        smallest = 0 if low is None else min(254, max(0, math.ceil(math.log2(low)) + _BIAS))
        largest = 254 if high is None else min(254, max(0, math.floor(math.log2(high)) + _BIAS))
        if smallest > largest:
            raise ValueError(f"there is no power of two from {low} to {high}")
        self.data = torch.randint(smallest, largest + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype):
        """The scales as torch.float32."""
        self._check_float32(dtype)
        return fp8e8m0_to_float32(self.data)

    @staticmethod
    def _encode(values):
        import torch

        is_scale = values.isfinite() & (values > 0)
        _, exponents = torch.frexp(torch.where(is_scale, values, 1.0).to(torch.float32))
        biased = (exponents - 1 + _BIAS).clamp(0, 254)
        return torch.where(is_scale, biased, _NAN).to(torch.uint8)
