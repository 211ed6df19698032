// Parsing of functions, the standard library's table, and what parameters say.
#include "compiler/frontend/Function.h"
#include "compiler/frontend/Parser.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/support/ForkSafety.h"

namespace nacre {

FunctionPointer parseFunctionSource(const FunctionSource &source) {
  auto function = std::make_shared<Function>();
  function->source = source;
  function->module = std::make_shared<const ast::Module>(parseFunction(source.text));
  for (const auto &statement : function->module->body)
    if (auto *definition = llvm::dyn_cast<ast::FunctionDefinition>(statement.get()))
      function->definition = definition;
  if (!function->definition) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Syntax;
    diagnostic.location.source = source.text;
    diagnostic.message = "the text of `" + source.name + "` holds no function definition";
    throw CompileError(diagnostic);
  }
  return function;
}

// ---- The standard library

namespace {

constexpr llvm::StringLiteral libraryPrefix = "triton.language.";

struct Library {
  std::map<std::string, FunctionPointer, std::less<>> functions; // by name
};

// Parsed when first asked for; never freed, as the compiler may run until the process ends.
Library &library(llvm::StringRef file) {
  static ProcessLock lock;
  std::lock_guard<ProcessLock> guard(lock);
  static auto *libraries = new std::map<std::string, Library>();
  auto [entry, isNew] = libraries->try_emplace(file.str());
  if (!isNew)
    return entry->second;
  llvm::StringRef text = standardLibrarySource(file);
  if (text.empty())
    return entry->second;
  auto source = std::make_shared<SourceText>();
  source->fileName = "nacre/language/" + file.str();
  source->text = text.str();
  auto module = std::make_shared<const ast::Module>(parseModule(source));
  for (const auto &statement : module->body)
    if (auto *definition = llvm::dyn_cast<ast::FunctionDefinition>(statement.get())) {
      auto function = std::make_shared<Function>();
      function->source.key = (libraryPrefix + file.drop_back(strlen(".py")) + "." + definition->name).str();
      function->source.name = definition->name;
      function->source.text = source;
      function->module = module;
      function->definition = definition;
      function->libraryFile = file.str();
      entry->second.functions[definition->name] = function;
    }
  return entry->second;
}

} // namespace

FunctionPointer libraryFunction(llvm::StringRef file, llvm::StringRef name) {
  Library &found = library(file);
  auto function = found.functions.find(std::string_view(name.data(), name.size()));
  return function == found.functions.end() ? nullptr : function->second;
}

// Library functions carry no FunctionSource of an embedder: the key alone names them.
JitReference libraryReference(const Function &function) { return JitReference{function.source.key, nullptr}; }

FunctionPointer findLibraryFunction(const JitReference &reference) {
  llvm::StringRef key = reference.key;
  if (reference.function || !key.consume_front(libraryPrefix))
    return nullptr;
  auto [file, name] = key.split('.');
  return libraryFunction((file + ".py").str(), name);
}

// ---- Parameters

static bool annotationNames(const ast::Expression *annotation, llvm::StringRef name) {
  if (!annotation)
    return false;
  if (auto *plain = llvm::dyn_cast<ast::Name>(annotation))
    return plain->name == name;
  if (auto *attribute = llvm::dyn_cast<ast::Attribute>(annotation))
    return attribute->name == name;
  if (auto *text = llvm::dyn_cast<ast::StringLiteral>(
          annotation)) // "tl.constexpr", as under `from __future__ import annotations`
    return text->value == name || llvm::StringRef(text->value).ends_with(("." + name).str());
  return false;
}

bool isConstexprAnnotation(const ast::Expression *annotation) { return annotationNames(annotation, "constexpr"); }
bool isConstAnnotation(const ast::Expression *annotation) { return annotationNames(annotation, "const"); }

// A default that is a literal; none for anything that has to be looked up.
static std::optional<Object> literal(const ast::Expression &expression) {
  switch (expression.kind) {
  case ast::Kind::NoneLiteral:
    return Object();
  case ast::Kind::BoolLiteral:
    return Object(llvm::cast<ast::BoolLiteral>(expression).value);
  case ast::Kind::IntegerLiteral:
    return Object(llvm::cast<ast::IntegerLiteral>(expression).value);
  case ast::Kind::FloatLiteral:
    return Object(llvm::cast<ast::FloatLiteral>(expression).value);
  case ast::Kind::StringLiteral:
    return Object(llvm::cast<ast::StringLiteral>(expression).value);
  case ast::Kind::UnaryOperation: {
    auto &negation = llvm::cast<ast::UnaryOperation>(expression);
    std::optional<Object> operand = literal(*negation.operand);
    if (negation.op != ast::UnaryOperator::Minus || !operand)
      return std::nullopt;
    if (operand->isInt())
      return Object(-operand->as<llvm::DynamicAPInt>());
    return operand->isFloat() ? std::optional<Object>(-operand->as<double>()) : std::nullopt;
  }
  case ast::Kind::Tuple: {
    std::vector<Object> items;
    for (const auto &element : llvm::cast<ast::Tuple>(expression).elements) {
      std::optional<Object> item = literal(*element);
      if (!item)
        return std::nullopt;
      items.push_back(*item);
    }
    return Object::makeTuple(std::move(items));
  }
  default:
    return std::nullopt;
  }
}

// The annotation as it is written. One that spans lines is cut at the first.
static std::string textOf(const ast::Expression &expression) {
  const SourceLocation &place = expression.location;
  std::string line = place.source->line(place.line);
  size_t start = std::min<size_t>(place.column, line.size());
  size_t end = place.endLine > place.line ? line.size() : std::min<size_t>(place.endColumn, line.size());
  return line.substr(start, end - start);
}

std::vector<ParameterInfo> functionParameters(const FunctionSource &source) {
  FunctionPointer function = parseFunctionSource(source);
  std::vector<ParameterInfo> parameters;
  for (const ast::Parameter &parameter : function->definition->parameters) {
    ParameterInfo info;
    info.name = parameter.name;
    info.isConstexpr = isConstexprAnnotation(parameter.annotation.get());
    info.isConst = isConstAnnotation(parameter.annotation.get());
    if (parameter.defaultValue)
      info.defaultValue = literal(*parameter.defaultValue);
    if (parameter.annotation)
      info.annotation = textOf(*parameter.annotation);
    parameters.push_back(std::move(info));
  }
  return parameters;
}

} // namespace nacre
