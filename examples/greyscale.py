"""An image to greyscale: interleaved RGB bytes in, weights in float, bytes out."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def greyscale_kernel(rgb_ptr, grey_ptr, pixels, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < pixels
    red = tl.load(rgb_ptr + 3 * offsets, mask=mask)
    green = tl.load(rgb_ptr + 3 * offsets + 1, mask=mask)
    blue = tl.load(rgb_ptr + 3 * offsets + 2, mask=mask)
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    tl.store(grey_ptr + offsets, grey.to(tl.uint8), mask=mask)


def greyscale(image, block=4096):
    height, width, _ = image.shape
    grey = torch.empty((height, width), dtype=torch.uint8, device=image.device)
    pixels = height * width
    greyscale_kernel[(triton.cdiv(pixels, block),)](image, grey, pixels, BLOCK=block)
    return grey


def greyscale_torch(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return (0.299 * red + 0.587 * green + 0.114 * blue).to(torch.uint8)


def main(height=1080, width=1920):
    image = torch.randint(0, 256, (height, width, 3), dtype=torch.uint8, device=DEVICE)
    # One step of the last bit: a sum near a whole number may round to either side of it.
    compare(f"greyscale, {height}x{width} uint8", lambda: greyscale(image), lambda: greyscale_torch(image), tolerance=1)


if __name__ == "__main__":
    main()
