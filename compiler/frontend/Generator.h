// The code generator: walks the syntax tree of a kernel and of every helper it calls, evaluates what is constexpr, and
// emits tile IR for the rest. Helpers are inlined where they are called, so a function is built once for each call.
//
// Its parts, one file each: Generator.cpp (the kernel and its frame), Names.cpp (what a name means), Expressions.cpp,
// Displays.cpp (tuples, comprehensions, f-strings), Calls.cpp, MapElements.cpp, Aggregates.cpp, Statements.cpp,
// Assignments.cpp, Conditionals.cpp (run-time branches and how they meet), Loops.cpp and LoopCarried.cpp, Iteration.cpp
// (what a `for` runs over).
#pragma once

#include "compiler/builder/IRBuilder.h"
#include "compiler/frontend/Environment.h"
#include "compiler/frontend/Function.h"
#include "compiler/ir/tile/ToldKind.h"
#include "compiler/language/meaning/Iteration.h"
#include "mlir/IR/Block.h"

namespace nacre {

// What to do where only Python's own debugger would help.
inline constexpr const char *interpreterHint =
    "it works where Python runs the kernel: set TRITON_INTERPRET=1, or decorate it with @triton.jit(interpret=True)";

using Keywords = llvm::SmallVector<std::pair<std::string, Object>, 2>;
struct Arguments {
  llvm::SmallVector<Object, 4> positional;
  Keywords keywords;
};

// A function being built: the kernel, or a helper inside the frame that calls it.
struct Frame {
  FunctionPointer function;
  Frame *caller = nullptr;
  SourceLocation callSite;
  Path path;
  int loops = 0; // of this function, around the place being built
  // The scopes of the profiler that `with` has opened around that place.
  struct OpenScope {
    std::string name;
    int loops; // that it is inside of
    SourceLocation place;
  };
  std::vector<OpenScope> scopes;
  std::set<std::string> constexprNames; // declared by a bare `name: tl.constexpr`
  std::string constructed;              // in an aggregate's __init__: its first parameter, whose fields may be assigned
};

// Statements built aside, in a block of their own, until it is known where they go.
struct Branch {
  std::unique_ptr<mlir::Block> block;
  Path path;
};

// What a `for` runs over.
using Range = RangeArguments;
using Iteration = std::variant<Range, std::vector<Object>>; // the second is unrolled

// Thrown while a function is built on whole tiles, where each element has to go its own way (MapElements.cpp).
struct NeedsElements {};

class Generator final : public Evaluation {
public:
  Generator(mlir::MLIRContext &context, Embedder &embedder, const FrontendOptions &options);

  // Builds the body of a kernel whose parameters are bound already, at the builder's insertion point.
  void buildKernel(FunctionPointer kernel, llvm::ArrayRef<ArgumentSpec> arguments, llvm::ArrayRef<Object> values);
  // The value of an expression that stands outside any function, in a file.
  Object evaluateGlobal(FunctionPointer scope, const ast::Expression &expression);

  IRBuilder &ir() { return irBuilder; }
  bool isOnTiles() const { return elementwiseCalls > 0; } // a function of single elements is being built on whole tiles
  Builder &builder() override { return irBuilder; }
  Object call(const Object &function, llvm::ArrayRef<Object> arguments) override;
  Object callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int pack) override;
  std::optional<BinaryOp> sumOrProduct(const Object &function, Type type) override;
  llvm::Expected<std::shared_ptr<const ExternalLibrary>> library(llvm::StringRef path) override;
  std::string libraryNamed(llvm::StringRef name) const override {
    auto found = options.externLibraries.find(name.str());
    return found == options.externLibraries.end() ? "" : found->second;
  }
  bool debug() const override { return options.debug; }
  bool sanitizeOverflow() const override { return options.sanitizeOverflow; }
  void staticPrint(llvm::StringRef text) override;
  std::string target() const override { return options.target; }
  AssemblyNotation assembly() const override { return options.assembly; }
  int numWarps() const override { return options.launch.numWarps.value_or(1); }
  int warpSize() const override { return options.warpSize; }
  std::string defaultInputPrecision() const override { return options.defaultInputPrecision; }

  // Errors at a place of the text.
  [[noreturn]] void failAt(const SourceLocation &place, Diagnostic::Kind kind, const std::string &message,
                           const std::string &hint = "");
  [[noreturn]] void unsupported(const ast::Node &node, const std::string &message, const std::string &hint = "");

private:
  friend class Joiner;
  friend class LoopCarried;

  // ---- Names
  Object lookUp(const ast::Name &name);
  std::optional<Object> freeName(const ast::Name &name);
  Object moduleAttribute(const ModuleReference &module, llvm::StringRef name, const SourceLocation &place);

  // An embedder's answer, with the language's own modules under their canonical names.
  Object accept(const Embedder::Answer &answer, const std::string &what, const SourceLocation &place);

  // ---- Expressions
  Object expression(const ast::Expression &expression);
  Object dispatch(const ast::Expression &expression);
  Object attributeOf(const Object &object, const ast::Attribute &node);
  Object unaryOperation(const ast::UnaryOperation &node);
  Object binaryOperation(ast::BinaryOperator op, const Object &left, const Object &right, const SourceLocation &place);
  Object booleanOperation(const ast::BooleanOperation &node);
  Object comparison(const ast::Comparison &node);
  Object conditional(const ast::Conditional &node);
  Object index(const ast::Expression &node);
  Object slice(const ast::Slice &node);
  // The operands of `and` / `or`, each asked for in turn: constexprs decide at once, run-time values are combined.
  Object combineLogical(bool isAnd, size_t count, llvm::function_ref<Object(size_t)> operand,
                        const SourceLocation &place);

  // ---- Displays
  std::vector<Object> elements(const ast::Expressions &nodes);
  Object comprehension(const ast::Comprehension &node);
  void comprehensionClause(const ast::Comprehension &node, size_t clause, std::vector<Object> &results);
  Object dictionary(const ast::Dictionary &node);
  Object formattedString(const ast::FormattedString &node);
  std::string formatted(const ast::FormattedValue &node);

  // ---- Calls
  Object callExpression(const ast::Call &node);
  Arguments evaluateArguments(const ast::Call &node);
  Object callObject(const Object &callee, const Arguments &arguments, const SourceLocation &place);
  Object callBuiltinAt(const Builtin &builtin, const Arguments &arguments, const SourceLocation &place);
  std::optional<Object> askEmbedderAttribute(const Builtin &builtin, const Arguments &arguments,
                                             const SourceLocation &place);
  Object callOpaque(const Object &callee, const Arguments &arguments, const SourceLocation &place);
  // ---- Functions of single elements
  // A call that may be thrown away, built in a block of its own; none when it cannot be built. What it prints is held.
  std::optional<Object> attemptCall(mlir::Block &block, const Object &function, llvm::ArrayRef<Object> arguments);
  std::optional<Object> callOnTiles(const Object &function, llvm::ArrayRef<Object> arguments);
  Object mapElements(const Object &function, llvm::ArrayRef<Object> arguments, int pack);

  // ---- Aggregates
  // An instance of an aggregate's class; none when `callee` is not one.
  std::optional<Object> makeAggregate(const Object &callee, const Arguments &arguments, const SourceLocation &place);
  // A method of an aggregate, bound to it; none when its class has no function of that name.
  std::optional<Object> aggregateMethod(const Object &record, llvm::StringRef name, const SourceLocation &place);
  // True when isinstance is asked whether an aggregate is of a class that its own inherits from; none: ask on.
  std::optional<Object> isInstanceOfAncestor(const Builtin &builtin, const Arguments &arguments,
                                             const SourceLocation &place);
  // tl.aggregate_replace(instance, field=value, ...): a copy with other fields.
  Object replaceFields(const Arguments &arguments, const SourceLocation &place);
  void assignField(const ast::Attribute &target, const Object &value);

  // `constructs`: the function is an aggregate's __init__; the result is then what it made of its first parameter.
  Object inlineCall(FunctionPointer function, const Arguments &arguments, const SourceLocation &place,
                    bool constructs = false);
  void bindParameters(Frame &callee, const Arguments &arguments, const SourceLocation &place);
  Object defaultValue(FunctionPointer function, const ast::Parameter &parameter);
  FunctionPointer functionOf(const JitReference &reference);
  void rejectRecursion(const Function &function, const Arguments &arguments, const SourceLocation &place);
  Object runFrame(Frame &callee);

  // ---- Statements
  // `atEnd`: what reaching the end of the statements means. A function's body returns None there, a loop's body
  // continues.
  void block(llvm::ArrayRef<ast::StatementPointer> statements, Exit atEnd = Exit::None);
  void statement(const ast::Statement &statement);
  void expressionStatement(const ast::ExpressionStatement &node);
  void requireUse(const Object &callee, const SourceLocation &place); // @must_use_result
  void assertStatement(const ast::Assert &node);
  void withStatement(const ast::With &node);
  void mark(ToldKind kind, llvm::StringRef name, mlir::Location location);
  // Tells of the end of the scopes that are left, the innermost first: those past the first `kept`. The marks are those
  // of their `with`: what was written last in a scope is another operation.
  void markScopesLeft(size_t kept);
  void returnStatement(const Object &value, const SourceLocation &place);
  void leave(Exit exit);

  // ---- Assignments
  void assign(const ast::Expression &target, const Object &value);
  void assignName(llvm::StringRef name, const Object &value, const SourceLocation &place);
  void bindTarget(const ast::Expression &target, const Object &value, bool keepConstexpr);
  void unpack(const ast::Expressions &targets, const ast::Expression &whole, const Object &value, bool keepConstexpr);
  void augmentedAssign(const ast::AugmentedAssign &node);
  void annotatedAssign(const ast::AnnotatedAssign &node);
  void deleteNames(const ast::Delete &node);
  // What a local holds: numbers become run-time values.
  Object localized(const Object &value);

  // ---- Conditionals
  // Builds `node`; `rest` builds what comes after it, and is null when that is nothing. True when it has been built as
  // well.
  bool ifStatement(const ast::If &node, llvm::function_ref<void()> rest);
  bool runTimeIf(const SourceLocation &place, const Value &condition, llvm::function_ref<void()> whenTrue,
                 llvm::function_ref<void()> whenFalse, llvm::function_ref<void()> rest);
  // Builds `body` under a test that nobody has left, when that is known only at run time.
  void guarded(const SourceLocation &place, llvm::function_ref<void()> body);
  Branch buildBranch(llvm::function_ref<void()> body);
  void extendBranch(Branch &branch, llvm::function_ref<void()> body);
  void join(const SourceLocation &place, const Value &condition, Branch whenTrue, Branch whenFalse);
  Value exitCode(const std::variant<Exit, Value> &exit);
  // Runs `body` with the insertion point at the end of `block`.
  void at(mlir::Block *block, llvm::function_ref<void()> body);
  // Inside a function that is applied elementwise a condition may be a tile.
  std::variant<bool, Value> condition(const ast::Expression &test, LoopHints *hints = nullptr);
  std::variant<bool, Value> asCondition(const Object &object);
  std::variant<bool, Value> loopCondition(const ast::Expression &test, LoopHints &hints);
  // Whether a run-time exit code is this one, and one code or another; the codes of elements are a tile.
  Value exitIs(const Value &code, Exit exit);
  Value selectExit(const Value &condition, Exit whenTrue, const std::variant<Exit, Value> &whenFalse);

  // ---- Loops
  void forStatement(const ast::For &node);
  void unrolled(const ast::For &node, const std::vector<Object> &items);
  void unrolledFrom(const ast::For &node, llvm::ArrayRef<Object> items);
  void rangeLoop(const ast::For &node, const Range &range);
  void whileStatement(const ast::While &node);
  void plainWhile(const ast::While &node);
  void constexprWhile(const ast::While &node);
  void finishLeavingLoop(const SourceLocation &place, bool mayReturn, class LoopCarried &carried, Branch body,
                         const struct CountedRange *counted, const LoopHints &hints);
  Iteration iterate(const ast::Expression &iterable);
  Range rangeOf(const Builtin &builtin, const Arguments &arguments, const SourceLocation &place);
  std::vector<Object> sequenceItems(const Object &object, const SourceLocation &place);
  std::vector<Object> constantRange(const Range &range, const SourceLocation &place, const char *what);

  // Bounds on what a small text may grow to: the stack, the work, and the size of one object.
  void checkStack(const SourceLocation &place);
  void spend(uint64_t amount, const SourceLocation &place);
  void checkSize(const Object &object, const SourceLocation &place);
  [[noreturn]] void failTooDeep(const SourceLocation &place);
  void flushPrints();

  Embedder &embedder;
  const FrontendOptions &options;
  IRBuilder irBuilder;
  Frame *frame = nullptr;
  std::map<std::string, FunctionPointer> parsed;                           // the embedder's functions, by key
  std::map<std::pair<std::string, std::string>, Embedder::Answer> globals; // by function and name
  uintptr_t stackStart = 0;
  uint64_t spent = 0;       // expressions built, those of helpers and unrolled loops each time
  int elementwiseCalls = 0; // around the place being built: branches on tiles are selects
  int regionDepth = 0;      // of branches and loops being built, through all frames
  // A loop's body may be built again when the first try assumed too much: what it printed is held back until it is
  // final.
  int attempts = 0;
  std::vector<std::string> heldPrints;
};

// `name` of a module of the language: a builtin, a type, a submodule, or a function of the standard library.
std::optional<Object> languageMember(llvm::StringRef module, llvm::StringRef name);

} // namespace nacre
