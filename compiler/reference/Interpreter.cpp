#include "compiler/reference/Interpreter.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/Printing.h"
#include "llvm/ADT/ScopeExit.h"

using namespace nacre;

Builder &Interpreter::builder() {
  if (isRecording)
    return recorder;
  return eager;
}

Object Interpreter::call(const Object &function, llvm::ArrayRef<Object> arguments) {
  const auto *reference = std::get_if<JitReference>(&function.variant);
  if (!reference || isRecording || !areLanes(arguments))
    return embedder.call(function, arguments);
  if (const Recording *recording = recordings.find(*reference, arguments))
    return recording->isReplayable ? recording->replay(eager, arguments) : callOnTiles(*reference, arguments);
  recorder.start(arguments);
  isRecording = true;
  llvm::scope_exit stop([&] { isRecording = false; });
  Object result = callOnTiles(*reference, arguments);
  recordings.keep(*reference, arguments, recorder.finish(result));
  return result;
}

std::optional<BinaryOp> Interpreter::sumOrProduct(const Object &function, Type type) {
  const auto *reference = std::get_if<JitReference>(&function.variant);
  if (!reference || isRecording)
    return std::nullopt;
  Object arguments[] = {scalar(type, 0), scalar(type, 0)};
  const Recording *recording = recordings.find(*reference, arguments);
  if (!recording) {
    call(function, arguments);
    recording = recordings.find(*reference, arguments);
  }
  return recording->sumOrProduct();
}

Object Interpreter::callOnTiles(const JitReference &function, llvm::ArrayRef<Object> arguments) {
  bool areTiles = arguments.front().value().type().isBlock();
  if (!areTiles || !branchingFunctions.count(function.key)) {
    hasBranchedOnTile = false;
    try {
      return embedder.call(function, arguments);
    } catch (...) {
      if (!areTiles || !hasBranchedOnTile)
        throw;
      embedder.forgetError();
      branchingFunctions.insert(function.key);
    }
  }
  return callElementwise(function, arguments, 1);
}

namespace {

// A tile from its elements, in row-major order.
Value assemble(const std::vector<Value> &elements, Shape shape) {
  BufferRef tile = makeBuffer(elements.front().type().withShape(shape));
  std::byte *target = tile->data;
  for (const Value &element : elements) {
    std::memcpy(target, bufferOf(element).data, tile->elementSize());
    target += tile->elementSize();
  }
  return valueOf(std::move(tile));
}

llvm::SmallVector<int64_t> indexAt(int64_t position, Shape shape) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  return index;
}

} // namespace

Object Interpreter::callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int pack) {
  recorder.giveUp();
  Type type = arguments.front().value().type();
  if (!type.isBlock())
    return embedder.call(function, arguments);
  int64_t count = type.elementCount();
  std::vector<std::vector<Value>> parts; // one list of elements for each part of the result
  bool isTuple = false;
  for (int64_t first = 0; first < count; first += pack) {
    std::vector<Object> scalars;
    for (const Object &argument : arguments)
      for (int64_t position = first; position < first + pack; ++position)
        scalars.push_back(eager.extract(argument.value(), indexAt(std::min(position, count - 1), type.shape())));
    Object result = embedder.call(function, scalars);
    isTuple = result.isTuple();
    std::vector<Object> items = isTuple ? result.tuple().items : std::vector<Object>{result};
    checkPackedResults(*this, items.size(), pack);
    size_t results = items.size() / static_cast<size_t>(pack);
    parts.resize(first == 0 ? results : parts.size());
    if (results != parts.size())
      fail(Diagnostic::Kind::Type, "the function returns " + std::to_string(parts.size()) +
                                       " values for one element and " + std::to_string(results) + " for another");
    for (size_t i = 0; i < items.size(); ++i) {
      std::vector<Value> &part = parts[i / static_cast<size_t>(pack)];
      Value value = toValue(*this, items[i]);
      if (!part.empty() && part.front().type() != value.type())
        fail(Diagnostic::Kind::Type, "the function returns " + Object(part.front()).typeName() +
                                         " for one element and " + Object(value).typeName() + " for another");
      if (static_cast<int64_t>(part.size()) < count)
        part.push_back(value);
    }
  }
  std::vector<Object> tiles;
  for (const std::vector<Value> &elements : parts)
    tiles.push_back(assemble(elements, type.shape()));
  return isTuple ? Object::makeTuple(std::move(tiles)) : tiles.front();
}

void Interpreter::staticPrint(llvm::StringRef text) {
  recorder.giveUp();
  embedder.staticPrint(text);
}

Object Interpreter::asVariable(const Object &object) {
  return object.isNumber() ? Object(toValue(*this, object)) : object;
}

void Interpreter::mustHaveOneElement(const Value &value, const char *what) {
  recorder.giveUp(); // the function looks at its lanes
  if (value.type().elementCount() != 1)
    fail(Diagnostic::Kind::Type, Object(value).typeName() + " has no single " + what,
         "x[0] takes one element, tl.sum(x) and tl.max(x) make one of all");
}

bool Interpreter::truth(const Object &object) {
  recorder.giveUp();
  hasBranchedOnTile |= object.isValue() && object.value().type().elementCount() != 1;
  std::variant<bool, Value> condition = toCondition(*this, object);
  if (const bool *known = std::get_if<bool>(&condition))
    return *known;
  return scalarOf<uint8_t>(std::get<Value>(condition)) != 0;
}

bool Interpreter::anyTrue(const Value &value) {
  recorder.giveUp();
  Value lanes = castTo(*this, value, int1());
  BufferRef buffer = contiguous(bufferRef(lanes));
  return llvm::any_of(llvm::ArrayRef(buffer->as<uint8_t>(), buffer->count()), [](uint8_t lane) { return lane != 0; });
}

llvm::APInt Interpreter::integer(const Value &value) {
  mustHaveOneElement(value, "integer value");
  uint64_t bits = 0;
  std::memcpy(&bits, bufferOf(value).data, bufferOf(value).elementSize());
  return llvm::APInt(value.type().scalarType().bitWidth(), bits);
}

double Interpreter::number(const Value &value) {
  mustHaveOneElement(value, "number");
  ScalarKind kind = storedKind(value.type());
  if (kind == ScalarKind::Float64)
    return scalarOf<double>(value);
  if (kind == ScalarKind::Float32)
    return scalarOf<float>(value);
  float result;
  decodeFloats(kind, bufferOf(value).data, &result, 1);
  return result;
}

std::string Interpreter::text(const Value &value) {
  recorder.giveUp();
  return value.type().isBlock() ? formatTile(bufferOf(value)) : formatElement(value.type(), bufferOf(value).data);
}

std::shared_ptr<const std::byte> Interpreter::elements(const Value &value) {
  recorder.giveUp();
  BufferRef buffer = contiguous(bufferRef(value));
  return std::shared_ptr<const std::byte>(buffer, buffer->data);
}
