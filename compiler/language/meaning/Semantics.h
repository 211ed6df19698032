// The meaning of the language's operators, written once over the abstract builder: promotion, broadcasting, conversions
// and their error texts. Every function takes Objects (constexpr or run-time) and gives an Object: constexpr operands
// stay constexpr and follow Python, anything with a run-time value becomes one.
#pragma once

#include "compiler/language/meaning/AssemblyNotation.h"
#include "compiler/language/meaning/Object.h"

namespace nacre {

// What a builtin or an operator may ask of whoever evaluates: the front end or the interpreter.
class Evaluation {
public:
  virtual ~Evaluation() = default;
  virtual Builder &builder() = 0;
  // Calls a function of the language (a combine_fn, a map_elementwise body) at the current place.
  virtual Object call(const Object &function, llvm::ArrayRef<Object> arguments) = 0;
  // Calls a function of the language that is written for single elements, on tiles of one shape or on scalars: its
  // conditions may differ from element to element. One call takes `pack` elements of each argument in turn, and gives
  // as many of each result in turn; the results are tiles, or with a pack of 1 scalars where no element differs from
  // another.
  virtual Object callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int pack) = 0;
  // Calls a function of the language on two scalars of `type`, a float, only to see what it does: AddF or MulF where it
  // returns their sum or product and does nothing else.
  virtual std::optional<BinaryOp> sumOrProduct(const Object &function, Type type) = 0;
  // A user's library, which the result of the evaluation depends on from now on.
  virtual llvm::Expected<std::shared_ptr<const ExternalLibrary>> library(llvm::StringRef path) {
    return ExternalLibrary::find(path);
  }
  // The file of a library that the launch's extern_libs names; empty: none.
  virtual std::string libraryNamed(llvm::StringRef) const { return ""; }
  virtual bool debug() const = 0; // device_assert is live
  virtual bool sanitizeOverflow() const = 0;
  virtual void staticPrint(llvm::StringRef text) = 0;
  // A name of the target: "cpu", "cuda:90", for target_info.
  virtual std::string target() const = 0;
  // What the target says of itself: how inline assembly is written, and how many threads run a program.
  virtual AssemblyNotation assembly() const { return {}; }
  virtual int numWarps() const { return 1; }
  virtual int warpSize() const { return 1; }
  // The input_precision of a dot that names none; empty: the language's own.
  virtual std::string defaultInputPrecision() const { return ""; }

  // Throws CompileError at the builder's current location.
  [[noreturn]] void fail(Diagnostic::Kind kind, const std::string &message, const std::string &hint = "");
};

enum class Operator { Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, And, Or, Xor, Shl, Shr };
enum class UnaryOperator { Plus, Minus, Invert, Not };
enum class Comparison { Eq, Ne, Lt, Le, Gt, Ge, Is, IsNot, In, NotIn };

Object applyOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs);
// The same as a kernel's own text asks for it: where overflow is checked (debug and sanitizeOverflow), +, - and * of
// signed integers below 64 bits also assert that the result fits.
Object applyCheckedOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs);
Object applyUnary(Evaluation &evaluation, UnaryOperator op, const Object &operand);
Object applyComparison(Evaluation &evaluation, Comparison op, const Object &lhs, const Object &rhs);
// `and` / `or` of run-time int1 values (the caller short-circuits constexprs).
Object applyLogical(Evaluation &evaluation, bool isAnd, const Object &lhs, const Object &rhs);

// Attribute of anything but a module or embedder object: x.shape, x.dtype, x.T, dtype.primitive_bitwidth, tuple fields.
// A method (x.sum, x.to, dtype.is_fp8) comes back as a BoundMethod: call its builtin, or the standard library's
// function when that is null, with the receiver as first argument. Null when there is none.
std::optional<Object> attribute(Evaluation &evaluation, const Object &object, llvm::StringRef name);
// x[...]: `index` is one Object or a tuple of them (None, slices, ints, Ellipsis).
Object subscript(Evaluation &evaluation, const Object &object, const Object &index);

// A constexpr number, or a value, as a run-time value. `type` null: numbers become int32/uint32/int64/uint64, fp32/fp64
// (the smallest that holds them), bools int1.
Value toValue(Evaluation &evaluation, const Object &object, Type type = Type());
// Converts a value by the language's cast rules, to a scalar type; keeps the shape.
Value castTo(Evaluation &evaluation, Value value, Type scalar, std::optional<Rounding> rounding = std::nullopt,
             bool bitcast = false);
// A condition: constexpr -> bool by Python's truth; a run-time scalar or one-element tile -> int1 scalar Value.
std::variant<bool, Value> toCondition(Evaluation &evaluation, const Object &object);

// The common type by the promotion rules; throws when there is none. `forDivision`: `/`.
Type promote(Evaluation &evaluation, const Object &lhs, const Object &rhs, bool forDivision = false);
// Converts both to one type and shape.
std::pair<Value, Value> unify(Evaluation &evaluation, const Object &lhs, const Object &rhs, bool forDivision = false);
// Both to one shape, types kept (where a pointer meets a mask, ...).
std::pair<Value, Value> unifyShapes(Evaluation &evaluation, Value lhs, Value rhs);
Value broadcastTo(Evaluation &evaluation, Value value, Shape shape);
// Fails unless a function that takes `pack` elements at once gives `pack` of each result.
void checkPackedResults(Evaluation &evaluation, size_t values, int pack);

} // namespace nacre
