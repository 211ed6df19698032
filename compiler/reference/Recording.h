// Functions of the language that are called again and again on slices (the combine_fn of a reduction) need the embedder
// only once: what their first call builds is recorded, and later calls with the same types replay it.
//
// Only functions that compute lane by lane can be replayed. One that does anything else (touches memory, prints, looks
// at a value, rearranges elements) is marked so, and the embedder is called each time.
#pragma once

#include "compiler/language/meaning/Object.h"

namespace nacre {

// One operation of a recorded function. Operands count the arguments first, then the results of the operations before.
struct RecordedStep {
  enum class Kind { Constant, Spread, Unary, Binary, Compare, Fma, Select, Cast } kind;
  int op = 0; // a UnaryOp, BinaryOp, CompareOp or CastOp
  llvm::SmallVector<int, 3> operands;
  Type scalarType; // of a Cast's result
  Rounding rounding = Rounding::NearestEven;
  Value constant; // a scalar
};

struct Recording {
  bool isReplayable = false;
  std::vector<RecordedStep> steps;
  std::vector<int> results;
  bool returnsTuple = false;

  Object replay(Builder &builder, llvm::ArrayRef<Object> arguments) const;
  // AddF or MulF, where the function returns the sum or the product of its two arguments and does nothing else.
  std::optional<BinaryOp> sumOrProduct() const;
};

// Recordings by function and argument types.
class RecordingCache {
public:
  // Null when the function has not been recorded for these types; arguments that are not tiles of one shape have no
  // recording.
  const Recording *find(const JitReference &function, llvm::ArrayRef<Object> arguments) const;
  void keep(const JitReference &function, llvm::ArrayRef<Object> arguments, Recording recording);

private:
  struct Entry {
    std::string function; // its key
    llvm::SmallVector<Type, 4> scalarTypes;
    bool ofBlocks;
    Recording recording;

    bool matches(const JitReference &other, llvm::ArrayRef<Object> arguments) const;
  };
  std::vector<Entry> entries; // few: a kernel reduces in a handful of ways
};

// True when every argument is a run-time value and all have one shape.
bool areLanes(llvm::ArrayRef<Object> arguments);

// A builder that computes through another one and writes down what it was asked for.
class Recorder : public Builder {
public:
  explicit Recorder(Builder &target) : target(target) {}

  void start(llvm::ArrayRef<Object> arguments);
  // The function has returned `result`.
  Recording finish(const Object &result);
  // The function did something that depends on more than the lanes.
  void giveUp() { replayable = false; }

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
  Value record(RecordedStep step, llvm::ArrayRef<Value> operands, Value result);
  std::optional<int> placeOf(const Value &value) const;
  Builder &passOn(); // gives up, and goes on with the target

  Builder &target;
  bool replayable = false;
  llvm::SmallVector<int64_t> laneShape;
  std::vector<RecordedStep> steps;
  std::vector<std::pair<Value, int>> places; // the values seen, which are kept alive so that their handles stay theirs
};

} // namespace nacre
