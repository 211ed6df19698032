// The builder that computes at once, on host memory: the living definition of what every operation means.
//
// Pointers are host addresses. Masked-off lanes are never touched. Arithmetic is bit-exact: integers wrap; fp16, bf16
// and fp8 are computed in float and rounded once to nearest even. What the language leaves undefined is written down
// where it is computed (IntegerKernels.cpp, Casts.cpp). One builder serves one program at a time; builders on several
// threads may share memory, with atomics that are atomic.
#pragma once

#include "compiler/language/meaning/Builder.h"
#include "compiler/reference/MemoryMap.h"
#include "compiler/reference/NativeCode.h"
#include <array>

namespace nacre {

// What stopped a program, where it was not an error of the language. The error thrown says it in words; hosts that tell
// these apart look here.
struct ProgramFault {
  enum class Kind { Memory, Assertion } kind;
  std::array<uint32_t, 3> program;
  std::string message; // of an assertion
};

struct ProgramContext;

// Whoever looks at what programs do. What it throws ends the program.
class ProgramWatcher {
public:
  virtual ~ProgramWatcher() = default;
  struct Access {
    llvm::StringRef name; // "load"
    bool reads, writes, isAtomic;
    Type element;
    Shape shape;
    llvm::ArrayRef<uint64_t> addresses; // row-major
    const uint8_t *mask;                // a byte for each; null: all are accessed
    const MemoryMap::Range *array;      // that the pointer was made from; null: not known
  };
  // Is about to happen.
  virtual void access(const ProgramContext &program, const Access &access) = 0;
  // An operation has given a tile, the last one; those before it are what it was made of, where that is told.
  virtual void value(const ProgramContext &program, llvm::StringRef name, llvm::ArrayRef<Value> tiles) = 0;
};

// Where the program stands and what surrounds it.
struct ProgramContext {
  std::array<uint32_t, 3> programId = {0, 0, 0};
  std::array<uint32_t, 3> grid = {1, 1, 1};
  const MemoryMap *memory = nullptr;               // null: accesses are not checked
  bool leadsAnywhere = false;                      // an address was made of a number
  std::function<void(llvm::StringRef text)> print; // one whole print, newline included; null: to stdout
  std::optional<ProgramFault> fault;
  NativeCode *native = nullptr;      // runs what is machine code; null: there is none
  ProgramWatcher *watcher = nullptr; // null: nobody looks
  std::function<void()> waiting; // called while an atomic or a volatile load keeps finding the same; null: nobody cares
};

class EagerBuilder : public Builder {
public:
  ProgramContext program;

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
  Value cast(CastOp op, Value value, Type type, Rounding rounding = Rounding::NearestEven) override;

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

  // For the callers that stand between a host and the builder: a scalar of any type from its bits, and back.
  Value scalarFromBits(Type type, uint64_t bits);
  // "(x, y, z)" of the running program.
  std::string programName() const;

private:
  [[noreturn]] void fail(Diagnostic::Kind kind, const std::string &message, const std::string &hint = "") const;
  // An operation that only machine code can say, on all elements of the operands.
  Values runNative(const std::string &key, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> results,
                   const NativeCode::Emit &emit);
  // Throws MemoryFault when an enabled lane reaches outside of what it may touch: the array that the pointer was made
  // from; where that is not known, any array; and where an address may come from elsewhere, the process's memory.
  // `mask` may be null.
  enum class Access { Read, Write };
  void checkAccess(llvm::StringRef what, const Value &pointer, const Value &mask, Access access);
  void tellAccess(llvm::StringRef what, const Value &pointer, const Value &mask, Access access);

  ProcessMemory processMemory;
  // Calls program.waiting when the same place has given the same answer many times in a row.
  void noticeWaiting(const Value &pointer, const Value &answer);

  uint64_t watchedAddress = 0, watchedBits = 0;
  uint32_t sameAnswers = 0;
};

} // namespace nacre
