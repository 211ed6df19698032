// A builder for tests: a value is the text of what would be computed, so that a test compares formulas.
#pragma once

#include "compiler/language/builtins/Builtins.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

namespace nacre::test {

inline const std::string &textOf(const Value &value) { return *static_cast<std::string *>(value.get()); }

inline Value textValue(Type type, std::string text) {
  return Value(type, std::make_shared<std::string>(std::move(text)));
}

// "formula : type", with the type in short form.
inline std::string show(const Object &object) {
  if (!object.isValue())
    return object.isTuple() && !object.isConstexpr()
               ? "(" + llvm::join(llvm::map_range(object.tuple().items, show), "; ") + ")"
               : object.repr();
  return textOf(object.value()) + " : " + object.value().type().shortName();
}

inline std::string shapeOf(Shape shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }), ",") + "]";
}

class RecordingBuilder : public Builder {
public:
  std::vector<std::string> effects; // stores, prints, ... in order

  Value programId(int axis) override { return textValue(int32(), "pid" + std::to_string(axis)); }
  Value numPrograms(int axis) override { return textValue(int32(), "programs" + std::to_string(axis)); }
  Value readMachine(MachineValue which) override {
    return which == MachineValue::Clock ? textValue(int64(), "clock") : textValue(int32(), "processor");
  }
  Value constantInt(Type type, const llvm::APInt &value) override {
    llvm::SmallString<32> text;
    value.toString(text, 10, type.isSigned());
    return textValue(type, text.str().str());
  }
  Value constantFloat(Type type, const llvm::APFloat &value) override {
    return textValue(type, Object(value.convertToDouble()).repr());
  }
  Value arange(int64_t start, int64_t end) override {
    return textValue(Type::block(int32(), {end - start}),
                     "arange(" + std::to_string(start) + "," + std::to_string(end) + ")");
  }

  Value splat(Value scalar, Shape shape) override { return textValue(scalar.type().withShape(shape), textOf(scalar)); }
  Value expandDims(Value value, int axis) override {
    llvm::SmallVector<int64_t> shape(value.type().shape());
    shape.insert(shape.begin() + axis, 1);
    return textValue(value.type().withShape(shape), "expand(" + textOf(value) + "," + std::to_string(axis) + ")");
  }
  Value broadcast(Value value, Shape shape) override {
    return textValue(value.type().withShape(shape), "broadcast(" + textOf(value) + ")");
  }
  Value reshape(Value value, Shape shape) override {
    return textValue(value.type().withShape(shape), "reshape(" + textOf(value) + ")");
  }
  Value permute(Value value, llvm::ArrayRef<int> order) override {
    llvm::SmallVector<int64_t> shape, axes(order.begin(), order.end());
    for (int axis : order)
      shape.push_back(value.type().shape()[axis]);
    return textValue(value.type().withShape(shape), "permute(" + textOf(value) + "," + shapeOf(axes) + ")");
  }
  Value concatenate(Value first, Value second, int axis) override {
    llvm::SmallVector<int64_t> shape(first.type().shape());
    shape[axis] += second.type().shape()[axis];
    return textValue(first.type().withShape(shape), call("cat", {first, second}));
  }
  Value join(Value first, Value second) override {
    llvm::SmallVector<int64_t> shape(first.type().shape());
    shape.push_back(2);
    return textValue(first.type().withShape(shape), call("join", {first, second}));
  }
  std::pair<Value, Value> split(Value value) override {
    Type half = value.type().withShape(value.type().shape().drop_back());
    return {textValue(half, "first(" + textOf(value) + ")"), textValue(half, "second(" + textOf(value) + ")")};
  }
  Value extract(Value value, llvm::ArrayRef<int64_t> index) override {
    return textValue(value.type().scalarType(), textOf(value) + shapeOf(index));
  }
  Value gather(Value source, Value index, int axis) override {
    return textValue(source.type().withShape(index.type().shape()),
                     "gather(" + textOf(source) + ", " + textOf(index) + "," + std::to_string(axis) + ")");
  }

  Value unary(UnaryOp op, Value value, Accuracy) override { return textValue(value.type(), call(name(op), {value})); }
  Value binary(BinaryOp op, Value lhs, Value rhs, Accuracy) override {
    check(lhs.type() == rhs.type());
    return textValue(lhs.type(), call(name(op), {lhs, rhs}));
  }
  Value compare(CompareOp op, Value lhs, Value rhs) override {
    check(lhs.type() == rhs.type());
    return textValue(lhs.type().withScalar(int1()), call(name(op), {lhs, rhs}));
  }
  Value fma(Value a, Value b, Value c) override {
    check(a.type() == b.type() && b.type() == c.type());
    return textValue(a.type(), call("fma", {a, b, c}));
  }
  Value select(Value condition, Value whenTrue, Value whenFalse) override {
    check(condition.type() == whenTrue.type().withScalar(int1()) && whenTrue.type() == whenFalse.type());
    return textValue(whenTrue.type(), call("select", {condition, whenTrue, whenFalse}));
  }
  Value cast(CastOp op, Value value, Type type, Rounding rounding) override {
    check(type.shape() == value.type().shape());
    return textValue(type, std::string(name(op)) + (rounding == Rounding::TowardZero ? "Rtz" : "") + "(" +
                               textOf(value) + ")");
  }

  Value addPointer(Value pointer, Value offset) override {
    check(pointer.type().shape() == offset.type().shape());
    check(offset.type().scalarType() == int32() || offset.type().scalarType() == int64());
    return textValue(pointer.type(), call("addptr", {pointer, offset}));
  }
  Value load(Value pointer, Value mask, Value other, const LoadOptions &options) override {
    Type type = pointer.type().withScalar(pointer.type().scalarType().element());
    check(!mask || mask.type() == type.withScalar(int1()));
    check(!other || other.type() == type);
    std::string text =
        "load(" + textOf(pointer) + (mask ? ", mask=" + textOf(mask) : "") + (other ? ", other=" + textOf(other) : "");
    if (options.cache != CacheModifier::None)
      text += ", cache=" + std::to_string(static_cast<int>(options.cache));
    return textValue(type, text + (options.isVolatile ? ", volatile)" : ")"));
  }
  void store(Value pointer, Value value, Value mask, const StoreOptions &options) override {
    Type type = pointer.type().withScalar(pointer.type().scalarType().element());
    check(value.type() == type);
    check(!mask || mask.type() == type.withScalar(int1()));
    effects.push_back("store(" + textOf(pointer) + ", " + textOf(value) + (mask ? ", mask=" + textOf(mask) : "") + ")");
  }
  Value atomic(AtomicOp op, Value pointer, Value value, Value mask, MemoryOrder order, MemoryScope scope) override {
    check(value.type() == pointer.type().withScalar(pointer.type().scalarType().element()));
    return textValue(value.type(), "atomic" + std::to_string(static_cast<int>(op)) + "(" + textOf(pointer) + ", " +
                                       textOf(value) + (mask ? ", mask=" + textOf(mask) : "") + ", " +
                                       std::to_string(static_cast<int>(order)) +
                                       std::to_string(static_cast<int>(scope)) + ")");
  }
  Value atomicCas(Value pointer, Value expected, Value desired, MemoryOrder order, MemoryScope scope) override {
    return textValue(desired.type(), call("cas", {pointer, expected, desired}));
  }

  Value dot(Value a, Value b, Value accumulator, const DotOptions &options) override {
    return textValue(accumulator.type(), "dot" + std::to_string(static_cast<int>(options.precision)) + "(" + textOf(a) +
                                             ", " + textOf(b) + ", " + textOf(accumulator) + ")");
  }
  Values reduce(llvm::ArrayRef<Value> operands, int axis, const Combine &combine) override {
    Values left, right, results;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      left.push_back(textValue(operand.type().scalarType(), "l" + std::to_string(index)));
      right.push_back(textValue(operand.type().scalarType(), "r" + std::to_string(index)));
    }
    for (auto [operand, combined] : llvm::zip(operands, combine(left, right))) {
      llvm::SmallVector<int64_t> shape(operand.type().shape());
      shape.erase(shape.begin() + axis);
      results.push_back(
          textValue(operand.type().withShape(shape),
                    "reduce(" + textOf(operand) + "," + std::to_string(axis) + ", " + textOf(combined) + ")"));
    }
    return results;
  }
  Values scan(llvm::ArrayRef<Value> operands, int axis, bool reverse, const Combine &combine) override {
    Values left, right, results;
    for (const Value &operand : operands) {
      left.push_back(textValue(operand.type().scalarType(), "l"));
      right.push_back(textValue(operand.type().scalarType(), "r"));
    }
    for (auto [operand, combined] : llvm::zip(operands, combine(left, right)))
      results.push_back(textValue(operand.type(), "scan(" + textOf(operand) + "," + std::to_string(axis) +
                                                      (reverse ? ",reverse, " : ", ") + textOf(combined) + ")"));
    return results;
  }
  Value histogram(Value value, int64_t bins, Value mask) override {
    return textValue(Type::block(int32(), {bins}),
                     "histogram(" + textOf(value) + (mask ? ", mask=" + textOf(mask) : "") + ")");
  }

  void devicePrint(llvm::StringRef prefix, llvm::ArrayRef<Value> values, bool hex) override {
    effects.push_back("print('" + prefix.str() + "'" + (values.empty() ? "" : ", " + call("", values)) +
                      (hex ? ", hex)" : ")"));
  }
  void deviceAssert(Value condition, llvm::StringRef message) override {
    effects.push_back("assert(" + textOf(condition) + ", '" + message.str() + "')");
  }
  void barrier() override { effects.push_back("barrier"); }
  void assume(Value condition) override { effects.push_back("assume(" + textOf(condition) + ")"); }
  Value hint(HintKind kind, Value value, llvm::ArrayRef<int64_t> values) override {
    static constexpr const char *names[] = {"divisibility", "contiguity", "constancy"};
    return textValue(value.type(),
                     std::string(names[static_cast<int>(kind)]) + "(" + textOf(value) + "," + shapeOf(values) + ")");
  }
  Values inlineAssembly(llvm::StringRef text, llvm::StringRef, llvm::ArrayRef<Value> operands,
                        llvm::ArrayRef<Type> results, bool, int) override {
    Values values;
    for (Type type : results)
      values.push_back(textValue(type, call("asm", operands)));
    return values;
  }
  Value externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result, bool) override {
    return textValue(result, call(function.symbol, operands));
  }

private:
  // A promise of Builder.h that the semantics broke.
  static void check(bool isKept) {
    if (!isKept)
      throw std::logic_error("a builder's precondition does not hold");
  }
  static std::string call(llvm::StringRef function, llvm::ArrayRef<Value> operands) {
    return function.str() + "(" + llvm::join(llvm::map_range(operands, textOf), ", ") + ")";
  }
  static const char *name(UnaryOp op) {
    static const char *const names[] = {
        "Not",  "NegF",  "AbsF", "AbsI",  "Exp",   "Exp2",  "Log",       "Log2",  "Sin",   "Cos",  "Tan",
        "Sqrt", "Rsqrt", "Erf",  "Floor", "Ceil",  "Trunc", "RoundEven", "Round", "Tanh",  "Sinh", "Cosh",
        "Asin", "Acos",  "Atan", "Asinh", "Acosh", "Atanh", "Expm1",     "Log1p", "Log10", "Cbrt", "Erfc"};
    return names[static_cast<int>(op)];
  }
  static const char *name(BinaryOp op) {
    static const char *const names[] = {
        "AddI", "SubI", "MulI",    "DivS",    "DivU",     "RemS",     "RemU",     "And",      "Or",      "Xor",  "Shl",
        "ShrS", "ShrU", "MinS",    "MinU",    "MaxS",     "MaxU",     "MulHighU", "MulHighS", "AddF",    "SubF", "MulF",
        "DivF", "RemF", "MinNumF", "MaxNumF", "MinimumF", "MaximumF", "Pow",      "Atan2",    "CopySign"};
    return names[static_cast<int>(op)];
  }
  static const char *name(CompareOp op) {
    static const char *const names[] = {"Eq",  "Ne",  "LtS", "LeS", "GtS", "GeS", "LtU", "LeU",
                                        "GtU", "GeU", "EqF", "NeF", "LtF", "LeF", "GtF", "GeF"};
    return names[static_cast<int>(op)];
  }
  static const char *name(CastOp op) {
    static const char *const names[] = {"Truncate",        "ExtendSigned",  "ExtendUnsigned",  "FloatExtend",
                                        "FloatTruncate",   "FloatToSigned", "FloatToUnsigned", "SignedToFloat",
                                        "UnsignedToFloat", "Bitcast",       "PointerToInt",    "IntToPointer"};
    return names[static_cast<int>(op)];
  }
};

// The evaluation of tests. A function of the language is a JitReference whose key names one of `functions`.
class RecordingEvaluation : public Evaluation {
public:
  Object callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int) override {
    return call(function, arguments);
  }
  Builder &builder() override { return recorder; }
  std::optional<BinaryOp> sumOrProduct(const Object &function, Type) override {
    return sums.count(function.as<JitReference>().key) ? std::optional(BinaryOp::AddF) : std::nullopt;
  }
  Object call(const Object &function, llvm::ArrayRef<Object> arguments) override {
    return functions.at(function.as<JitReference>().key)(*this, arguments);
  }
  bool debug() const override { return isDebug; }
  bool sanitizeOverflow() const override { return false; }
  void staticPrint(llvm::StringRef text) override { printed += text; }
  std::string target() const override { return targetName; }
  AssemblyNotation assembly() const override {
    return {.machine = {}, .isPtx = targetName != "cpu", .operandLetters = {}, .operandHint = {}};
  }
  int numWarps() const override { return targetName == "cpu" ? 1 : 8; }
  int warpSize() const override { return targetName == "cpu" ? 1 : 32; }

  RecordingBuilder recorder;
  std::map<std::string, std::function<Object(Evaluation &, llvm::ArrayRef<Object>)>> functions;
  std::set<std::string> sums; // those of `functions` that add two floats
  std::string printed, targetName = "cpu";
  bool isDebug = true;
};

// A named run-time value.
inline Object named(const char *name, Type type, std::initializer_list<int64_t> shape = {}) {
  return textValue(type.withShape(Shape(shape.begin(), shape.size())), name);
}

// tl.<name>(arguments), or of another module.
inline Object callLanguage(Evaluation &evaluation, llvm::StringRef name, std::vector<Object> positional,
                           std::vector<std::pair<std::string, Object>> keywords = {},
                           llvm::StringRef module = "triton.language") {
  const Builtin *builtin = findBuiltin(module, name);
  if (!builtin)
    throw std::logic_error("no builtin named " + name.str());
  return callBuiltin(evaluation, *builtin, positional, keywords);
}

// "message | hint" of the error that an action raises; "none" when it raises none.
inline std::string errorOf(const std::function<void()> &action) {
  try {
    action();
  } catch (CompileError &error) {
    return error.diagnostic.message + (error.diagnostic.hint.empty() ? "" : " | " + error.diagnostic.hint);
  }
  return "none";
}

} // namespace nacre::test
