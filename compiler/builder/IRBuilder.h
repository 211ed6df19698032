// The builder that emits tile IR: language/Builder.h over an mlir::OpBuilder at an insertion point.
//
// A Value's handle is the mlir::Value's opaque pointer. Integers are signless in the IR, so the sign of a value is only
// in its language Type. Operations are folded where that is trivial. Every operation carries the place in the user's
// file that it came from, and the chain of call sites when the text belongs to an inlined helper.
#pragma once

#include "compiler/language/meaning/Builder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"

namespace nacre {

// The language's type for an IR type. Integers come out signed (i1 as int1): the operations say what they mean. Null
// for a type that is not the tile dialect's.
Type typeOfIR(mlir::Type type);

class IRBuilder : public Builder {
public:
  explicit IRBuilder(mlir::MLIRContext &context) : operations(&context) {}
  // For a pass: builds where `other` stands and tells its listener; all that is built has the location.
  IRBuilder(const mlir::OpBuilder &other, mlir::Location location) : operations(other), fixedLocation(location) {}

  mlir::OpBuilder &ops() { return operations; }

  // The IR's type for a type of the language. Throws CompileError for the one that has none (void).
  mlir::Type irType(Type type);
  static mlir::Value irValue(const Value &value) { return mlir::Value::getFromOpaquePointer(value.get()); }
  static Value wrap(mlir::Value value) { return wrap(typeOfIR(value.getType()), value); } // integers as signed ones
  static Value wrap(Type type, mlir::Value value) { return Value::unowned(type, value.getAsOpaquePointer()); }

  // The current place as an IR location; `callers` (innermost last) are the call sites it was inlined at.
  mlir::Location irLocation();
  mlir::Location irLocation(const SourceLocation &place);
  // The texts that locations were asked for in.
  const std::vector<std::shared_ptr<const SourceText>> &namedSources() const { return sources; }
  void enterCall(const SourceLocation &callSite);
  void leaveCall();

  // A value nobody reads: stands where a path that has already left gives no value.
  Value undefined(Type type);

  Value programId(int axis) override;
  Value numPrograms(int axis) override;
  Value readMachine(MachineValue which) override;
  Value constantInt(Type type, const llvm::APInt &value) override;
  Value constantFloat(Type type, const llvm::APFloat &value) override;
  Value arange(int64_t start, int64_t end) override;
  Value splat(Value scalar, Shape shape) override;
  Value expandDims(Value value, int axis) override;
  Value broadcast(Value value, Shape shape) override;
  Value reshape(Value value, Shape shape) override;
  Value permute(Value value, llvm::ArrayRef<int> order) override;
  Value concatenate(Value first, Value second, int axis) override;
  Value join(Value first, Value second) override;
  std::pair<Value, Value> split(Value value) override;
  Value extract(Value value, llvm::ArrayRef<int64_t> index) override;
  Value gather(Value source, Value index, int axis) override;
  Value unary(UnaryOp op, Value value, Accuracy accuracy = Accuracy::Rounded) override;
  Value binary(BinaryOp op, Value lhs, Value rhs, Accuracy accuracy = Accuracy::Rounded) override;
  Value compare(CompareOp op, Value lhs, Value rhs) override;
  Value fma(Value a, Value b, Value c) override;
  Value select(Value condition, Value whenTrue, Value whenFalse) override;
  Value cast(CastOp op, Value value, Type type, Rounding rounding) override;
  Value addPointer(Value pointer, Value offset) override;
  Value load(Value pointer, Value mask, Value other, const LoadOptions &options) override;
  void store(Value pointer, Value value, Value mask, const StoreOptions &options) override;
  Value atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) override;
  Value atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) override;
  Value makeDescriptor(const BlockArray &array, Padding padding) override;
  Value loadDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets,
                       const LoadOptions &options) override;
  void storeDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value) override;
  void reduceDescriptor(AtomicOp op, const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value) override;
  Value gatherDescriptor(const Descriptor &descriptor, Value rows, Value column, const LoadOptions &options) override;
  void scatterDescriptor(const Descriptor &descriptor, Value rows, Value column, Value value) override;
  Value dotScaled(const ScaledOperand &a, const ScaledOperand &b, Value accumulator, bool ignoresNan) override;
  Value dot(Value a, Value b, Value accumulator, const DotOptions &options) override;
  Values reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) override;
  Values scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) override;
  Value histogram(Value value, int64_t bins, Value mask) override;
  void devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) override;
  void deviceAssert(Value condition, llvm::StringRef message) override;
  void barrier() override;
  void assume(Value condition) override;
  Value hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) override;
  Values inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Value> operands,
                        llvm::ArrayRef<Type> results, bool isPure, int pack) override;
  Value externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result,
                     bool isPure) override;

private:
  template <typename Op, typename... Arguments> Value emit(Type type, Arguments &&...arguments);
  // fp8 has no arithmetic: operands are widened to fp32 and results narrowed back.
  Value widenFp8(Value value);
  Value narrowFp8(Value value, Type type);
  void fillCombine(mlir::Region &region, llvm::ArrayRef<Value> operands, const Combine &combine);

  mlir::OpBuilder operations;
  std::optional<mlir::Location> fixedLocation;
  std::vector<mlir::Location> callers;
  std::vector<std::shared_ptr<const SourceText>> sources;
};

} // namespace nacre
