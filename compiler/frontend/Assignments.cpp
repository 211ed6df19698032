// Assignments in all their forms. A local that is bound to a number holds a run-time value from then on, unless it is
// annotated with tl.constexpr.
#include "compiler/frontend/Generator.h"

namespace nacre {

Object Generator::localized(const Object &value) {
  if (value.isNumber())
    return toValue(*this, value);
  if (!value.isTuple())
    return value;
  auto tuple = std::make_shared<TupleValue>(value.tuple());
  for (Object &item : tuple->items)
    item = localized(item);
  return std::shared_ptr<const TupleValue>(std::move(tuple));
}

void Generator::assign(const ast::Expression &target, const Object &value) {
  bindTarget(target, value, /*keepConstexpr=*/false);
}

void Generator::assignName(llvm::StringRef name, const Object &value, const SourceLocation &place) {
  irBuilder.setLocation(place);
  // In a function of constexprs nothing becomes a run-time value by being named.
  if (frame->function->source.isConstexprFunction)
    return frame->path.names.bind(name, value, place);
  if (frame->constexprNames.count(name.str())) {
    if (!value.isConstexpr())
      failAt(place, Diagnostic::Kind::Type,
             "`" + name.str() + "` is declared tl.constexpr but is assigned a run-time value: " + value.typeName());
    frame->path.names.bind(name, value, place);
    return;
  }
  spend(value.measure().leaves / 8, place);
  frame->path.names.bind(name, localized(value), place);
}

void Generator::bindTarget(const ast::Expression &target, const Object &value, bool keepConstexpr) {
  switch (target.kind) {
  case ast::Kind::Name: {
    const std::string &name = llvm::cast<ast::Name>(target).name;
    if (keepConstexpr)
      frame->path.names.bind(name, value, target.location);
    else
      assignName(name, value, target.location);
    return;
  }
  case ast::Kind::Tuple:
    return unpack(llvm::cast<ast::Tuple>(target).elements, target, value, keepConstexpr);
  case ast::Kind::List:
    return unpack(llvm::cast<ast::List>(target).elements, target, value, keepConstexpr);
  case ast::Kind::Subscript:
    unsupported(target, "an element cannot be assigned: tiles and tuples are values, not storage",
                "build a new one with tl.where, or write to memory with tl.store");
  case ast::Kind::Attribute:
    return assignField(llvm::cast<ast::Attribute>(target), value);
  default:
    unsupported(target, "this cannot be assigned");
  }
}

void Generator::unpack(const ast::Expressions &targets, const ast::Expression &whole, const Object &value,
                       bool keepConstexpr) {
  if (!value.isTuple())
    failAt(whole.location, Diagnostic::Kind::Type, value.typeName() + " cannot be unpacked into several names",
           value.isValue() ? "use tl.split for a tile whose last axis is 2" : "");
  const std::vector<Object> &items = value.tuple().items;
  auto starred = llvm::find_if(targets, [](const auto &target) { return llvm::isa<ast::Starred>(*target); });
  size_t before = starred - targets.begin(), after = starred == targets.end() ? 0 : targets.size() - before - 1;
  bool fits = starred == targets.end() ? items.size() == targets.size() : items.size() >= before + after;
  if (!fits)
    failAt(whole.location, Diagnostic::Kind::Value,
           std::to_string(items.size()) + (items.size() == 1 ? " value" : " values") + " cannot be unpacked into " +
               (starred == targets.end() ? "" : "at least ") +
               std::to_string(starred == targets.end() ? targets.size() : before + after) + " names");
  for (size_t i = 0; i < before; ++i)
    bindTarget(*targets[i], items[i], keepConstexpr);
  if (starred == targets.end())
    return;
  auto rest = std::make_shared<TupleValue>();
  rest->isList = true;
  rest->items.assign(items.begin() + before, items.end() - after);
  bindTarget(*llvm::cast<ast::Starred>(**starred).value, std::shared_ptr<const TupleValue>(std::move(rest)),
             keepConstexpr);
  for (size_t i = 0; i < after; ++i)
    bindTarget(*targets[before + 1 + i], items[items.size() - after + i], keepConstexpr);
}

void Generator::augmentedAssign(const ast::AugmentedAssign &node) {
  if (!llvm::isa<ast::Name>(*node.target))
    bindTarget(*node.target, Object(), false); // says why it cannot be
  Object left = expression(*node.target);
  Object right = expression(*node.value);
  assign(*node.target, binaryOperation(node.op, left, right, node.location));
}

void Generator::annotatedAssign(const ast::AnnotatedAssign &node) {
  bool isConstexpr = isConstexprAnnotation(node.annotation.get());
  auto *name = llvm::dyn_cast<ast::Name>(node.target.get());
  if (!node.value) {
    if (isConstexpr && name)
      frame->constexprNames.insert(name->name);
    return;
  }
  Object value = expression(*node.value);
  // A run-time value stays what it is, whatever the annotation says.
  if (!isConstexpr || !name || !value.isConstexpr())
    return assign(*node.target, value);
  frame->path.names.bind(name->name, value, name->location);
}

void Generator::deleteNames(const ast::Delete &node) {
  for (const auto &target : node.targets) {
    auto *name = llvm::dyn_cast<ast::Name>(target.get());
    if (!name)
      unsupported(*target, "only names can be deleted in a kernel");
    lookUp(*name);
    auto reason = std::make_shared<Unavailable>();
    reason->message = "`" + name->name + "` is used after it was deleted at line " + std::to_string(node.location.line);
    frame->path.names.forbid(name->name, reason);
  }
}

} // namespace nacre
