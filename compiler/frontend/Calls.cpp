// Calls: builtins, methods, embedder objects, and functions of the language, which are inlined where they are called.
#include "compiler/frontend/Generator.h"
#include "compiler/frontend/SingleElements.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/Marks.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/language/meaning/Scalars.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

Object Generator::callExpression(const ast::Call &node) {
  Object callee = expression(*node.callee);
  Arguments arguments = evaluateArguments(node);
  return callObject(callee, arguments, node.location);
}

Arguments Generator::evaluateArguments(const ast::Call &node) {
  Arguments arguments;
  for (Object &item : elements(node.arguments))
    arguments.positional.push_back(std::move(item));
  for (const ast::KeywordArgument &keyword : node.keywords) {
    if (keyword.name.empty())
      failAt(keyword.location, Diagnostic::Kind::Unsupported, "`**` arguments cannot be used in a kernel",
             "name each argument");
    if (llvm::any_of(arguments.keywords, [&](const auto &other) { return other.first == keyword.name; }))
      failAt(keyword.location, Diagnostic::Kind::Argument, "the argument `" + keyword.name + "` is given twice");
    arguments.keywords.emplace_back(keyword.name, expression(*keyword.value));
  }
  return arguments;
}

Object Generator::callObject(const Object &callee, const Arguments &arguments, const SourceLocation &place) {
  irBuilder.setLocation(place);
  if (callee.is<const Builtin *>())
    return callBuiltinAt(*callee.as<const Builtin *>(), arguments, place);
  if (callee.is<JitReference>())
    return inlineCall(functionOf(callee.as<JitReference>()), arguments, place);
  if (callee.is<BoundMethod>()) {
    const BoundMethod &method = callee.as<BoundMethod>();
    Arguments bound = arguments;
    bound.positional.insert(bound.positional.begin(), *method.receiver);
    if (method.function)
      return callObject(*method.function, bound, place);
    if (method.builtin)
      return callBuiltinAt(*method.builtin, bound, place);
    FunctionPointer function = libraryFunction(standardFunctionFile("triton.language", method.name), method.name);
    if (!function)
      failAt(place, Diagnostic::Kind::Internal, "the standard library has no function `" + method.name + "`");
    return inlineCall(function, bound, place);
  }
  if (callee.is<OpaqueReference>())
    return callOpaque(callee, arguments, place);
  failAt(place, Diagnostic::Kind::Type, callee.typeName() + " cannot be called");
}

// Where overflow is looked for, reductions and scans of signed integers tell what they take and give (tile.tell): only
// here is known which integers are signed. Whether they are sums is for the pass to see (WatchArithmetic.h).
static void tellSum(Generator &generator, const Object &result) {
  if (!result.isValue())
    return;
  Type scalar = result.value().type().scalarType();
  if (!scalar.isInteger() || !scalar.isSigned() || isOfSingleElements(generator))
    return;
  IRBuilder &ir = generator.ir();
  mlir::Operation *op = ir.irValue(result.value()).getDefiningOp();
  while (op && llvm::isa<tile::ExpandDimsOp, tile::SplatOp>(op)) // axes that are kept
    op = op->getOperand(0).getDefiningOp();
  if (op && llvm::isa<tile::ReduceOp, tile::ScanOp>(op) && op->getNumOperands() == 1)
    tile::TellOp::create(ir.ops(), ir.irLocation(), ToldKind::Arithmetic, "sum " + scalar.str(),
                         mlir::ValueRange{op->getOperand(0), op->getResult(0)}, llvm::ArrayRef<bool>{true, true});
}

Object Generator::callBuiltinAt(const Builtin &builtin, const Arguments &arguments, const SourceLocation &place) {
  if (isRangeBuiltin(builtin)) // outside a `for`: all its numbers
    return Object::makeTuple(
        constantRange(rangeOf(builtin, arguments, place), place, "a range that is not run over by `for`"));
  if (&builtin == findBuiltin("triton.language", "aggregate_replace"))
    return replaceFields(arguments, place);
  irBuilder.setLocation(place);
  if (std::optional<Object> answer = askEmbedderAttribute(builtin, arguments, place))
    return *answer;
  if (std::optional<Object> answer = isInstanceOfAncestor(builtin, arguments, place))
    return *answer;
  Object result = callBuiltin(*this, builtin, arguments.positional, arguments.keywords);
  if (std::optional<ToldKind> kind = builtin.module == profilerModule ? toldKindNamed(builtin.name) : std::nullopt)
    mark(*kind, result.as<std::string>(), irBuilder.irLocation());
  if (options.sanitizeOverflow && (builtin.name == "reduce" || builtin.name == "associative_scan"))
    tellSum(*this, result);
  return result;
}

// getattr and hasattr of modules, and of what only the embedder understands.
std::optional<Object> Generator::askEmbedderAttribute(const Builtin &builtin, const Arguments &arguments,
                                                      const SourceLocation &place) {
  bool isGet = builtin.name == "getattr", isHas = builtin.name == "hasattr";
  const auto &positional = arguments.positional;
  if (builtin.module != "builtins" || !(isGet || isHas) || positional.size() < 2 || !positional[1].isString())
    return std::nullopt;
  const std::string &name = positional[1].as<std::string>();
  if (positional[0].is<ModuleReference>()) {
    const auto &module = positional[0].as<ModuleReference>();
    if (isGet && positional.size() == 2)
      return moduleAttribute(module, name, place);
    std::optional<Object> member = languageMember(canonicalModule(module.name), name);
    if (!member)
      member = embedder.attribute(Object(module), name).object;
    return isHas ? Object(member.has_value()) : member.value_or(positional.back());
  }
  if (!positional[0].is<OpaqueReference>())
    return std::nullopt;
  Embedder::Answer answer = embedder.attribute(positional[0], name);
  if (isHas)
    return Object(answer.object.has_value());
  if (!answer.object && answer.problem.empty() && positional.size() == 3)
    return positional[2];
  if (!answer.object && answer.problem.empty())
    failAt(place, Diagnostic::Kind::Name, positional[0].typeName() + " has no attribute `" + name + "`");
  return accept(answer, "the attribute `" + name + "`", place);
}

// A class of named tuples is opaque too, but holds run-time values as well: its fields say what it makes.
Object Generator::callOpaque(const Object &callee, const Arguments &arguments, const SourceLocation &place) {
  if (std::optional<Object> aggregate = makeAggregate(callee, arguments, place))
    return *aggregate;
  Embedder::Answer fields = embedder.attribute(callee, "_fields");
  if (fields.object && fields.object->isTuple()) {
    auto tuple = std::make_shared<TupleValue>();
    tuple->recordClass = std::make_shared<const Object>(callee);
    Embedder::Answer className = embedder.attribute(callee, "__name__");
    tuple->typeName = className.object && className.object->isString() ? className.object->as<std::string>() : "tuple";
    for (const Object &field : fields.object->tuple().items)
      tuple->names.push_back(field.as<std::string>());
    std::vector<std::optional<Object>> values(tuple->names.size());
    if (arguments.positional.size() > values.size())
      failAt(place, Diagnostic::Kind::Argument,
             tuple->typeName + " has " + std::to_string(values.size()) + " fields, but " +
                 std::to_string(arguments.positional.size()) + " values were given");
    std::copy(arguments.positional.begin(), arguments.positional.end(), values.begin());
    for (const auto &[name, value] : arguments.keywords) {
      auto field = llvm::find(tuple->names, name);
      if (field == tuple->names.end() || values[field - tuple->names.begin()])
        failAt(place, Diagnostic::Kind::Argument,
               tuple->typeName + (field == tuple->names.end() ? " has no field `" : " got its field twice: `") + name +
                   "`");
      values[field - tuple->names.begin()] = value;
    }
    for (auto [name, value] : llvm::zip(tuple->names, values)) {
      if (!value)
        failAt(place, Diagnostic::Kind::Argument, tuple->typeName + " needs a value for its field `" + name + "`");
      tuple->items.push_back(*value);
    }
    return std::shared_ptr<const TupleValue>(std::move(tuple));
  }
  auto requireConstexpr = [&](const Object &argument) {
    if (argument.isConstexpr())
      return;
    Embedder::Answer name = embedder.attribute(callee, "__name__");
    std::string ours = name.object && name.object->isString() ? languageFunction(name.object->as<std::string>()) : "";
    failAt(place, Diagnostic::Kind::Type,
           "a Python function can only be called with constexprs while compiling, not with " + argument.typeName(),
           ours.empty() ? "make it a kernel function with @triton.jit, or one with @triton.constexpr_function if it "
                          "asks for types alone"
                        : "use " + ours + ", which takes tensors");
  };
  auto isRunTime = [](const Object &argument) { return !argument.isConstexpr(); };
  bool anyRunTime = llvm::any_of(arguments.positional, isRunTime) ||
                    llvm::any_of(arguments.keywords, [&](const auto &given) { return isRunTime(given.second); });
  if (anyRunTime && !embedder.attribute(callee, "_takes_run_time_values").object) {
    llvm::for_each(arguments.positional, requireConstexpr);
    for (const auto &[name, value] : arguments.keywords)
      requireConstexpr(value);
  }
  Embedder::Answer answer = embedder.call(callee, arguments.positional, arguments.keywords);
  if (!answer.object && answer.problem.empty())
    failAt(place, Diagnostic::Kind::Type, callee.typeName() + " cannot be called from a kernel");
  return accept(answer, "the result of this call", place);
}

// ---- Functions of the language

FunctionPointer Generator::functionOf(const JitReference &reference) {
  if (FunctionPointer library = findLibraryFunction(reference))
    return library;
  FunctionPointer &function = parsed[reference.key];
  if (!function) {
    auto source = std::static_pointer_cast<FunctionSource>(reference.function);
    if (!source)
      failAt(irBuilder.location(), Diagnostic::Kind::Internal, "the text of `" + reference.key + "` is not known");
    function = parseFunctionSource(*source);
  }
  return function;
}

// A function may call itself where a constexpr among its arguments ends that; nothing at run time can.
void Generator::rejectRecursion(const Function &function, const Arguments &arguments, const SourceLocation &place) {
  constexpr int deepest = 64;
  auto isConstexpr = [](const Object &object) { return object.isConstexpr(); };
  bool mayEnd = llvm::any_of(arguments.positional, isConstexpr) ||
                llvm::any_of(arguments.keywords, [&](const auto &given) { return isConstexpr(given.second); });
  // The calls from the last of itself to this one.
  auto chain = [&] {
    std::string text = "`" + function.source.name + "`";
    for (Frame *active = frame; active; active = active->caller) {
      text = "`" + active->function->source.name + "` calls " + text;
      if (active->function->source.key == function.source.key)
        break;
    }
    return text;
  };
  int depth = 0;
  for (Frame *active = frame; active; active = active->caller) {
    if (active->function->source.key != function.source.key)
      continue;
    if (!mayEnd)
      failAt(place, Diagnostic::Kind::Unsupported, "recursion cannot be compiled: " + chain(),
             "use a loop, or let a tl.constexpr argument end it");
    if (++depth == deepest)
      failAt(place, Diagnostic::Kind::Unsupported,
             "recursion does not end: " + chain() + ", " + std::to_string(deepest) + " calls deep",
             "let an `if` on a tl.constexpr argument end it");
  }
}

// A builtin's error opens with its name, "tl.reduce: ", which says nothing to who called tl.sum.
static std::string withoutBuiltinName(llvm::StringRef message) {
  auto [name, rest] = message.split(": ");
  bool isName =
      name.starts_with("tl.") && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return isName && !rest.empty() ? rest.str() : message.str();
}

Object Generator::inlineCall(FunctionPointer function, const Arguments &arguments, const SourceLocation &place,
                             bool constructs) {
  checkStack(place);
  if (!function->source.isConstexprFunction) // recursion that constexprs end is bounded by the stack
    rejectRecursion(*function, arguments, place);
  Frame callee;
  callee.function = function;
  callee.caller = frame;
  callee.callSite = place;
  bindParameters(callee, arguments, place);
  if (constructs)
    callee.constructed = function->definition->parameters.front().name;

  frame = &callee;
  irBuilder.enterCall(place);
  auto leave = llvm::scope_exit([&] {
    irBuilder.leaveCall();
    frame = callee.caller;
    irBuilder.setLocation(place);
  });
  try {
    Object result = runFrame(callee);
    return constructs ? callee.path.names.find(callee.constructed)->object : result;
  } catch (CompileError &error) {
    Diagnostic diagnostic = error.diagnostic;
    if (function->isLibrary() && !callee.caller->function->isLibrary() &&
        diagnostic.kind != Diagnostic::Kind::Internal) {
      // The user's own line is where the mistake is, not the library's text.
      diagnostic.location = place;
      diagnostic.calls.clear();
      diagnostic.message = "tl." + function->source.name + ": " + withoutBuiltinName(diagnostic.message);
    } else if (!function->isLibrary() || !callee.caller->function->isLibrary()) {
      bool isAgain = !diagnostic.calls.empty() && diagnostic.calls.back().source == place.source &&
                     diagnostic.calls.back().line == place.line;
      if (!isAgain) // a function that calls itself
        diagnostic.calls.push_back(place);
    }
    throw CompileError(std::move(diagnostic));
  }
}

Object Generator::runFrame(Frame &callee) {
  block(callee.function->definition->body, /*atEnd=*/Exit::Return);
  return callee.path.returned->object;
}

// What a parameter of a called function is annotated with asks nothing: published kernels hand run-time values to
// parameters annotated constexpr, and only a use that needs a constexpr refuses them.
void Generator::bindParameters(Frame &callee, const Arguments &arguments, const SourceLocation &place) {
  const ast::FunctionDefinition &definition = *callee.function->definition;
  const std::string name = "`" + definition.name + "`";
  auto parameterNames = [&] {
    return "its parameters are " +
           llvm::join(llvm::map_range(definition.parameters, [](const auto &p) { return p.name; }), ", ");
  };
  for (const auto &[keyword, value] : arguments.keywords)
    if (llvm::none_of(definition.parameters, [&](const ast::Parameter &parameter) {
          return parameter.name == keyword &&
                 (parameter.kind == ast::ParameterKind::Regular || parameter.kind == ast::ParameterKind::KeywordOnly);
        }))
      failAt(place, Diagnostic::Kind::Argument, name + " has no parameter `" + keyword + "`", parameterNames());

  size_t next = 0;
  for (const ast::Parameter &parameter : definition.parameters) {
    if (parameter.kind == ast::ParameterKind::VariadicKeyword)
      failAt(parameter.location, Diagnostic::Kind::Unsupported,
             "`**" + parameter.name + "` cannot be used in a function of a kernel", "name each parameter");
    if (parameter.kind == ast::ParameterKind::VariadicPositional) {
      std::vector<Object> rest(arguments.positional.begin() + std::min(next, arguments.positional.size()),
                               arguments.positional.end());
      next = arguments.positional.size();
      callee.path.names.bind(parameter.name, Object::makeTuple(std::move(rest)), place);
      continue;
    }
    auto keyword = llvm::find_if(arguments.keywords, [&](const auto &given) { return given.first == parameter.name; });
    bool byName = keyword != arguments.keywords.end();
    bool byPlace = parameter.kind != ast::ParameterKind::KeywordOnly && next < arguments.positional.size();
    if (byName && byPlace)
      failAt(place, Diagnostic::Kind::Argument, name + " got `" + parameter.name + "` twice");
    if (byName)
      callee.path.names.bind(parameter.name, keyword->second, place);
    else if (byPlace)
      callee.path.names.bind(parameter.name, arguments.positional[next++], place);
    else if (parameter.defaultValue)
      callee.path.names.bind(parameter.name, defaultValue(callee.function, parameter), place);
    else
      failAt(place, Diagnostic::Kind::Argument, name + " needs the argument `" + parameter.name + "`");
  }
  if (next < arguments.positional.size())
    failAt(place, Diagnostic::Kind::Argument,
           name + " takes " + std::to_string(next) + " arguments, but " + std::to_string(arguments.positional.size()) +
               " were given",
           parameterNames());
}

// Defaults are evaluated where the function is defined, without its locals.
Object Generator::defaultValue(FunctionPointer function, const ast::Parameter &parameter) {
  if (!parameter.defaultValue)
    failAt(parameter.location, Diagnostic::Kind::Argument,
           "`" + function->source.name + "` needs the argument `" + parameter.name + "`");
  Frame scope;
  scope.function = function;
  scope.caller = frame;
  frame = &scope;
  auto leave = llvm::scope_exit([&] { frame = scope.caller; });
  return expression(*parameter.defaultValue);
}

} // namespace nacre
