// The frame of a build: errors, prints held back, the kernel itself.
#include "compiler/frontend/Generator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ProgramStack.h"
#include "llvm/Support/raw_ostream.h"

namespace nacre {

// The walk is recursive. What it may use of the stack leaves room on threads with ordinary stacks of 8 MiB.
static constexpr uintptr_t stackLimit = 4u << 20;

Generator::Generator(mlir::MLIRContext &context, Embedder &embedder, const FrontendOptions &options)
    : embedder(embedder), options(options), irBuilder(context), stackStart(llvm::getStackPointer()) {}

void Generator::failAt(const SourceLocation &place, Diagnostic::Kind kind, const std::string &message,
                       const std::string &hint) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.location = place;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

void Generator::unsupported(const ast::Node &node, const std::string &message, const std::string &hint) {
  failAt(node.location, Diagnostic::Kind::Unsupported, message, hint);
}

void Generator::failTooDeep(const SourceLocation &place) {
  failAt(
      place, Diagnostic::Kind::Unsupported, "the kernel is nested too deeply to compile",
      "calls, branches and expressions inside one another add up, and what follows an early return or break counts as "
      "inside it; split or simplify them");
}

void Generator::checkStack(const SourceLocation &place) {
  uintptr_t now = llvm::getStackPointer();
  if ((now > stackStart ? now - stackStart : stackStart - now) > stackLimit)
    failTooDeep(place);
}

// Helpers are built where they are called and static loops are unrolled: a few lines may ask for more than a lifetime.
static constexpr uint64_t mostExpressions = uint64_t(1) << 21;

void Generator::spend(uint64_t amount, const SourceLocation &place) {
  spent += amount;
  if (spent > mostExpressions)
    failAt(place, Diagnostic::Kind::Unsupported,
           "the kernel is too large to compile: more than " + std::to_string(mostExpressions) +
               " expressions, when helpers and static loops are copied to where they are used",
           "use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel");
}

void Generator::checkSize(const Object &object, const SourceLocation &place) {
  constexpr uint32_t mostLeaves = 1u << 18, deepest = ast::maximumHeight;
  if (!object.isCompound())
    return;
  auto [leaves, depth] = object.measure();
  if (leaves > mostLeaves)
    failAt(place, Diagnostic::Kind::Unsupported,
           "this " + object.typeName() + " holds too much: the most is " + std::to_string(mostLeaves) +
               " objects, with those of the tuples inside it");
  if (depth > deepest)
    failAt(place, Diagnostic::Kind::Unsupported,
           "this " + object.typeName() + " is nested too deeply: the limit is " + std::to_string(deepest) + " levels",
           "join sequences with +, or unpack them with *");
}

void Generator::staticPrint(llvm::StringRef text) {
  heldPrints.push_back(text.str());
  if (attempts == 0)
    flushPrints();
}

void Generator::flushPrints() {
  for (const std::string &text : heldPrints) {
    if (options.staticPrint)
      options.staticPrint(text);
    else
      llvm::outs() << text;
  }
  if (!heldPrints.empty() && !options.staticPrint)
    llvm::outs().flush();
  heldPrints.clear();
}

Object Generator::call(const Object &function, llvm::ArrayRef<Object> arguments) {
  Arguments list;
  list.positional.append(arguments.begin(), arguments.end());
  SourceLocation place = irBuilder.location(); // a copy: the builder moves on
  return callObject(function, list, place);
}

llvm::Expected<std::shared_ptr<const ExternalLibrary>> Generator::library(llvm::StringRef path) {
  llvm::SmallString<128> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  Embedder::Answer answer = embedder.library(absolute);
  if (!answer.object)
    return llvm::createStringError(answer.problem);
  auto library = ExternalLibrary::find(absolute);
  if (library && (*library)->digest != answer.object->as<std::string>())
    return llvm::createStringError("`" + path + "` has changed while the kernel was compiled");
  return library;
}

void Generator::buildKernel(FunctionPointer kernel, llvm::ArrayRef<ArgumentSpec> arguments,
                            llvm::ArrayRef<Object> values) {
  Frame kernelFrame;
  kernelFrame.function = kernel;
  for (auto [argument, value] : llvm::zip(arguments, values))
    kernelFrame.path.names.bind(argument.name, value, kernel->definition->nameLocation);
  frame = &kernelFrame;
  for (const ast::Parameter &parameter : kernel->definition->parameters)
    if (!kernelFrame.path.names.find(parameter.name))
      kernelFrame.path.names.bind(parameter.name, defaultValue(kernel, parameter), parameter.location);
  Object returned;
  try {
    returned = runFrame(kernelFrame);
  } catch (...) {
    flushPrints(); // what was printed on the way to an error is shown as well
    throw;
  }
  frame = nullptr;
  if (!returned.isNone())
    failAt(kernelFrame.path.returned->place, Diagnostic::Kind::Type,
           "a kernel returns nothing, but this returns " + returned.typeName(),
           "store results through a pointer argument");
}

Object Generator::evaluateGlobal(FunctionPointer scope, const ast::Expression &node) {
  Frame global;
  global.function = scope;
  frame = &global;
  Object value = expression(node);
  frame = nullptr;
  return value;
}

} // namespace nacre
