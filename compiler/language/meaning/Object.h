// Everything a kernel's text can name: constexpr values with Python's meaning, types, functions, modules, and run-time
// values. The front end evaluates to Objects, the builtins take and return Objects, and the interpreter's bridge turns
// Python objects into them.
#pragma once

#include "compiler/language/meaning/Builder.h"
#include "llvm/ADT/DynamicAPInt.h"
#include <atomic>
#include <string>
#include <variant>
#include <vector>

namespace nacre {

class Object;
struct Builtin; // Builtins.h

struct NoneValue {
  bool operator==(const NoneValue &) const { return true; }
};
struct EllipsisValue {
  bool operator==(const EllipsisValue &) const { return true; }
};

// How much an object holds: leaves, each counted as often as it is met, and levels of tuples. Both stop at their
// largest number.
struct Measure {
  uint32_t leaves = 0;
  uint32_t depth = 0;
};
// A measure that was taken once, by any thread; a copy takes its own.
struct KnownMeasure : std::atomic<Measure> {
  KnownMeasure() : std::atomic<Measure>(Measure{}) {}
  KnownMeasure(const KnownMeasure &) : KnownMeasure() {}
  KnownMeasure &operator=(const KnownMeasure &) {
    store({});
    return *this;
  }
};

struct TupleValue {
  std::vector<Object> items;
  std::vector<std::string> names; // a named tuple's field names, else empty
  std::string typeName;           // a named tuple's class name, else empty
  bool isList = false;
  // A record (a block pointer, a tensor descriptor, an aggregate) is no sequence: its fields are read by name alone,
  // and those that are constexpr stay so in locals.
  bool isRecord = false;
  // The embedder's class of an aggregate, which has its methods, or of a named tuple; else null.
  std::shared_ptr<const Object> recordClass;
  mutable KnownMeasure known; // see Object::measure; of a tuple that is whole
};
struct SliceValue; // start, stop, step

// A function written in the language. `key` identifies it (module and qualified name); the front end keeps the parsed
// text.
struct JitReference {
  std::string key;
  std::shared_ptr<void> function; // the front end's own record
};
struct ModuleReference {
  std::string name;
}; // "triton.language", "triton.language.math", ...
// An object only the embedder understands, used as a constexpr. `key` is stable: equal keys mean equal meaning.
struct OpaqueReference {
  std::string key;
  int64_t handle = 0;
};

// x.sum, x.to, dtype.is_fp8: a method and what it was taken from, which is the call's first argument.
struct BoundMethod {
  const Builtin *builtin = nullptr; // null: the standard library's function `name` (StandardLibrary.h)
  std::string name;
  std::shared_ptr<const Object> receiver;
  std::shared_ptr<const Object> function; // a method of an aggregate: the function of the language that it is
};

class Object {
public:
  using Variant = std::variant<NoneValue, EllipsisValue, bool, llvm::DynamicAPInt, double, std::string,
                               std::shared_ptr<const TupleValue>, std::shared_ptr<const SliceValue>, Type,
                               const Builtin *, JitReference, ModuleReference, OpaqueReference, BoundMethod, Value>;
  Object() : variant(NoneValue{}) {}
  template <typename T> Object(T value) : variant(std::move(value)) {}
  Object(int64_t value) : variant(llvm::DynamicAPInt(value)) {}
  Object(int value) : variant(llvm::DynamicAPInt(static_cast<int64_t>(value))) {}
  Object(const char *value) : variant(std::string(value)) {}

  template <typename T> bool is() const { return std::holds_alternative<T>(variant); }
  template <typename T> const T &as() const { return std::get<T>(variant); }

  bool isNone() const { return is<NoneValue>(); }
  bool isBool() const { return is<bool>(); }
  bool isInt() const { return is<llvm::DynamicAPInt>(); }
  bool isFloat() const { return is<double>(); }
  bool isString() const { return is<std::string>(); }
  bool isTuple() const { return isCompound() && !tuple().isRecord; }
  bool isRecord() const { return isCompound() && tuple().isRecord; }
  bool isRecord(const char *typeName) const { return isRecord() && tuple().typeName == typeName; }
  bool isCompound() const { return is<std::shared_ptr<const TupleValue>>(); } // a tuple or a record
  bool isType() const { return is<Type>(); }
  bool isValue() const { return is<Value>(); }                       // a run-time value
  bool isNumber() const { return isBool() || isInt() || isFloat(); } // a constexpr number
  bool isConstexpr() const;                                          // no run-time value anywhere inside

  const Value &value() const { return as<Value>(); }
  const TupleValue &tuple() const { return *as<std::shared_ptr<const TupleValue>>(); }
  static Object makeTuple(std::vector<Object> items);
  static Object makeSlice(Object start, Object stop, Object step);
  // A dict of constexprs: a record of (key, value) tuples.
  static Object makeDictionary(std::vector<std::pair<Object, Object>> entries);

  std::string repr() const;     // as Python's repr would show it
  std::string typeName() const; // for errors: "int", "fp32 tensor of shape [128]", "None", ...
  // A text that is equal exactly for equal constexprs (specialization and cache keys). Values are keyed by type.
  std::string key() const;
  // Taken once for each tuple, so that asking it of every result costs little.
  Measure measure() const;
  // Python's == on constexprs.
  static bool equal(const Object &a, const Object &b);

  Variant variant;
};

struct SliceValue {
  Object start, stop, step;
};

} // namespace nacre
