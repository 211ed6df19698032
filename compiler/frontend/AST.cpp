// Names of node kinds and operators, and the one place that knows every node's children.
#include "compiler/frontend/AST.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace nacre::ast {

llvm::StringRef describe(Kind kind) {
  switch (kind) {
  case Kind::NoneLiteral:
    return "None";
  case Kind::EllipsisLiteral:
    return "ellipsis";
  case Kind::BoolLiteral:
    return "boolean";
  case Kind::IntegerLiteral:
    return "integer literal";
  case Kind::FloatLiteral:
    return "float literal";
  case Kind::ImaginaryLiteral:
    return "complex literal";
  case Kind::StringLiteral:
    return "string literal";
  case Kind::BytesLiteral:
    return "bytes literal";
  case Kind::FormattedString:
  case Kind::FormattedValue:
    return "f-string";
  case Kind::Name:
    return "name";
  case Kind::Attribute:
    return "attribute";
  case Kind::Subscript:
    return "subscript";
  case Kind::Slice:
    return "slice";
  case Kind::Call:
    return "function call";
  case Kind::Starred:
    return "starred expression";
  case Kind::UnaryOperation:
  case Kind::BinaryOperation:
  case Kind::BooleanOperation:
    return "operation";
  case Kind::Comparison:
    return "comparison";
  case Kind::Conditional:
    return "conditional expression";
  case Kind::NamedExpression:
    return "named expression";
  case Kind::Lambda:
    return "lambda";
  case Kind::Tuple:
    return "tuple";
  case Kind::List:
    return "list";
  case Kind::Set:
    return "set";
  case Kind::Dictionary:
    return "dictionary";
  case Kind::Comprehension:
    return "comprehension";
  case Kind::Await:
    return "await expression";
  case Kind::Yield:
    return "yield expression";
  case Kind::FunctionDefinition:
    return "function definition";
  case Kind::ClassDefinition:
    return "class definition";
  case Kind::Return:
    return "return statement";
  case Kind::Delete:
    return "del statement";
  case Kind::Assign:
  case Kind::AugmentedAssign:
  case Kind::AnnotatedAssign:
    return "assignment";
  case Kind::TypeAlias:
    return "type alias";
  case Kind::For:
    return "for loop";
  case Kind::While:
    return "while loop";
  case Kind::If:
    return "if statement";
  case Kind::With:
    return "with statement";
  case Kind::Match:
    return "match statement";
  case Kind::Raise:
    return "raise statement";
  case Kind::Try:
    return "try statement";
  case Kind::Assert:
    return "assert statement";
  case Kind::Import:
  case Kind::ImportFrom:
    return "import";
  case Kind::Scope:
    return "global or nonlocal statement";
  case Kind::ExpressionStatement:
    return "expression";
  case Kind::Pass:
    return "pass statement";
  case Kind::Break:
    return "break statement";
  case Kind::Continue:
    return "continue statement";
  case Kind::Pattern:
    return "pattern";
  }
  llvm_unreachable("every kind has a name");
}

llvm::StringRef spelling(UnaryOperator op) {
  constexpr llvm::StringRef names[] = {"not", "~", "+", "-"};
  return names[static_cast<int>(op)];
}

llvm::StringRef spelling(BinaryOperator op) {
  constexpr llvm::StringRef names[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
  return names[static_cast<int>(op)];
}

llvm::StringRef spelling(BooleanOperator op) { return op == BooleanOperator::And ? "and" : "or"; }

llvm::StringRef spelling(CompareOperator op) {
  constexpr llvm::StringRef names[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return names[static_cast<int>(op)];
}

namespace {

// Visits what it is given, skipping what is absent; knows how to look through the parts that are not nodes.
class ChildVisitor {
public:
  explicit ChildVisitor(llvm::function_ref<void(const Node &)> visit) : visit(visit) {}

  template <typename... Parts> void operator()(const Parts &...parts) { (part(parts), ...); }

private:
  template <typename T> void part(const std::unique_ptr<T> &node) {
    if (node)
      visit(*node);
  }
  template <typename T> void part(const std::vector<T> &parts) {
    for (const T &each : parts)
      part(each);
  }
  void part(const KeywordArgument &keyword) { part(keyword.value); }
  void part(const Parameter &parameter) { (*this)(parameter.annotation, parameter.defaultValue); }
  void part(const TypeParameter &parameter) { (*this)(parameter.bound, parameter.defaultValue); }
  void part(const ComprehensionClause &clause) { (*this)(clause.target, clause.iterable, clause.conditions); }
  void part(const WithItem &item) { (*this)(item.context, item.target); }
  void part(const ExceptHandler &handler) { (*this)(handler.type, handler.body); }
  void part(const MatchCase &each) { (*this)(each.pattern, each.guard, each.body); }

  llvm::function_ref<void(const Node &)> visit;
};

} // namespace

void forEachChild(const Node &node, llvm::function_ref<void(const Node &)> callback) {
  ChildVisitor visit(callback);
  switch (node.kind) {
  case Kind::NoneLiteral:
  case Kind::EllipsisLiteral:
  case Kind::BoolLiteral:
  case Kind::IntegerLiteral:
  case Kind::FloatLiteral:
  case Kind::ImaginaryLiteral:
  case Kind::StringLiteral:
  case Kind::BytesLiteral:
  case Kind::Name:
  case Kind::Import:
  case Kind::ImportFrom:
  case Kind::Scope:
  case Kind::Pass:
  case Kind::Break:
  case Kind::Continue:
    return;
  case Kind::FormattedString:
    return visit(llvm::cast<FormattedString>(node).parts);
  case Kind::FormattedValue: {
    const auto &formatted = llvm::cast<FormattedValue>(node);
    return visit(formatted.value, formatted.format);
  }
  case Kind::Attribute:
    return visit(llvm::cast<Attribute>(node).value);
  case Kind::Subscript: {
    const auto &subscript = llvm::cast<Subscript>(node);
    return visit(subscript.value, subscript.index);
  }
  case Kind::Slice: {
    const auto &slice = llvm::cast<Slice>(node);
    return visit(slice.lower, slice.upper, slice.step);
  }
  case Kind::Call: {
    const auto &call = llvm::cast<Call>(node);
    return visit(call.callee, call.arguments, call.keywords);
  }
  case Kind::Starred:
    return visit(llvm::cast<Starred>(node).value);
  case Kind::UnaryOperation:
    return visit(llvm::cast<UnaryOperation>(node).operand);
  case Kind::BinaryOperation: {
    const auto &operation = llvm::cast<BinaryOperation>(node);
    return visit(operation.left, operation.right);
  }
  case Kind::BooleanOperation:
    return visit(llvm::cast<BooleanOperation>(node).values);
  case Kind::Comparison: {
    const auto &comparison = llvm::cast<Comparison>(node);
    return visit(comparison.left, comparison.comparators);
  }
  case Kind::Conditional: {
    const auto &conditional = llvm::cast<Conditional>(node);
    return visit(conditional.body, conditional.test, conditional.orElse);
  }
  case Kind::NamedExpression: {
    const auto &named = llvm::cast<NamedExpression>(node);
    return visit(named.target, named.value);
  }
  case Kind::Lambda: {
    const auto &lambda = llvm::cast<Lambda>(node);
    return visit(lambda.parameters, lambda.body);
  }
  case Kind::Tuple:
    return visit(llvm::cast<Tuple>(node).elements);
  case Kind::List:
    return visit(llvm::cast<List>(node).elements);
  case Kind::Set:
    return visit(llvm::cast<Set>(node).elements);
  case Kind::Dictionary: {
    const auto &dictionary = llvm::cast<Dictionary>(node);
    for (auto [key, value] : llvm::zip_equal(dictionary.keys, dictionary.values))
      visit(key, value);
    return;
  }
  case Kind::Comprehension: {
    const auto &comprehension = llvm::cast<Comprehension>(node);
    return visit(comprehension.key, comprehension.element, comprehension.clauses);
  }
  case Kind::Await:
    return visit(llvm::cast<Await>(node).value);
  case Kind::Yield:
    return visit(llvm::cast<Yield>(node).value);
  case Kind::FunctionDefinition: {
    const auto &function = llvm::cast<FunctionDefinition>(node);
    return visit(function.decorators, function.typeParameters, function.parameters, function.returns, function.body);
  }
  case Kind::ClassDefinition: {
    const auto &definition = llvm::cast<ClassDefinition>(node);
    return visit(definition.decorators, definition.typeParameters, definition.bases, definition.keywords,
                 definition.body);
  }
  case Kind::Return:
    return visit(llvm::cast<Return>(node).value);
  case Kind::Delete:
    return visit(llvm::cast<Delete>(node).targets);
  case Kind::Assign: {
    const auto &assign = llvm::cast<Assign>(node);
    return visit(assign.targets, assign.value);
  }
  case Kind::AugmentedAssign: {
    const auto &assign = llvm::cast<AugmentedAssign>(node);
    return visit(assign.target, assign.value);
  }
  case Kind::AnnotatedAssign: {
    const auto &assign = llvm::cast<AnnotatedAssign>(node);
    return visit(assign.target, assign.annotation, assign.value);
  }
  case Kind::TypeAlias: {
    const auto &alias = llvm::cast<TypeAlias>(node);
    return visit(alias.name, alias.typeParameters, alias.value);
  }
  case Kind::For: {
    const auto &loop = llvm::cast<For>(node);
    return visit(loop.target, loop.iterable, loop.body, loop.orElse);
  }
  case Kind::While: {
    const auto &loop = llvm::cast<While>(node);
    return visit(loop.test, loop.body, loop.orElse);
  }
  case Kind::If: {
    const auto &branch = llvm::cast<If>(node);
    return visit(branch.test, branch.body, branch.orElse);
  }
  case Kind::With: {
    const auto &with = llvm::cast<With>(node);
    return visit(with.items, with.body);
  }
  case Kind::Match: {
    const auto &match = llvm::cast<Match>(node);
    return visit(match.subject, match.cases);
  }
  case Kind::Raise: {
    const auto &raise = llvm::cast<Raise>(node);
    return visit(raise.exception, raise.cause);
  }
  case Kind::Try: {
    const auto &attempt = llvm::cast<Try>(node);
    return visit(attempt.body, attempt.handlers, attempt.orElse, attempt.finalBody);
  }
  case Kind::Assert: {
    const auto &assertion = llvm::cast<Assert>(node);
    return visit(assertion.test, assertion.message);
  }
  case Kind::ExpressionStatement:
    return visit(llvm::cast<ExpressionStatement>(node).value);
  case Kind::Pattern: {
    const auto &pattern = llvm::cast<Pattern>(node);
    return visit(pattern.value, pattern.keys, pattern.patterns);
  }
  }
}

} // namespace nacre::ast
