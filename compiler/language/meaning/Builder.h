// The abstract builder: the primitive tile operations that the semantics are written over. builder/IRBuilder emits tile
// IR, reference/EagerBuilder computes at once on host memory, reference/Recording notes calls to repeat them.
//
// Everything here is already decided: operands have equal types and shapes where an operation needs that, masks are int1 of
// the pointer's shape, axes are in range and not negative, casts are legal. Promotion, broadcasting, defaults and errors are
// the semantics' (Semantics.h).
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/language/meaning/ExternalLibrary.h"
#include "compiler/language/meaning/Type.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <memory>
#include <optional>

namespace nacre {

// A run-time value of the language: its type and the builder's own handle for it (an mlir::Value's opaque pointer, or the
// evaluator's buffer). A handle means something only to the builder that made it.
class Value {
public:
  Value() = default;
  Value(Type type, std::shared_ptr<void> handle) : valueType(type), handle(std::move(handle)) {}
  // For builders whose handles need no ownership.
  static Value unowned(Type type, void *pointer) { return Value(type, std::shared_ptr<void>(std::shared_ptr<void>(), pointer)); }
  explicit operator bool() const { return static_cast<bool>(valueType); }
  Type type() const { return valueType; }
  void *get() const { return handle.get(); }
  const std::shared_ptr<void> &shared() const { return handle; }

private:
  Type valueType;
  std::shared_ptr<void> handle;
};

using Values = llvm::SmallVector<Value, 2>;

enum class UnaryOp {
  Not,            // integers: bitwise complement (int1: logical not)
  NegF, AbsF, AbsI,
  Exp, Exp2, Log, Log2, Sin, Cos, Tan, Sqrt, Rsqrt, Erf, Floor, Ceil, Trunc, RoundEven, Round,
  Tanh, Sinh, Cosh, Asin, Acos, Atan, Asinh, Acosh, Atanh, Expm1, Log1p, Log10, Cbrt, Erfc,
};

enum class BinaryOp {
  AddI, SubI, MulI, DivS, DivU, RemS, RemU, And, Or, Xor, Shl, ShrS, ShrU, MinS, MinU, MaxS, MaxU,
  MulHighU, MulHighS,
  AddF, SubF, MulF, DivF, RemF, // RemF is C's fmod
  MinNumF, MaxNumF,             // NaN is ignored
  MinimumF, MaximumF,           // NaN is propagated
  Pow, Atan2, CopySign,
};

enum class CompareOp {
  Eq, Ne, LtS, LeS, GtS, GeS, LtU, LeU, GtU, GeU, // integers
  EqF, NeF, LtF, LeF, GtF, GeF,                    // NeF is true on NaN, the others false
};

enum class CastOp {
  Truncate, ExtendSigned, ExtendUnsigned, // integer widths (ExtendUnsigned from int1 too)
  FloatExtend, FloatTruncate,             // FloatTruncate rounds as `Rounding` says; to fp8 it saturates
  FloatToSigned, FloatToUnsigned,         // toward zero
  SignedToFloat, UnsignedToFloat,
  Bitcast,                                // equal widths, also pointer to pointer
  PointerToInt, IntToPointer,
};
// fp16 <-> bf16 and fp8 <-> fp8 are FloatExtend/FloatTruncate through fp32, put together by the semantics.

enum class Rounding { NearestEven, TowardZero };

// How near a division, a root or an elementary function comes to the true result.
enum class Accuracy {
  Rounded, // as near as can be: div_rn, sqrt_rn, and every operation that says nothing
  Usual,   // what `/`, tl.sqrt, tl.rsqrt and tl.exp2 promise: a few ulp off in fp32, where that is faster
  Fast,    // the fast_ functions: the machine's own approximation, also where its range is smaller
};

enum class CacheModifier { None, CA, CG, CS, CV, WB, WT };
enum class EvictionPolicy { Normal, First, Last };
enum class AtomicOp { And, Or, Xor, AddI, AddF, MaxS, MaxU, MinS, MinU, MaxF, MinF, Exchange };
enum class MemoryOrder { Relaxed, Acquire, Release, AcquireRelease };
enum class MemoryScope { CTA, GPU, System };
enum class DotPrecision { TF32, TF32x3, IEEE, BF16x3, BF16x6 };
enum class HintKind { Divisibility, Contiguity, Constancy };

struct LoadOptions {
  CacheModifier cache = CacheModifier::None;
  EvictionPolicy eviction = EvictionPolicy::Normal;
  bool isVolatile = false;
};
struct StoreOptions {
  CacheModifier cache = CacheModifier::None;
  EvictionPolicy eviction = EvictionPolicy::Normal;
};

// An array in memory that is accessed by blocks of one shape: along each axis its extent and its stride, int64 scalars
// counted in elements.
struct BlockArray {
  Value base; // a scalar pointer; never to int1
  llvm::SmallVector<Value, 5> shape, strides;
  llvm::SmallVector<int64_t, 5> blockShape;
};

enum class Padding { Zero, Nan };

// A tensor descriptor: the builder's own value for it, or, where it has none, the array.
struct Descriptor {
  Value handle; // its type is a descriptor's; null: `array` says all
  BlockArray array;
  Padding padding = Padding::Zero; // what is outside of the array reads as
  Type blockType() const;
};

enum class ScaledFormat { E2M1, E4M3, E5M2, BF16, FP16 };

// One side of a scaled product: [.., M, K] or [.., K, N].
struct ScaledOperand {
  Value value;
  Value scale; // [.., M or N, K / group]: bytes are powers of two from 2^-127 on (255 is NaN), floats themselves; null: one
  ScaledFormat format;
  bool isPackedAlongK = true; // E2M1 has two values a byte, the first one low, along K or along the other axis
};

struct DotOptions {
  DotPrecision precision = DotPrecision::TF32;
  std::optional<int> maxImpreciseAcc = std::nullopt; // how many fp8 products may be summed in fewer bits; none: the target's choice
};

// What a program may read of the machine that runs it: nanoseconds of a clock that all programs share, the number of the
// processor (a multiprocessor, a core).
enum class MachineValue { Clock, Processor };

class Builder {
public:
  virtual ~Builder() = default;

  // What is built from here on belongs to this place; errors thrown by the semantics carry it.
  void setLocation(const SourceLocation &location) { current = location; }
  const SourceLocation &location() const { return current; }

  virtual Value programId(int axis) = 0;    // int32
  virtual Value numPrograms(int axis) = 0;  // int32
  virtual Value readMachine(MachineValue which) = 0; // Clock: int64, Processor: int32; never merged with another reading

  // Scalars. `type` is an integer or floating type; the bits fit it.
  virtual Value constantInt(Type type, const llvm::APInt &value) = 0;
  virtual Value constantFloat(Type type, const llvm::APFloat &value) = 0; // `value` is in double; rounded to `type`
  virtual Value arange(int64_t start, int64_t end) = 0;                    // int32 block

  virtual Value splat(Value scalar, Shape shape) = 0;
  virtual Value expandDims(Value value, int axis) = 0;
  virtual Value broadcast(Value value, Shape shape) = 0; // equal rank; extents of 1 grow
  virtual Value reshape(Value value, Shape shape) = 0;   // row-major order is kept; from and to scalars' blocks of one too
  virtual Value permute(Value value, llvm::ArrayRef<int> order) = 0; // result dim i is operand dim order[i]
  virtual Value concatenate(Value first, Value second, int axis) = 0;
  virtual Value join(Value first, Value second) = 0;                // new last axis of 2
  virtual std::pair<Value, Value> split(Value value) = 0;           // last axis is 2
  virtual Value extract(Value value, llvm::ArrayRef<int64_t> index) = 0; // one element at a constant place: a scalar
  virtual Value gather(Value source, Value index, int axis) = 0;

  virtual Value unary(UnaryOp op, Value value, Accuracy accuracy = Accuracy::Rounded) = 0;
  virtual Value binary(BinaryOp op, Value lhs, Value rhs, Accuracy accuracy = Accuracy::Rounded) = 0;
  virtual Value compare(CompareOp op, Value lhs, Value rhs) = 0;
  virtual Value fma(Value a, Value b, Value c) = 0; // one rounding
  virtual Value select(Value condition, Value whenTrue, Value whenFalse) = 0; // condition: int1 of the same shape
  virtual Value cast(CastOp op, Value value, Type type, Rounding rounding = Rounding::NearestEven) = 0; // `type` has the value's shape

  // Memory. `pointer` is a pointer or a block of pointers; `offset` an integer (i32, i64) of the same shape, counted in elements.
  virtual Value addPointer(Value pointer, Value offset) = 0;
  // A null mask is all true. With a mask, a null `other` reads as zero.
  virtual Value load(Value pointer, Value mask, Value other, const LoadOptions &options) = 0;
  virtual void store(Value pointer, Value value, Value mask, const StoreOptions &options) = 0;
  virtual Value atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) = 0;
  virtual Value atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) = 0;

  // Tensor descriptors. Every access checks the bounds: outside of them nothing is written, and reads give the padding.
  // Offsets are int64 scalars, one an axis; values have the blocks' type. What is not overridden is said by the operations
  // above, on the blocks' pointers and a mask (DescriptorAccess.cpp). The last stride is one.
  virtual Value makeDescriptor(const BlockArray &array, Padding padding) { return Value(); } // null: there is no such value
  virtual Value loadDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, const LoadOptions &options);
  virtual void storeDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value);
  virtual void reduceDescriptor(AtomicOp op, const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value);
  // The blocks are single rows of an array of two axes: one for each of `rows` (int64, one axis), from `column` on.
  virtual Value gatherDescriptor(const Descriptor &descriptor, Value rows, Value column, const LoadOptions &options);
  virtual void scatterDescriptor(const Descriptor &descriptor, Value rows, Value column, Value value);

  // a: [.., M, K], b: [.., K, N], accumulator: [.., M, N] (never null). The result has the accumulator's type.
  virtual Value dot(Value a, Value b, Value accumulator, const DotOptions &options) = 0;

  // The product of operands in block-scaled formats; `accumulator` is fp32. Not overridden, it is a dot of the operands'
  // values in bf16 or fp32 (ScaledDot.cpp). `ignoresNan`: scales that are NaN may be taken for numbers.
  virtual Value dotScaled(const ScaledOperand &a, const ScaledOperand &b, Value accumulator, bool ignoresNan);

  // Combines two sets of values of equal types into one set of the same types. The IR builder calls it once on scalars to fill
  // the region; the evaluator calls it on whole slices. It must not touch memory.
  using Combine = std::function<Values(llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs)>;
  // Each result drops `axis` (a scalar when the operand has rank 1).
  virtual Values reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) = 0;
  virtual Values scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) = 0;
  virtual Value histogram(Value value, int64_t bins, Value mask) = 0; // int32 [bins]

  virtual void devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) = 0;
  virtual void deviceAssert(Value condition, llvm::StringRef message) = 0; // condition: int1, any shape
  virtual void barrier() = 0;
  virtual void assume(Value condition) = 0; // int1 scalar
  // Facts for the optimizer about an integer or pointer value; one entry per axis.
  virtual Value hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) = 0;
  // Inline assembly of the target, applied to packs of `pack` elements in row-major order. Elements of under 32 bits come
  // and go packed into integers of 32, the first in the lowest bits; int1 takes 8 bits. The last pack is filled up with the
  // last element.
  virtual Values inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Value> operands,
                                llvm::ArrayRef<Type> results, bool isPure, int pack) = 0;
  // A function of a user's library on each element; the operands have one shape, `result` has it too. The library has been
  // asked whether it can be called so.
  virtual Value externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result, bool isPure) = 0;

private:
  SourceLocation current;
};

} // namespace nacre
