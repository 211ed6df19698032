// Aggregates: classes of the embedder whose instances are records of the language. The embedder answers `__aggregate__`
// of such a class with an object that has
//   __fields__       the names of its fields, in order, those of the classes it inherits from first
//   __constexprs__   those that are annotated tl.constexpr
//   __constructor__  its __init__, a function of the language, or None: the fields are then the parameters
//   __defaults__     pairs of a field's name and its value when it is left out, for an __init__ that is not written
//   __ancestors__    the classes it inherits from
//   and its methods by name, functions of the language that take the instance first.
#include "compiler/frontend/Generator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

namespace {

std::vector<std::string> strings(const Object &object) {
  std::vector<std::string> result;
  for (const Object &item : object.tuple().items)
    result.push_back(item.as<std::string>());
  return result;
}

Object emptyRecord(const Object &type, const std::string &name) {
  auto record = std::make_shared<TupleValue>();
  record->typeName = name;
  record->isRecord = true;
  record->recordClass = std::make_shared<const Object>(type);
  return std::shared_ptr<const TupleValue>(std::move(record));
}

Object withField(const Object &object, const std::string &name, const Object &value) {
  auto record = std::make_shared<TupleValue>(object.tuple());
  auto found = llvm::find(record->names, name);
  if (found != record->names.end()) {
    record->items[found - record->names.begin()] = value;
  } else {
    record->names.push_back(name);
    record->items.push_back(value);
  }
  return std::shared_ptr<const TupleValue>(std::move(record));
}

} // namespace

std::optional<Object> Generator::makeAggregate(const Object &callee, const Arguments &arguments,
                                               const SourceLocation &place) {
  Embedder::Answer description = embedder.attribute(callee, "__aggregate__");
  if (!description.object || !description.object->is<OpaqueReference>())
    return std::nullopt;
  auto ask = [&](const char *name) {
    return accept(embedder.attribute(*description.object, name), std::string("`") + name + "` of an aggregate", place);
  };
  Object className = accept(embedder.attribute(callee, "__name__"), "the name of an aggregate", place);
  std::string name = className.as<std::string>();
  std::vector<std::string> fields = strings(ask("__fields__")), constexprs = strings(ask("__constexprs__"));
  Object record = emptyRecord(callee, name), init = ask("__constructor__");
  if (init.is<JitReference>()) {
    Arguments all = arguments;
    all.positional.insert(all.positional.begin(), record);
    record = inlineCall(functionOf(init.as<JitReference>()), all, place, /*constructs=*/true);
  } else {
    if (arguments.positional.size() > fields.size())
      failAt(place, Diagnostic::Kind::Argument,
             name + " has " + std::to_string(fields.size()) + " fields, but " +
                 std::to_string(arguments.positional.size()) + " values were given");
    for (auto [field, value] : llvm::zip(fields, arguments.positional))
      record = withField(record, field, value);
    for (const auto &[field, value] : arguments.keywords) {
      if (!llvm::is_contained(fields, field) || llvm::is_contained(record.tuple().names, field))
        failAt(place, Diagnostic::Kind::Argument,
               name + (llvm::is_contained(fields, field) ? " got its field twice: `" : " has no field `") + field +
                   "`");
      record = withField(record, field, value);
    }
    Object defaults = ask("__defaults__");
    for (const Object &pair : defaults.tuple().items)
      if (const std::string &field = pair.tuple().items[0].as<std::string>();
          !llvm::is_contained(record.tuple().names, field))
        record = withField(record, field, pair.tuple().items[1]);
  }

  // The fields in the class's order; what is not annotated tl.constexpr is a run-time value.
  irBuilder.setLocation(place);
  Object ordered = emptyRecord(callee, name);
  for (const std::string &field : fields) {
    auto found = llvm::find(record.tuple().names, field);
    if (found == record.tuple().names.end())
      failAt(place, Diagnostic::Kind::Argument, name + " needs a value for its field `" + field + "`",
             init.isNone() ? "" : "its __init__ must assign every field");
    Object value = record.tuple().items[found - record.tuple().names.begin()];
    bool isConstexpr = llvm::is_contained(constexprs, field);
    if (isConstexpr && !value.isConstexpr())
      failAt(place, Diagnostic::Kind::Type,
             "the field `" + field + "` of " + name +
                 " is annotated tl.constexpr, but this is a run-time value: " + value.typeName());
    ordered = withField(ordered, field, !isConstexpr && value.isNumber() ? Object(toValue(*this, value)) : value);
  }
  for (const std::string &field : record.tuple().names)
    if (!llvm::is_contained(fields, field))
      failAt(place, Diagnostic::Kind::Name, name + " has no field `" + field + "`",
             "its fields are " + llvm::join(fields, ", "));
  return ordered;
}

std::optional<Object> Generator::aggregateMethod(const Object &object, llvm::StringRef name,
                                                 const SourceLocation &place) {
  if (!object.isRecord() || !object.tuple().recordClass)
    return std::nullopt;
  Embedder::Answer description = embedder.attribute(*object.tuple().recordClass, "__aggregate__");
  if (!description.object)
    return std::nullopt;
  Embedder::Answer method = embedder.attribute(*description.object, name);
  if (!method.object && method.problem.empty())
    return std::nullopt;
  Object function = accept(method, "the method `" + name.str() + "`", place);
  if (!function.is<JitReference>())
    return function; // an attribute of the class
  return BoundMethod{nullptr, name.str(), std::make_shared<const Object>(object),
                     std::make_shared<const Object>(function)};
}

std::optional<Object> Generator::isInstanceOfAncestor(const Builtin &builtin, const Arguments &arguments,
                                                      const SourceLocation &place) {
  if (builtin.module != "builtins" || builtin.name != "isinstance" || arguments.positional.size() != 2)
    return std::nullopt;
  const Object &object = arguments.positional[0], &types = arguments.positional[1];
  if (!object.isRecord() || !object.tuple().recordClass)
    return std::nullopt;
  Embedder::Answer description = embedder.attribute(*object.tuple().recordClass, "__aggregate__");
  if (!description.object)
    return std::nullopt;
  Object ancestors =
      accept(embedder.attribute(*description.object, "__ancestors__"), "the bases of an aggregate", place);
  auto isAncestor = [&](const Object &type) {
    return llvm::any_of(ancestors.tuple().items, [&](const Object &base) { return Object::equal(base, type); });
  };
  bool found = types.isTuple() ? llvm::any_of(types.tuple().items, isAncestor) : isAncestor(types);
  return found ? std::optional<Object>(true) : std::nullopt;
}

Object Generator::replaceFields(const Arguments &arguments, const SourceLocation &place) {
  bool isAggregate = arguments.positional.size() == 1 && arguments.positional[0].isRecord() &&
                     arguments.positional[0].tuple().recordClass;
  if (!isAggregate)
    failAt(place, Diagnostic::Kind::Argument, "tl.aggregate_replace takes one aggregate, and its new fields by name");
  irBuilder.setLocation(place);
  Object record = arguments.positional[0];
  for (const auto &[field, value] : arguments.keywords) {
    auto found = llvm::find(record.tuple().names, field);
    if (found == record.tuple().names.end())
      failAt(place, Diagnostic::Kind::Argument, record.typeName() + " has no field `" + field + "`",
             "its fields are " + llvm::join(record.tuple().names, ", "));
    const Object &old = record.tuple().items[found - record.tuple().names.begin()];
    if (old.isConstexpr() && !value.isConstexpr())
      failAt(place, Diagnostic::Kind::Type,
             "the field `" + field + "` of " + record.typeName() +
                 " is a constexpr, but this is a run-time value: " + value.typeName());
    record = withField(record, field, !old.isConstexpr() && value.isNumber() ? Object(toValue(*this, value)) : value);
  }
  return record;
}

void Generator::assignField(const ast::Attribute &target, const Object &value) {
  auto *owner = llvm::dyn_cast<ast::Name>(target.value.get());
  BindingPointer binding = owner ? frame->path.names.find(owner->name) : nullptr;
  bool isRecord = binding && !binding->unavailable && binding->object.isRecord();
  if (owner && isRecord && owner->name == frame->constructed)
    return frame->path.names.bind(owner->name, withField(binding->object, target.name, value), target.location);
  if (isRecord)
    unsupported(target,
                "a field cannot be assigned: " + binding->object.typeName() + " does not change once it is made",
                "make a new one, for instance with tl.aggregate_replace");
  unsupported(target, "an attribute cannot be assigned in a kernel");
}

} // namespace nacre
