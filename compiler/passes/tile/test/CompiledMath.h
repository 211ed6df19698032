// One op of the math dialect, expanded by expand-math and compiled for this machine as a loop over vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace nacre {

enum class MathElement { Half, BFloat, Single, Double };

class CompiledMath {
public:
  // `opName` is "math.exp" and the like; `cpu` is a name of LLVM's, or empty for this machine's with all it has. Throws
  // std::runtime_error when the op is left unexpanded or does not compile.
  CompiledMath(const std::string &opName, unsigned operandCount, MathElement element, const std::string &cpu = "");
  ~CompiledMath();

  // How many elements one step of the loop takes; counts must be multiples of it.
  static constexpr int64_t lanes = 16;

  // out[i] = op(x[i]) or op(x[i], y[i]); `y` is not read for an op of one operand. Any number of threads may call.
  void operator()(const void *x, const void *y, void *out, int64_t count) const { function(x, y, out, count); }

private:
  struct Code;
  std::unique_ptr<Code> code;
  void (*function)(const void *, const void *, void *, int64_t) = nullptr;
};

} // namespace nacre
