// The syntax tree of a kernel's text, or of a whole .py file: plain structs that the parser fills and nobody changes.
//
// The shape follows Python's own `ast` module (an `elif` is an If inside `orElse`, a parenthesised expression leaves no
// node), and so do the locations: each node spans its tokens from the first to the last, lines counted from 1 in the
// user's file and columns from 0 in characters. Unlike `ast`, expressions carry no load/store context: an expression is
// a target by where it stands, and the parser has checked that it can be one.
//
// The whole grammar of Python is represented, so that any file can be read; what a kernel may not use is the code
// generator's to reject, with the node's location.
//
// `height` is 1 for a leaf and one more than the highest child otherwise. The parser rejects a tree higher than
// `maximumHeight`, so recursive walks never run out of stack.
#pragma once

#include "compiler/language/meaning/Diagnostic.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nacre::ast {

constexpr int maximumHeight = 500;

enum class Kind : uint8_t {
  // Expressions
  NoneLiteral,
  EllipsisLiteral,
  BoolLiteral,
  IntegerLiteral,
  FloatLiteral,
  ImaginaryLiteral,
  StringLiteral,
  BytesLiteral,
  FormattedString,
  FormattedValue,
  Name,
  Attribute,
  Subscript,
  Slice,
  Call,
  Starred,
  UnaryOperation,
  BinaryOperation,
  BooleanOperation,
  Comparison,
  Conditional,
  NamedExpression,
  Lambda,
  Tuple,
  List,
  Set,
  Dictionary,
  Comprehension,
  Await,
  Yield,
  LastExpression = Yield,
  // Statements
  FunctionDefinition,
  ClassDefinition,
  Return,
  Delete,
  Assign,
  AugmentedAssign,
  AnnotatedAssign,
  TypeAlias,
  For,
  While,
  If,
  With,
  Match,
  Raise,
  Try,
  Assert,
  Import,
  ImportFrom,
  Scope,
  ExpressionStatement,
  Pass,
  Break,
  Continue,
  LastStatement = Continue,
  // Parts of a match statement
  Pattern,
};

// "function call", "list comprehension", "try statement", ...: how errors name a kind of node.
llvm::StringRef describe(Kind kind);

struct Node {
  const Kind kind;
  uint16_t height = 1;
  SourceLocation location;

  virtual ~Node() = default;

protected:
  explicit Node(Kind kind) : kind(kind) {}
};

struct Expression : Node {
  using Node::Node;
  static bool classof(const Node *node) { return node->kind <= Kind::LastExpression; }
};

struct Statement : Node {
  using Node::Node;
  static bool classof(const Node *node) {
    return node->kind > Kind::LastExpression && node->kind <= Kind::LastStatement;
  }
};

using ExpressionPointer = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPointer>;
using StatementPointer = std::unique_ptr<Statement>;
using Block = std::vector<StatementPointer>;

// Each concrete node derives from this: it gives the constructor and what llvm::isa, cast and dyn_cast need.
template <typename Base, Kind nodeKind> struct NodeOf : Base {
  NodeOf() : Base(nodeKind) {}
  static bool classof(const Node *node) { return node->kind == nodeKind; }
};
template <Kind nodeKind> using ExpressionOf = NodeOf<Expression, nodeKind>;
template <Kind nodeKind> using StatementOf = NodeOf<Statement, nodeKind>;

// ------------------------------------------------------------------------------------------------------------------
// Operators

enum class UnaryOperator : uint8_t { Not, Invert, Plus, Minus };
enum class BinaryOperator : uint8_t {
  Add,
  Subtract,
  Multiply,
  MatrixMultiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  ShiftLeft,
  ShiftRight,
  And,
  Or,
  Xor,
};
enum class BooleanOperator : uint8_t { And, Or };
enum class CompareOperator : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Is, IsNot, In, NotIn };

llvm::StringRef spelling(UnaryOperator op);
llvm::StringRef spelling(BinaryOperator op);
llvm::StringRef spelling(BooleanOperator op);
llvm::StringRef spelling(CompareOperator op);

// ------------------------------------------------------------------------------------------------------------------
// Literals

struct NoneLiteral : ExpressionOf<Kind::NoneLiteral> {};
struct EllipsisLiteral : ExpressionOf<Kind::EllipsisLiteral> {};
struct BoolLiteral : ExpressionOf<Kind::BoolLiteral> {
  bool value = false;
};
struct IntegerLiteral : ExpressionOf<Kind::IntegerLiteral> {
  llvm::DynamicAPInt value;
};
struct FloatLiteral : ExpressionOf<Kind::FloatLiteral> {
  double value = 0; // infinity when the text is out of range, as in Python
};
struct ImaginaryLiteral : ExpressionOf<Kind::ImaginaryLiteral> {
  double value = 0; // the language has no complex numbers: only to be rejected
};
// Adjacent literals are already joined and escapes decoded. UTF-8; a lone surrogate takes the three bytes it would
// have.
struct StringLiteral : ExpressionOf<Kind::StringLiteral> {
  std::string value;
};
struct BytesLiteral : ExpressionOf<Kind::BytesLiteral> {
  std::string value;
};
// f"...": `parts` are StringLiterals (never empty, never two in a row) and FormattedValues. f"{x=}" is the text "x="
// and then x.
struct FormattedString : ExpressionOf<Kind::FormattedString> {
  Expressions parts;
};
struct FormattedValue : ExpressionOf<Kind::FormattedValue> {
  ExpressionPointer value;
  char conversion = 0;      // 'r', 's', 'a'; 0: none
  ExpressionPointer format; // a FormattedString; null: no `:spec`
};

// ------------------------------------------------------------------------------------------------------------------
// Expressions

struct Name : ExpressionOf<Kind::Name> {
  std::string name;
};
struct Attribute : ExpressionOf<Kind::Attribute> {
  ExpressionPointer value;
  std::string name;
  SourceLocation nameLocation;
};
// `index` is a Tuple for x[a, b], a Slice for x[a:b], or any other expression.
struct Subscript : ExpressionOf<Kind::Subscript> {
  ExpressionPointer value;
  ExpressionPointer index;
};
struct Slice : ExpressionOf<Kind::Slice> { // only in a Subscript's index, or in a Tuple that is one
  ExpressionPointer lower, upper, step;    // each may be null
};
struct KeywordArgument {
  std::string name; // empty: `**value`
  SourceLocation nameLocation;
  ExpressionPointer value;
  SourceLocation location;
};
struct Call : ExpressionOf<Kind::Call> {
  ExpressionPointer callee;
  Expressions arguments; // `*value` is a Starred
  std::vector<KeywordArgument> keywords;
};
struct Starred : ExpressionOf<Kind::Starred> {
  ExpressionPointer value;
};
struct UnaryOperation : ExpressionOf<Kind::UnaryOperation> {
  UnaryOperator op = UnaryOperator::Not;
  ExpressionPointer operand;
};
struct BinaryOperation : ExpressionOf<Kind::BinaryOperation> {
  BinaryOperator op = BinaryOperator::Add;
  ExpressionPointer left, right;
};
struct BooleanOperation : ExpressionOf<Kind::BooleanOperation> {
  BooleanOperator op = BooleanOperator::And;
  Expressions values; // `a and b and c` has three
};
struct Comparison : ExpressionOf<Kind::Comparison> {
  ExpressionPointer left;
  std::vector<CompareOperator> ops; // as many as `comparators`: `a < b <= c` has two
  Expressions comparators;
};
struct Conditional : ExpressionOf<Kind::Conditional> { // body if test else orElse
  ExpressionPointer test, body, orElse;
};
struct NamedExpression : ExpressionOf<Kind::NamedExpression> { // target := value
  std::unique_ptr<Name> target;
  ExpressionPointer value;
};
struct Tuple : ExpressionOf<Kind::Tuple> {
  Expressions elements;
};
struct List : ExpressionOf<Kind::List> {
  Expressions elements;
};
struct Set : ExpressionOf<Kind::Set> {
  Expressions elements;
};
struct Dictionary : ExpressionOf<Kind::Dictionary> {
  Expressions keys; // as many as `values`; null: `**value`
  Expressions values;
};
enum class ComprehensionForm : uint8_t { List, Set, Dictionary, Generator };
struct ComprehensionClause { // for target in iterable if condition if condition
  ExpressionPointer target, iterable;
  Expressions conditions;
  bool isAsync = false;
};
struct Comprehension : ExpressionOf<Kind::Comprehension> {
  ComprehensionForm form = ComprehensionForm::List;
  ExpressionPointer element; // a dictionary's value
  ExpressionPointer key;     // a dictionary's only
  std::vector<ComprehensionClause> clauses;
};
struct Await : ExpressionOf<Kind::Await> {
  ExpressionPointer value;
};
struct Yield : ExpressionOf<Kind::Yield> {
  ExpressionPointer value; // may be null
  bool isFrom = false;
};

// ------------------------------------------------------------------------------------------------------------------
// Functions and classes

enum class ParameterKind : uint8_t { PositionalOnly, Regular, VariadicPositional, KeywordOnly, VariadicKeyword };
struct Parameter {
  ParameterKind kind = ParameterKind::Regular;
  std::string name;
  SourceLocation nameLocation;
  ExpressionPointer annotation;   // may be null
  ExpressionPointer defaultValue; // may be null
  SourceLocation location;        // name and annotation, without the default
};
using Parameters = std::vector<Parameter>; // in the order they are written

struct Lambda : ExpressionOf<Kind::Lambda> {
  Parameters parameters;
  ExpressionPointer body;
};

// One of `T`, `T: bound`, `*Ts`, `**P` between the brackets of a generic definition.
struct TypeParameter {
  std::string name;
  int stars = 0;
  ExpressionPointer bound, defaultValue; // may be null
  SourceLocation location;
};

struct FunctionDefinition : StatementOf<Kind::FunctionDefinition> { // spans from `def`, not from its decorators
  std::string name;
  SourceLocation nameLocation;
  Expressions decorators;
  std::vector<TypeParameter> typeParameters;
  Parameters parameters;
  ExpressionPointer returns; // the annotation; may be null
  Block body;
  bool isAsync = false;
};
struct ClassDefinition : StatementOf<Kind::ClassDefinition> {
  std::string name;
  SourceLocation nameLocation;
  Expressions decorators;
  std::vector<TypeParameter> typeParameters;
  Expressions bases;
  std::vector<KeywordArgument> keywords;
  Block body;
};

// ------------------------------------------------------------------------------------------------------------------
// Statements. A target is a Name, Attribute, Subscript, or a Tuple or List of targets, one of which may be a Starred
// target.

struct Return : StatementOf<Kind::Return> {
  ExpressionPointer value; // may be null
};
struct Delete : StatementOf<Kind::Delete> {
  Expressions targets;
};
struct Assign : StatementOf<Kind::Assign> { // a = b = value: two targets
  Expressions targets;
  ExpressionPointer value;
};
struct AugmentedAssign : StatementOf<Kind::AugmentedAssign> {
  ExpressionPointer target; // Name, Attribute or Subscript
  BinaryOperator op = BinaryOperator::Add;
  ExpressionPointer value;
};
struct AnnotatedAssign : StatementOf<Kind::AnnotatedAssign> {
  ExpressionPointer target; // Name, Attribute or Subscript
  ExpressionPointer annotation;
  ExpressionPointer value; // may be null
  bool isSimple = true;    // a bare name, without parentheses
};
struct TypeAlias : StatementOf<Kind::TypeAlias> { // type Name[T] = value
  std::unique_ptr<Name> name;
  std::vector<TypeParameter> typeParameters;
  ExpressionPointer value;
};
struct For : StatementOf<Kind::For> {
  ExpressionPointer target, iterable;
  Block body, orElse;
  bool isAsync = false;
};
struct While : StatementOf<Kind::While> {
  ExpressionPointer test;
  Block body, orElse;
};
struct If : StatementOf<Kind::If> {
  ExpressionPointer test;
  Block body, orElse;
};
struct WithItem {
  ExpressionPointer context;
  ExpressionPointer target; // may be null
};
struct With : StatementOf<Kind::With> {
  std::vector<WithItem> items;
  Block body;
  bool isAsync = false;
};
struct Raise : StatementOf<Kind::Raise> {
  ExpressionPointer exception, cause; // may be null
};
struct ExceptHandler {
  ExpressionPointer type; // null: catches everything
  std::string name;       // empty: none
  Block body;
  SourceLocation location;
};
struct Try : StatementOf<Kind::Try> {
  Block body, orElse, finalBody;
  std::vector<ExceptHandler> handlers;
  bool isStar = false; // except*
};
struct Assert : StatementOf<Kind::Assert> {
  ExpressionPointer test, message; // message may be null
};
struct ImportedName {
  std::string name;  // "a.b.c", or "*"
  std::string alias; // empty: none
  SourceLocation location;
};
struct Import : StatementOf<Kind::Import> {
  std::vector<ImportedName> names;
};
struct ImportFrom : StatementOf<Kind::ImportFrom> {
  std::string module; // empty in `from . import x`
  int level = 0;      // leading dots
  std::vector<ImportedName> names;
};
struct Scope : StatementOf<Kind::Scope> { // `global a, b` or `nonlocal a, b`
  std::vector<std::string> names;
  bool isNonlocal = false;
};
struct ExpressionStatement : StatementOf<Kind::ExpressionStatement> { // a StringLiteral here may be a docstring
  ExpressionPointer value;
};
struct Pass : StatementOf<Kind::Pass> {};
struct Break : StatementOf<Kind::Break> {};
struct Continue : StatementOf<Kind::Continue> {};

// ------------------------------------------------------------------------------------------------------------------
// Match

enum class PatternForm : uint8_t {
  Value,    // value: a literal or a dotted name
  Sequence, // patterns, at most one of them a Star
  Star,     // name: `*name`; empty for `*_`
  Mapping,  // keys and patterns, as many; name: `**name`, or empty
  Class,    // value(patterns..., attributes=patterns...): the last patterns belong to the names in `attributes`
  As,       // patterns[0] as name; no pattern: a capture; neither: the wildcard `_`
  Or,       // patterns
};
struct Pattern : NodeOf<Node, Kind::Pattern> {
  PatternForm form = PatternForm::As;
  ExpressionPointer value;
  Expressions keys;
  std::vector<std::unique_ptr<Pattern>> patterns;
  std::vector<std::string> attributes;
  std::string name;
};
struct MatchCase {
  std::unique_ptr<Pattern> pattern;
  ExpressionPointer guard; // may be null
  Block body;
};
struct Match : StatementOf<Kind::Match> {
  ExpressionPointer subject;
  std::vector<MatchCase> cases;
};

// ------------------------------------------------------------------------------------------------------------------

// A parsed text: one function with its decorators, or a whole file.
struct Module {
  std::shared_ptr<const SourceText> source;
  Block body;
};

// Calls `visit` on each direct child of `node`, in the order they are written (a function's decorators first); parts
// that are not nodes, such as parameters and keyword arguments, are looked through.
void forEachChild(const Node &node, llvm::function_ref<void(const Node &)> visit);

} // namespace nacre::ast
