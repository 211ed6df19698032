// Tuples, lists and dicts written out, comprehensions, and f-strings.
#include "compiler/frontend/Generator.h"
#include "compiler/language/meaning/ConstexprOperators.h"

namespace nacre {

std::vector<Object> Generator::elements(const ast::Expressions &nodes) {
  std::vector<Object> items;
  for (const auto &node : nodes) {
    if (auto *starred = llvm::dyn_cast<ast::Starred>(node.get())) {
      std::vector<Object> inner = sequenceItems(expression(*starred->value), starred->location);
      items.insert(items.end(), inner.begin(), inner.end());
    } else {
      items.push_back(expression(*node));
    }
  }
  return items;
}

Object Generator::dictionary(const ast::Dictionary &node) {
  std::vector<std::pair<Object, Object>> entries;
  for (auto [key, value] : llvm::zip(node.keys, node.values)) {
    if (!key)
      unsupported(*value, "`**` cannot be used in a dict of a kernel", "write its entries out");
    Object keyObject = expression(*key);
    entries.emplace_back(std::move(keyObject), expression(*value));
  }
  return Object::makeDictionary(std::move(entries));
}

// ---- Comprehensions: run while compiling, over what is known then.

Object Generator::comprehension(const ast::Comprehension &node) {
  if (node.form == ast::ComprehensionForm::Set || node.form == ast::ComprehensionForm::Dictionary)
    unsupported(node, "a set or dict comprehension cannot be used in a kernel",
                "use a list comprehension: [... for ... in ...]");
  // The targets are the comprehension's own: what they hid comes back afterwards. A walrus inside stays.
  std::set<std::string> targets;
  for (const ast::ComprehensionClause &clause : node.clauses) {
    if (clause.isAsync)
      unsupported(node, "an asynchronous comprehension cannot be used in a kernel");
    addTargetNames(*clause.target, targets);
  }
  std::map<std::string, BindingPointer> hidden;
  for (const std::string &name : targets)
    hidden[name] = frame->path.names.find(name);

  auto list = std::make_shared<TupleValue>();
  list->isList = node.form == ast::ComprehensionForm::List;
  comprehensionClause(node, 0, list->items);

  for (const auto &[name, binding] : hidden) {
    if (binding)
      frame->path.names.bind(name, binding);
    else
      frame->path.names.remove(name);
  }
  return std::shared_ptr<const TupleValue>(std::move(list));
}

void Generator::comprehensionClause(const ast::Comprehension &node, size_t clause, std::vector<Object> &results) {
  if (clause == node.clauses.size()) {
    results.push_back(expression(*node.element));
    return;
  }
  const ast::ComprehensionClause &part = node.clauses[clause];
  Iteration iteration = iterate(*part.iterable);
  std::vector<Object> items;
  if (auto *range = std::get_if<Range>(&iteration))
    items = constantRange(*range, part.iterable->location, "a comprehension");
  else
    items = std::get<std::vector<Object>>(iteration);
  for (const Object &item : items) {
    bindTarget(*part.target, item, /*keepConstexpr=*/true);
    bool isKept = true;
    for (const auto &test : part.conditions) {
      std::variant<bool, Value> decision = condition(*test);
      if (!std::holds_alternative<bool>(decision))
        failAt(test->location, Diagnostic::Kind::Type,
               "the condition of a comprehension must be constexpr, not a run-time value",
               "it decides how many items there are; choose among values with tl.where");
      isKept = isKept && std::get<bool>(decision);
      if (!isKept)
        break;
    }
    if (isKept)
      comprehensionClause(node, clause + 1, results);
  }
}

// ---- f-strings

Object Generator::formattedString(const ast::FormattedString &node) {
  std::string text;
  for (const auto &part : node.parts) {
    if (auto *literal = llvm::dyn_cast<ast::StringLiteral>(part.get()))
      text += literal->value;
    else
      text += formatted(llvm::cast<ast::FormattedValue>(*part));
  }
  return Object(std::move(text));
}

std::string Generator::formatted(const ast::FormattedValue &node) {
  Object value = expression(*node.value);
  if (!value.isConstexpr())
    failAt(node.value->location, Diagnostic::Kind::Type,
           "an f-string in a kernel can only hold constexprs, not " + value.typeName(),
           "print run-time values with tl.device_print");
  if (node.conversion)
    value = node.conversion == 's' ? Object(displayText(value)) : Object(value.repr());
  std::string specification =
      node.format ? formattedString(llvm::cast<ast::FormattedString>(*node.format)).as<std::string>() : "";
  irBuilder.setLocation(node.location);
  return specification.empty() ? displayText(value) : formatSpecified(*this, value, specification);
}

} // namespace nacre
