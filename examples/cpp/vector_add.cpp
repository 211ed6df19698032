// A kernel from C++: compiled from its text, launched on plain arrays. No Python is involved.
#include <cstdio>
#include <nacre/nacre.h>
#include <vector>

static const char *const text = R"(
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)";

int main() {
  constexpr int n = 98432, block = 1024;
  std::vector<float> x(n), y(n), out(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5f * static_cast<float>(i % 7);
  }
  try {
    nacre::KernelHandle add = nacre::KernelSource::fromString(text, "vector_add").kernel("add_kernel");
    add.launch({(n + block - 1) / block}, x.data(), y.data(), out.data(), n, nacre::constexprInt(block));
  } catch (const nacre::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  for (int i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i]) {
      std::fprintf(stderr, "element %d is %g instead of %g\n", i, out[i], x[i] + y[i]);
      return 1;
    }
  std::printf("%d sums are right\n", n);
}
