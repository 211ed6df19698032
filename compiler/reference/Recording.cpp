// Writing down and replaying lane-by-lane functions.
#include "compiler/reference/Recording.h"
#include "compiler/reference/Buffer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

bool nacre::areLanes(llvm::ArrayRef<Object> arguments) {
  return !arguments.empty() && llvm::all_of(arguments, [&](const Object &argument) {
    return argument.isValue() &&
           argument.value().type().shape() == (arguments[0].isValue() ? arguments[0].value().type().shape() : Shape());
  });
}

bool RecordingCache::Entry::matches(const JitReference &other, llvm::ArrayRef<Object> arguments) const {
  if (arguments.size() != scalarTypes.size() || arguments[0].value().type().isBlock() != ofBlocks)
    return false;
  for (auto [argument, scalar] : llvm::zip(arguments, scalarTypes))
    if (argument.value().type().scalarType() != scalar)
      return false;
  return other.key == function;
}

const Recording *RecordingCache::find(const JitReference &function, llvm::ArrayRef<Object> arguments) const {
  for (const Entry &entry : llvm::reverse(entries))
    if (entry.matches(function, arguments))
      return &entry.recording;
  return nullptr;
}

void RecordingCache::keep(const JitReference &function, llvm::ArrayRef<Object> arguments, Recording recording) {
  Entry entry{function.key, {}, arguments[0].value().type().isBlock(), std::move(recording)};
  for (const Object &argument : arguments)
    entry.scalarTypes.push_back(argument.value().type().scalarType());
  entries.push_back(std::move(entry));
}

Object Recording::replay(Builder &builder, llvm::ArrayRef<Object> arguments) const {
  llvm::SmallVector<Value, 16> values;
  for (const Object &argument : arguments)
    values.push_back(argument.value());
  Shape shape = arguments[0].value().type().shape();
  for (const RecordedStep &step : steps) {
    auto operand = [&](int i) -> const Value & { return values[step.operands[i]]; };
    Value result;
    switch (step.kind) {
    case RecordedStep::Kind::Constant:
      result = step.constant;
      break;
    case RecordedStep::Kind::Spread:
      result = operand(0).type().isBlock() ? builder.broadcast(operand(0), shape) : builder.splat(operand(0), shape);
      break;
    case RecordedStep::Kind::Unary:
      result = builder.unary(static_cast<UnaryOp>(step.op), operand(0));
      break;
    case RecordedStep::Kind::Binary:
      result = builder.binary(static_cast<BinaryOp>(step.op), operand(0), operand(1));
      break;
    case RecordedStep::Kind::Compare:
      result = builder.compare(static_cast<CompareOp>(step.op), operand(0), operand(1));
      break;
    case RecordedStep::Kind::Fma:
      result = builder.fma(operand(0), operand(1), operand(2));
      break;
    case RecordedStep::Kind::Select:
      result = builder.select(operand(0), operand(1), operand(2));
      break;
    case RecordedStep::Kind::Cast:
      result = builder.cast(static_cast<CastOp>(step.op), operand(0), withScalar(operand(0).type(), step.scalarType),
                            step.rounding);
      break;
    }
    values.push_back(std::move(result));
  }
  if (!returnsTuple)
    return values[results[0]];
  std::vector<Object> items;
  for (int place : results)
    items.push_back(values[place]);
  return Object::makeTuple(std::move(items));
}

std::optional<BinaryOp> Recording::sumOrProduct() const {
  if (!isReplayable || returnsTuple || steps.size() != 1 || steps[0].kind != RecordedStep::Kind::Binary)
    return std::nullopt;
  auto op = static_cast<BinaryOp>(steps[0].op);
  bool isOfBoth = results[0] == 2 && steps[0].operands[0] + steps[0].operands[1] == 1;
  return isOfBoth && (op == BinaryOp::AddF || op == BinaryOp::MulF) ? std::optional(op) : std::nullopt;
}

void Recorder::start(llvm::ArrayRef<Object> arguments) {
  replayable = true;
  steps.clear();
  places.clear();
  laneShape.assign(arguments[0].value().type().shape().begin(), arguments[0].value().type().shape().end());
  for (auto [i, argument] : llvm::enumerate(arguments))
    places.emplace_back(argument.value(), static_cast<int>(i));
}

Recording Recorder::finish(const Object &result) {
  Recording recording;
  recording.returnsTuple = result.isTuple();
  std::vector<Object> items = recording.returnsTuple ? result.tuple().items : std::vector<Object>{result};
  for (const Object &item : items) {
    std::optional<int> place = item.isValue() ? placeOf(item.value()) : std::nullopt;
    replayable &= place.has_value();
    recording.results.push_back(place.value_or(0));
  }
  recording.isReplayable = replayable;
  recording.steps = std::move(steps);
  steps.clear();
  places.clear();
  return recording;
}

// From the newest: an argument given twice has two places that hold the same.
std::optional<int> Recorder::placeOf(const Value &value) const {
  for (const auto &[known, place] : llvm::reverse(places))
    if (known.get() == value.get() && known.type() == value.type())
      return place;
  return std::nullopt;
}

Value Recorder::record(RecordedStep step, llvm::ArrayRef<Value> operands, Value result) {
  if (!replayable)
    return result;
  for (const Value &operand : operands) {
    std::optional<int> place = placeOf(operand);
    if (!place) { // made outside the function
      giveUp();
      return result;
    }
    step.operands.push_back(*place);
  }
  int place = static_cast<int>(places.size());
  steps.push_back(std::move(step));
  places.emplace_back(result, place);
  return result;
}

Builder &Recorder::passOn() {
  giveUp();
  target.setLocation(location());
  return target;
}

Value Recorder::constantInt(Type type, const llvm::APInt &value) {
  RecordedStep step{RecordedStep::Kind::Constant};
  step.constant = target.constantInt(type, value);
  Value constant = step.constant;
  return record(std::move(step), {}, constant);
}
Value Recorder::constantFloat(Type type, const llvm::APFloat &value) {
  RecordedStep step{RecordedStep::Kind::Constant};
  step.constant = target.constantFloat(type, value);
  Value constant = step.constant;
  return record(std::move(step), {}, constant);
}
Value Recorder::splat(Value scalar, Shape shape) {
  if (shape != Shape(laneShape))
    return passOn().splat(scalar, shape);
  return record({RecordedStep::Kind::Spread}, scalar, target.splat(scalar, shape));
}
Value Recorder::broadcast(Value value, Shape shape) {
  if (value.type().shape() == shape)
    return value;
  return passOn().broadcast(value, shape);
}
Value Recorder::unary(UnaryOp op, Value value, Accuracy accuracy) {
  return record({RecordedStep::Kind::Unary, static_cast<int>(op)}, value, target.unary(op, value, accuracy));
}
Value Recorder::binary(BinaryOp op, Value lhs, Value rhs, Accuracy accuracy) {
  return record({RecordedStep::Kind::Binary, static_cast<int>(op)}, {lhs, rhs}, target.binary(op, lhs, rhs, accuracy));
}
Value Recorder::compare(CompareOp op, Value lhs, Value rhs) {
  return record({RecordedStep::Kind::Compare, static_cast<int>(op)}, {lhs, rhs}, target.compare(op, lhs, rhs));
}
Value Recorder::fma(Value a, Value b, Value c) {
  return record({RecordedStep::Kind::Fma}, {a, b, c}, target.fma(a, b, c));
}
Value Recorder::select(Value condition, Value whenTrue, Value whenFalse) {
  return record({RecordedStep::Kind::Select}, {condition, whenTrue, whenFalse},
                target.select(condition, whenTrue, whenFalse));
}
Value Recorder::cast(CastOp op, Value value, Type type, Rounding rounding) {
  RecordedStep step{RecordedStep::Kind::Cast, static_cast<int>(op)};
  step.scalarType = type.scalarType();
  step.rounding = rounding;
  return record(std::move(step), value, target.cast(op, value, type, rounding));
}

// Everything else is not lane by lane.
Value Recorder::programId(int axis) { return passOn().programId(axis); }
Value Recorder::numPrograms(int axis) { return passOn().numPrograms(axis); }
Value Recorder::readMachine(MachineValue which) { return passOn().readMachine(which); }
Value Recorder::arange(int64_t start, int64_t end) { return passOn().arange(start, end); }
Value Recorder::expandDims(Value value, int axis) { return passOn().expandDims(value, axis); }
Value Recorder::reshape(Value value, Shape shape) { return passOn().reshape(value, shape); }
Value Recorder::permute(Value value, llvm::ArrayRef<int> order) { return passOn().permute(value, order); }
Value Recorder::concatenate(Value first, Value second, int axis) { return passOn().concatenate(first, second, axis); }
Value Recorder::join(Value first, Value second) { return passOn().join(first, second); }
std::pair<Value, Value> Recorder::split(Value value) { return passOn().split(value); }
Value Recorder::extract(Value value, llvm::ArrayRef<int64_t> index) { return passOn().extract(value, index); }
Value Recorder::gather(Value source, Value index, int axis) { return passOn().gather(source, index, axis); }
Value Recorder::addPointer(Value pointer, Value offset) { return passOn().addPointer(pointer, offset); }
Value Recorder::load(Value pointer, Value mask, Value other, const LoadOptions &options) {
  return passOn().load(pointer, mask, other, options);
}
void Recorder::store(Value pointer, Value value, Value mask, const StoreOptions &options) {
  passOn().store(pointer, value, mask, options);
}
Value Recorder::atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) {
  return passOn().atomic(op, pointer, value, mask, order, scope);
}
Value Recorder::atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) {
  return passOn().atomicCas(pointer, expected, desired, order, scope);
}
Value Recorder::dot(Value a, Value b, Value accumulator, const DotOptions &options) {
  return passOn().dot(a, b, accumulator, options);
}
Values Recorder::reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) {
  return passOn().reduce(operands, axis, combine);
}
Values Recorder::scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) {
  return passOn().scan(operands, axis, reverse, combine);
}
Value Recorder::histogram(Value value, int64_t bins, Value mask) { return passOn().histogram(value, bins, mask); }
void Recorder::devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) {
  passOn().devicePrint(prefix, values, hex);
}
void Recorder::deviceAssert(Value condition, llvm::StringRef message) { passOn().deviceAssert(condition, message); }
void Recorder::barrier() { passOn().barrier(); }
void Recorder::assume(Value condition) { passOn().assume(condition); }
Value Recorder::hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) { return value; }
Values Recorder::inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Value> operands,
                                llvm::ArrayRef<Type> results, bool isPure, int pack) {
  return passOn().inlineAssembly(text, constraints, operands, results, isPure, pack);
}
Value Recorder::externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result,
                             bool isPure) {
  return passOn().externalCall(function, operands, result, isPure);
}
