// How a launch makes a tensor map: the object by which a GPU copies boxes of an array between global and shared memory,
// and which a kernel takes as an argument (!simt.tensor_map). The array's base, extents and strides are expressions of
// the launch's other arguments; the box and its form in shared memory are the compiler's choice.
//
// A recipe is one line of text, as an attribute of the argument and as part of a kernel's metadata:
//
//   type=f16 base=a0 shape=a2,a3:s32 strides=a3:s32 box=64,32 swizzle=128 fill=nan
//
// Axes are in the language's order, the last one innermost with stride 1, which is not named. Extents and strides count
// elements. An expression is in postfix notation, its steps joined by colons: `a3` is the bits of argument 3, `12` a
// number, `s32` and `z32` the low 32 bits read as signed or unsigned, `+`, `-`, `*`, `min` and `max` work on the two
// numbers before, in 64 bits, and wrap. Free of MLIR: the runtime reads them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace nacre::simt {

// The value of an expression of arguments.
class LaunchExpression {
public:
  enum class Kind : uint8_t { Argument, Number, SignExtend, ZeroExtend, Add, Subtract, Multiply, Minimum, Maximum };
  struct Step {
    Kind kind;
    int64_t number = 0; // of an argument; a number; how many bits
    bool operator==(const Step &) const = default;
  };
  llvm::SmallVector<Step, 4> steps;

  static LaunchExpression number(int64_t value) { return {{{Kind::Number, value}}}; }
  static LaunchExpression argument(unsigned index) { return {{{Kind::Argument, index}}}; }
  // Both, then an operation on the two.
  static LaunchExpression combine(Kind kind, const LaunchExpression &left, const LaunchExpression &right);
  LaunchExpression then(Kind kind, int64_t number = 0) const;

  // All arguments that it names must be there.
  int64_t evaluate(llvm::ArrayRef<uint64_t> arguments) const;
  unsigned argumentCount() const; // one more than the highest number it names
  std::string text() const;
  static std::optional<LaunchExpression> parse(llvm::StringRef text);
  bool operator==(const LaunchExpression &) const = default;

  LaunchExpression() = default;
  LaunchExpression(llvm::SmallVector<Step, 4> steps) : steps(std::move(steps)) {}
};

struct TensorMapRecipe {
  // In the order of cuTensorMapEncodeTiled's.
  enum class Element : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 };
  static constexpr unsigned mostAxes = 5;

  Element element = Element::U8;
  LaunchExpression base;
  llvm::SmallVector<LaunchExpression> shape, strides; // one an axis; one an axis but the last
  llvm::SmallVector<int64_t> box;
  unsigned swizzle = 0; // bytes of a row of the pattern: 0, 32, 64 or 128
  bool fillsNaN = false;

  unsigned rank() const { return static_cast<unsigned>(shape.size()); }
  static int64_t bytesOf(Element element);
  unsigned argumentCount() const; // one more than the highest number it names
  std::string text() const;
  static std::optional<TensorMapRecipe> parse(llvm::StringRef text);

  // The numbers of one launch, in the order of the hardware: innermost axis first, strides in bytes.
  struct Numbers {
    uint64_t address = 0;
    std::array<uint64_t, mostAxes> sizes{};
    std::array<uint64_t, mostAxes - 1> strides{};
    std::array<uint32_t, mostAxes> box{};
  };
  // What is wrong with them, or an empty text. An extent of 0 or less becomes 1: the kernel itself asks whether there
  // is anything along the axis, and stays behind it where there is not.
  std::string evaluate(llvm::ArrayRef<uint64_t> arguments, Numbers &numbers) const;
};

} // namespace nacre::simt
