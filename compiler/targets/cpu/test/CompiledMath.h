// One op of the math dialect as kernels run it: through the CPU target's whole pipeline, over an array.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace nacre {

enum class MathElement { Half, BFloat, Single, Double };

class CompiledMath {
public:
  // `opName` is "math.exp" and the like; `cpu` is a name of LLVM's, or empty for this machine's with all it has. Throws
  // std::runtime_error when the op does not compile.
  CompiledMath(const std::string &opName, unsigned operandCount, MathElement element, const std::string &cpu = "");
  ~CompiledMath();

  // How many elements one program takes; counts must be multiples of it.
  static constexpr int64_t lanes = 256;

  // out[i] = op(x[i]) or op(x[i], y[i]); `y` is not read for an op of one operand. Any number of threads may call.
  void operator()(const void *x, const void *y, void *out, int64_t count) const;

private:
  struct Code;
  std::unique_ptr<Code> code;
};

} // namespace nacre
