// Bindings, comparison of objects, and what a piece of syntax assigns.
#include "compiler/frontend/Environment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

BindingPointer Environment::find(llvm::StringRef name) const {
  auto found = bindings.find(std::string_view(name.data(), name.size()));
  return found == bindings.end() ? nullptr : found->second;
}

void Environment::bind(llvm::StringRef name, Object object, const SourceLocation &place) {
  bind(name, std::make_shared<Binding>(Binding{std::move(object), place, nullptr}));
}

void Environment::forbid(llvm::StringRef name, std::shared_ptr<const Unavailable> reason) {
  bind(name, std::make_shared<Binding>(Binding{Object(), SourceLocation(), std::move(reason)}));
}

void Environment::remove(llvm::StringRef name) { bindings.erase(name.str()); }

static bool sameShape(const TupleValue &a, const TupleValue &b) {
  return a.items.size() == b.items.size() && a.names == b.names && a.typeName == b.typeName && a.isList == b.isList &&
         a.isRecord == b.isRecord;
}

bool sameObject(const Object &a, const Object &b) {
  if (a.variant.index() != b.variant.index())
    return false;
  if (a.isValue())
    return a.value().get() == b.value().get() && a.value().type() == b.value().type();
  if (a.isCompound())
    return sameShape(a.tuple(), b.tuple()) &&
           std::equal(a.tuple().items.begin(), a.tuple().items.end(), b.tuple().items.begin(), sameObject);
  return a.isConstexpr() && b.isConstexpr() && a.key() == b.key();
}

std::string describeType(const Object &object) {
  if (!object.isCompound())
    return object.typeName();
  if (object.isRecord()) { // its constexpr fields are part of its type
    std::string fields;
    for (const auto &[name, item] : llvm::zip(object.tuple().names, object.tuple().items))
      fields += (fields.empty() ? "" : ", ") + name + "=" + (item.isConstexpr() ? item.repr() : describeType(item));
    return object.tuple().typeName + "(" + fields + ")";
  }
  std::string items = llvm::join(llvm::map_range(object.tuple().items, describeType), ", ");
  return object.tuple().typeName.empty() ? "a tuple of (" + items + ")" : object.tuple().typeName + "(" + items + ")";
}

void collectValues(const Object &object, llvm::SmallVectorImpl<Value> &values) {
  if (object.isValue())
    values.push_back(object.value());
  else if (object.isCompound())
    for (const Object &item : object.tuple().items)
      collectValues(item, values);
}

static Object replaceFrom(const Object &object, llvm::ArrayRef<Value> &values) {
  if (object.isValue()) {
    Object replaced = values.front();
    values = values.drop_front();
    return replaced;
  }
  if (!object.isCompound())
    return object;
  auto tuple = std::make_shared<TupleValue>(object.tuple());
  for (Object &item : tuple->items)
    item = replaceFrom(item, values);
  return std::shared_ptr<const TupleValue>(std::move(tuple));
}

Object replaceValues(const Object &object, llvm::ArrayRef<Value> values) { return replaceFrom(object, values); }

// ---- What syntax assigns

void addTargetNames(const ast::Expression &target, std::set<std::string> &names) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&target))
    names.insert(name->name);
  else if (auto *starred = llvm::dyn_cast<ast::Starred>(&target))
    addTargetNames(*starred->value, names);
  else if (auto *tuple = llvm::dyn_cast<ast::Tuple>(&target))
    for (const auto &element : tuple->elements)
      addTargetNames(*element, names);
  else if (auto *list = llvm::dyn_cast<ast::List>(&target))
    for (const auto &element : list->elements)
      addTargetNames(*element, names);
}

void addAssignedNames(const ast::Node &node, std::set<std::string> &names) {
  switch (node.kind) {
  case ast::Kind::Assign:
    for (const auto &target : llvm::cast<ast::Assign>(node).targets)
      addTargetNames(*target, names);
    break;
  case ast::Kind::AugmentedAssign:
    addTargetNames(*llvm::cast<ast::AugmentedAssign>(node).target, names);
    break;
  case ast::Kind::AnnotatedAssign:
    if (llvm::cast<ast::AnnotatedAssign>(node).value)
      addTargetNames(*llvm::cast<ast::AnnotatedAssign>(node).target, names);
    break;
  case ast::Kind::For:
    addTargetNames(*llvm::cast<ast::For>(node).target, names);
    break;
  case ast::Kind::With:
    for (const ast::WithItem &item : llvm::cast<ast::With>(node).items)
      if (item.target)
        addTargetNames(*item.target, names);
    break;
  case ast::Kind::Delete:
    for (const auto &target : llvm::cast<ast::Delete>(node).targets)
      addTargetNames(*target, names);
    break;
  case ast::Kind::NamedExpression:
    names.insert(llvm::cast<ast::NamedExpression>(node).target->name);
    break;
  case ast::Kind::FunctionDefinition:
  case ast::Kind::ClassDefinition:
  case ast::Kind::Lambda:
    return; // scopes of their own
  default:
    break;
  }
  ast::forEachChild(node, [&](const ast::Node &child) { addAssignedNames(child, names); });
}

std::set<std::string> assignedNames(const ast::Block &statements) {
  std::set<std::string> names;
  for (const auto &statement : statements)
    addAssignedNames(*statement, names);
  return names;
}

static bool holdsLeaving(const ast::Node &node, bool countBreaks) {
  switch (node.kind) {
  case ast::Kind::Return:
    return true;
  case ast::Kind::Break:
    return countBreaks;
  case ast::Kind::For:
  case ast::Kind::While:
    countBreaks = false; // an inner loop's own
    break;
  case ast::Kind::FunctionDefinition:
  case ast::Kind::ClassDefinition:
    return false;
  default:
    if (llvm::isa<ast::Expression>(node))
      return false;
    break;
  }
  bool found = false;
  ast::forEachChild(node, [&](const ast::Node &child) { found = found || holdsLeaving(child, countBreaks); });
  return found;
}

bool mayLeaveLoop(const ast::Block &body) {
  return llvm::any_of(body, [](const auto &statement) { return holdsLeaving(*statement, /*countBreaks=*/true); });
}

bool holdsReturn(const ast::Block &body) {
  return llvm::any_of(body, [](const auto &statement) { return holdsLeaving(*statement, /*countBreaks=*/false); });
}

} // namespace nacre
