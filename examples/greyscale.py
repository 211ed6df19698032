"""An image to greyscale: RGB bytes in, weights in float, bytes out; pixels interleaved, or each colour a plane."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def greyscale_kernel(rgb_ptr, grey_ptr, pixels, channel_stride, PIXEL_STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < pixels
    red_ptrs = rgb_ptr + PIXEL_STRIDE * offsets
    red = tl.load(red_ptrs, mask=mask)
    green = tl.load(red_ptrs + channel_stride, mask=mask)
    blue = tl.load(red_ptrs + 2 * channel_stride, mask=mask)
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    tl.store(grey_ptr + offsets, grey.to(tl.uint8), mask=mask)


def greyscale(image, block=4096):
    """image: (height, width, 3), interleaved or planes behind one another (`.permute(1, 2, 0)` of a contiguous one)."""
    height, width, _ = image.shape
    grey = torch.empty((height, width), dtype=torch.uint8, device=image.device)
    pixels = height * width
    greyscale_kernel[(triton.cdiv(pixels, block),)](
        image, grey, pixels, image.stride(2), PIXEL_STRIDE=image.stride(1), BLOCK=block
    )
    return grey


def greyscale_torch(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return (0.299 * red + 0.587 * green + 0.114 * blue).to(torch.uint8)


def main(height=1080, width=1920):
    interleaved = torch.randint(0, 256, (height, width, 3), dtype=torch.uint8, device=DEVICE)
    planes = interleaved.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    for layout, image in (("interleaved", interleaved), ("planes", planes)):
        # A tolerance of one step: a sum near a whole number may round to either side of it.
        compare(
            f"greyscale, {height}x{width} uint8, {layout}",
            lambda: greyscale(image),
            lambda: greyscale_torch(image),
            tolerance=1,
        )


if __name__ == "__main__":
    main()
