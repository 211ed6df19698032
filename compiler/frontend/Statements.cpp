// Statements in sequence, and those that are not assignments, branches or loops.
#include "compiler/frontend/SingleElements.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/builtins/Marks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

namespace nacre {

void Generator::block(llvm::ArrayRef<ast::StatementPointer> statements, Exit atEnd) {
  for (size_t i = 0; i < statements.size(); ++i) {
    if (frame->path.closed)
      return; // unreachable: not built and not checked
    llvm::ArrayRef<ast::StatementPointer> rest = statements.drop_front(i);
    const ast::Statement &next = *rest.front();
    if (std::holds_alternative<Value>(frame->path.exit)) {
      guarded(next.location, [&] { block(rest, atEnd); });
      return;
    }
    checkStack(next.location);
    irBuilder.setLocation(next.location);
    if (auto *branch = llvm::dyn_cast<ast::If>(&next)) {
      auto buildRest = [&] { block(rest.drop_front(), atEnd); };
      llvm::function_ref<void()> following = nullptr;
      if (rest.size() > 1 || atEnd != Exit::None)
        following = buildRest;
      if (ifStatement(*branch, following))
        return;
    } else {
      statement(next);
    }
  }
  const SourceLocation &end = frame->function->definition->nameLocation;
  if (atEnd == Exit::Return)
    guarded(end, [&] { returnStatement(Object(), end); });
  else if (atEnd != Exit::None)
    guarded(end, [&] { leave(atEnd); });
}

void Generator::statement(const ast::Statement &node) {
  switch (node.kind) {
  case ast::Kind::Assign: {
    auto &assignment = llvm::cast<ast::Assign>(node);
    Object value = expression(*assignment.value);
    for (const auto &target : assignment.targets)
      assign(*target, value);
    return;
  }
  case ast::Kind::AugmentedAssign:
    return augmentedAssign(llvm::cast<ast::AugmentedAssign>(node));
  case ast::Kind::AnnotatedAssign:
    return annotatedAssign(llvm::cast<ast::AnnotatedAssign>(node));
  case ast::Kind::Delete:
    return deleteNames(llvm::cast<ast::Delete>(node));
  case ast::Kind::ExpressionStatement:
    return expressionStatement(llvm::cast<ast::ExpressionStatement>(node));
  case ast::Kind::For:
    return forStatement(llvm::cast<ast::For>(node));
  case ast::Kind::While:
    return whileStatement(llvm::cast<ast::While>(node));
  case ast::Kind::Return: {
    auto &exit = llvm::cast<ast::Return>(node);
    return returnStatement(exit.value ? expression(*exit.value) : Object(), node.location);
  }
  case ast::Kind::Break: // the parser has seen to it that this is inside a loop
    return leave(Exit::Break);
  case ast::Kind::Continue:
    return leave(Exit::Continue);
  case ast::Kind::Assert:
    return assertStatement(llvm::cast<ast::Assert>(node));
  case ast::Kind::Pass:
    return;
  case ast::Kind::FunctionDefinition:
    unsupported(node, "a function cannot be defined inside a kernel", "define it beside the kernel, with @triton.jit");
  case ast::Kind::ClassDefinition:
    unsupported(node, "a class cannot be defined inside a kernel", "define it beside the kernel");
  case ast::Kind::Try:
    unsupported(node, "try cannot be used in a kernel: kernels have no exceptions");
  case ast::Kind::Raise:
    unsupported(node, "raise cannot be used in a kernel: kernels have no exceptions",
                "use tl.static_assert while compiling, or tl.device_assert at run time");
  case ast::Kind::With:
    return withStatement(llvm::cast<ast::With>(node));
  case ast::Kind::Match:
    unsupported(node, "match cannot be used in a kernel", "use if and elif");
  case ast::Kind::Import:
    for (const ast::ImportedName &imported : llvm::cast<ast::Import>(node).names)
      if (imported.name == "pdb" || imported.name == "ipdb")
        unsupported(node, "a compiled kernel cannot stop in Python's debugger", interpreterHint);
    [[fallthrough]];
  case ast::Kind::ImportFrom:
    unsupported(node, "a module cannot be imported inside a kernel", "import it at the top of the file");
  case ast::Kind::Scope:
    unsupported(node, "a kernel cannot assign global or nonlocal names");
  default:
    unsupported(node, "a kernel cannot hold this: " + ast::describe(node.kind).str());
  }
}

void Generator::expressionStatement(const ast::ExpressionStatement &node) {
  if (llvm::isa<ast::StringLiteral>(*node.value))
    return; // a docstring
  auto *call = llvm::dyn_cast<ast::Call>(node.value.get());
  if (!call) {
    expression(*node.value);
    return;
  }
  Object callee = expression(*call->callee);
  requireUse(callee, node.location);
  Arguments arguments = evaluateArguments(*call);
  callObject(callee, arguments, call->location);
}

void Generator::requireUse(const Object &callee, const SourceLocation &place) {
  const Object &called =
      callee.is<BoundMethod>() && callee.as<BoundMethod>().function ? *callee.as<BoundMethod>().function : callee;
  if (!called.is<JitReference>())
    return;
  const FunctionSource &function = functionOf(called.as<JitReference>())->source;
  if (!function.mustUse)
    return;
  std::string more = function.mustUse->empty() ? "" : " " + *function.mustUse;
  failAt(place, Diagnostic::Kind::Unsupported, "The result of " + function.name + " is not being used." + more);
}

void Generator::assertStatement(const ast::Assert &node) {
  Arguments arguments;
  arguments.positional.push_back(expression(*node.test));
  arguments.positional.push_back(node.message ? expression(*node.message) : Object(""));
  const Builtin *check = findBuiltin("triton.language", "device_assert");
  callBuiltinAt(*check, arguments, node.location);
}

void Generator::returnStatement(const Object &value, const SourceLocation &place) {
  frame->path.returned = std::make_shared<Binding>(Binding{value, place, nullptr});
  leave(Exit::Return);
}

// `with pl.scope(name):`, the profiler's.
void Generator::withStatement(const ast::With &node) {
  size_t before = frame->scopes.size();
  auto forget = llvm::scope_exit([&] { frame->scopes.resize(before); });
  for (const ast::WithItem &item : node.items) {
    auto *call = llvm::dyn_cast<ast::Call>(item.context.get());
    std::optional<Object> callee;
    if (call && llvm::isa<ast::Name, ast::Attribute>(*call->callee)) {
      try {
        callee = expression(*call->callee);
      } catch (const CompileError &) { // it is not the profiler's
      }
    }
    const Builtin *scope = findBuiltin(profilerModule, "scope");
    if (node.isAsync || !callee || !callee->is<const Builtin *>() || callee->as<const Builtin *>() != scope)
      unsupported(node, "with cannot be used in a kernel: no context manager has a meaning here",
                  "the only one is scope(name) of triton.profiler.language");
    if (item.target)
      unsupported(*item.target, "a scope of the profiler has no value: `as` cannot be used here");
    const Builtin *enter = findBuiltin(profilerModule, "enter_scope");
    Object name = callBuiltinAt(*enter, evaluateArguments(*call), call->location);
    frame->scopes.push_back({name.as<std::string>(), frame->loops, call->location});
  }
  block(node.body);
  if (!frame->path.closed)
    guarded(node.location, [&] { markScopesLeft(before); });
}

void Generator::mark(ToldKind kind, llvm::StringRef name, mlir::Location location) {
  if (isOfSingleElements(*this))
    return;
  tile::TellOp::create(irBuilder.ops(), location, kind, name, mlir::ValueRange(), llvm::ArrayRef<bool>());
}

void Generator::markScopesLeft(size_t kept) {
  for (size_t i = frame->scopes.size(); i > kept; --i)
    mark(ToldKind::ExitScope, frame->scopes[i - 1].name, irBuilder.irLocation(frame->scopes[i - 1].place));
}

void Generator::leave(Exit exit) {
  size_t kept = 0;
  if (exit != Exit::Return) // those around the loop stay
    while (kept < frame->scopes.size() && frame->scopes[kept].loops < frame->loops)
      ++kept;
  markScopesLeft(kept);
  frame->path.exit = exit;
  frame->path.closed = true;
}

} // namespace nacre
