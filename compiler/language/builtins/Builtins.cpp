// The table of builtins, look-up by name, and binding of arguments to parameters.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/Marks.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nacre {

namespace {

// A default in a signature: None, True, False, a number, a quoted string, or a type's name.
Object parseDefault(llvm::StringRef text) {
  if (text == "None")
    return Object();
  if (text == "True" || text == "False")
    return text == "True";
  if (text.consume_front("\"")) {
    text.consume_back("\"");
    return text.str();
  }
  if (Type type = typeNamed(text))
    return type;
  if (text.contains('.')) {
    double value = 0;
    [[maybe_unused]] bool isBad = text.getAsDouble(value);
    assert(!isBad && "a builtin's default is not a literal");
    return value;
  }
  std::optional<Integer> value = parseInteger(text);
  assert(value && "a builtin's default is not a literal");
  return *value;
}

Parameter parseParameter(llvm::StringRef text) {
  Parameter parameter;
  auto [declaration, defaultText] = text.split('=');
  auto [name, annotation] = declaration.split(':');
  name = name.trim();
  parameter.isKeywords = name.consume_front("**");
  parameter.isVariadic = name.consume_front("*");
  parameter.name = name.str();
  parameter.annotation = annotation.trim().str();
  if (!defaultText.empty())
    parameter.defaultValue = parseDefault(defaultText.trim());
  if (parameter.isVariadic || parameter.isKeywords)
    parameter.defaultValue = Object::makeTuple({});
  return parameter;
}

// The table and its indices by name, made once.
struct Registry {
  std::vector<Builtin> rows;
  llvm::StringMap<const Builtin *> byName; // "module.name"
  llvm::StringMap<const Builtin *> methods;

  Registry() {
    Table table(rows);
    for (auto *add : {addProgrammingModel, addCreation, addShape, addLinearAlgebra, addMemory, addIndexing,
                      addArithmetic, addMath, addLibdevice, addReductions, addAtomics, addIteration, addHints,
                      addDebugging, addMarks, addInlineCode, addTypes, addPython})
      add(table);
    for (const Builtin &row : rows) {
      [[maybe_unused]] bool isNew = byName.try_emplace(row.module + "." + row.name, &row).second;
      assert(isNew && "a builtin is defined twice");
      if (row.isMethod)
        methods.try_emplace(row.name, &row);
    }
  }

  const Builtin *find(llvm::StringRef module, llvm::StringRef name) const {
    return byName.lookup((module + "." + name).str());
  }
};

const Registry &registry() {
  static const Registry &instance = *new Registry;
  return instance;
}

// Where a name of `module` may be defined, the module itself first: tl.core and tl.standard show what tl has, tl.math
// and libdevice each show the elementwise functions of the other.
llvm::SmallVector<llvm::StringRef, 4> searchPath(llvm::StringRef module) {
  if (module == languageModule)
    return {languageModule, mathModule};
  if (module == "triton.language.core" || module == "triton.language.standard" || module == "triton.language.random")
    return {languageModule, mathModule};
  if (module == mathModule)
    return {mathModule, libdeviceModule};
  if (module == libdeviceModule)
    return {libdeviceModule, mathModule};
  return {module};
}

} // namespace

void Table::section(const char *newModule, const char *newGroup) {
  module = newModule;
  group = newGroup;
}

void Table::add(const char *signature, std::string documentation, Invoke invoke, Use use) {
  Builtin row;
  row.module = module;
  row.group = group;
  row.documentation = std::move(documentation);
  row.invoke = invoke;
  row.isMethod = use == method;
  auto [name, parameters] = llvm::StringRef(signature).split('(');
  row.name = name.str();
  assert(parameters.ends_with(")") && "a signature is name(parameters)");
  llvm::SmallVector<llvm::StringRef> parts;
  parameters.drop_back().split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    row.parameters.push_back(parseParameter(part.trim()));
  rows.push_back(std::move(row));
}

llvm::ArrayRef<Builtin> allBuiltins() { return registry().rows; }

const Builtin *findBuiltin(llvm::StringRef module, llvm::StringRef name) {
  for (llvm::StringRef candidate : searchPath(module))
    if (const Builtin *builtin = registry().find(candidate, name))
      return builtin;
  return nullptr;
}

const Builtin *findMethod(llvm::StringRef name) { return registry().methods.lookup(name); }

std::string displayName(const Builtin &builtin) {
  if (builtin.module == pythonModule)
    return builtin.name;
  if (builtin.module == profilerModule)
    return "pl." + builtin.name;
  llvm::StringRef module = builtin.module;
  module.consume_front(languageModule);
  module.consume_front(".");
  return (module.empty() || builtin.module == mathModule ? "tl." : "tl." + module.str() + ".") + builtin.name;
}

static std::string parameterNames(const Builtin &builtin) {
  return llvm::join(llvm::map_range(builtin.parameters, [](const Parameter &parameter) { return parameter.name; }),
                    ", ");
}

static std::vector<Object> bindArguments(Evaluation &evaluation, const Builtin &builtin,
                                         llvm::ArrayRef<Object> positional,
                                         llvm::ArrayRef<std::pair<std::string, Object>> keywords) {
  auto fail = [&](const std::string &message) {
    evaluation.fail(Diagnostic::Kind::Argument, displayName(builtin) + " " + message,
                    builtin.parameters.empty() ? "it takes no arguments"
                                               : "its parameters are " + parameterNames(builtin));
  };
  std::vector<std::optional<Object>> bound(builtin.parameters.size());
  size_t next = 0;
  for (size_t index = 0; index < builtin.parameters.size() && next < positional.size(); ++index) {
    if (builtin.parameters[index].isVariadic) {
      bound[index] = Object::makeTuple(std::vector<Object>(positional.begin() + next, positional.end()));
      next = positional.size();
    } else {
      bound[index] = positional[next++];
    }
  }
  if (next < positional.size())
    fail("takes at most " + std::to_string(builtin.parameters.size()) + " arguments, but " +
         std::to_string(positional.size()) + " were given");
  for (const auto &[name, object] : keywords) {
    if (name == "_semantic" || name == "_builder" || name == "_generator") // what functions marked with @extern pass on
      continue;
    auto parameter =
        llvm::find_if(builtin.parameters, [&](const Parameter &candidate) { return candidate.name == name; });
    if (parameter == builtin.parameters.end())
      fail("has no parameter `" + name + "`");
    std::optional<Object> &slot = bound[static_cast<size_t>(parameter - builtin.parameters.begin())];
    if (slot)
      fail("got `" + name + "` twice");
    slot = parameter->isVariadic && !object.isTuple() ? Object::makeTuple({object}) : object;
  }
  std::vector<Object> arguments;
  for (auto [parameter, slot] : llvm::zip(builtin.parameters, bound)) {
    if (!slot && !parameter.defaultValue)
      fail("needs the argument `" + parameter.name + "`");
    arguments.push_back(slot ? *slot : *parameter.defaultValue);
  }
  return arguments;
}

static bool isSamePlace(const SourceLocation &a, const SourceLocation &b) {
  return a.source == b.source && a.line == b.line && a.column == b.column;
}

Object callBuiltin(Evaluation &evaluation, const Builtin &builtin, llvm::ArrayRef<Object> positional,
                   llvm::ArrayRef<std::pair<std::string, Object>> keywords) {
  std::vector<Object> arguments = bindArguments(evaluation, builtin, positional, keywords);
  SourceLocation place = evaluation.builder().location();
  try {
    return builtin.invoke(evaluation, arguments);
  } catch (CompileError &error) {
    // Says which function complained, unless the error is inside a function that this one called.
    bool isAssertion = error.diagnostic.kind == Diagnostic::Kind::StaticAssert;
    if (isAssertion || !error.diagnostic.calls.empty() || !isSamePlace(place, error.diagnostic.location))
      throw;
    Diagnostic diagnostic = error.diagnostic;
    diagnostic.message = displayName(builtin) + ": " + diagnostic.message;
    throw CompileError(std::move(diagnostic));
  }
}

} // namespace nacre
