// The embedder of a C++ program: names are looked up among the functions, constants and imports of one parsed file.
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Generator.h"
#include "compiler/frontend/Parser.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace nacre {

namespace {

// "jit" for @triton.jit, @jit and @triton.jit(...); whatever a decorator is called last.
llvm::StringRef decoratorName(const ast::Expression &decorator) {
  if (auto *call = llvm::dyn_cast<ast::Call>(&decorator))
    return decoratorName(*call->callee);
  if (auto *attribute = llvm::dyn_cast<ast::Attribute>(&decorator))
    return attribute->name;
  if (auto *name = llvm::dyn_cast<ast::Name>(&decorator))
    return name->name;
  return "";
}

bool isDecorated(llvm::ArrayRef<ast::ExpressionPointer> decorators, llvm::StringRef name) {
  return llvm::any_of(decorators, [&](const auto &decorator) { return decoratorName(*decorator) == name; });
}
bool isJit(const ast::FunctionDefinition &definition) { return isDecorated(definition.decorators, "jit"); }
bool isConstexprFunction(const ast::FunctionDefinition &definition) {
  return isDecorated(definition.decorators, "constexpr_function");
}
bool isExternal(const ast::FunctionDefinition &definition) {
  return isDecorated(definition.decorators, "extern") || isDecorated(definition.decorators, "builtin");
}

// @must_use_result, alone or with a text.
std::optional<std::string> mustUse(const ast::FunctionDefinition &definition) {
  for (const auto &decorator : definition.decorators) {
    if (decoratorName(*decorator) != "must_use_result")
      continue;
    auto *call = llvm::dyn_cast<ast::Call>(decorator.get());
    auto *said = call && !call->arguments.empty() ? llvm::dyn_cast<ast::StringLiteral>(call->arguments.front().get()) : nullptr;
    return said ? said->value : "";
  }
  return std::nullopt;
}

// An aggregate's description (Aggregates.cpp) is asked for by the class's key with this behind it.
constexpr llvm::StringLiteral aggregateSuffix = "#aggregate";
bool isAggregate(const ast::ClassDefinition &type) {
  return isDecorated(type.decorators, "aggregate") || isDecorated(type.decorators, "_aggregate");
}

// What constants of a file are computed with, from Python's module `math`.
struct MathFunction {
  llvm::StringLiteral name;
  double (*function)(double);
};
constexpr MathFunction mathFunctions[] = {
    {"sqrt", std::sqrt}, {"exp", std::exp},     {"exp2", std::exp2}, {"log", std::log},
    {"log2", std::log2}, {"log10", std::log10}, {"sin", std::sin},   {"cos", std::cos},
    {"tan", std::tan},   {"tanh", std::tanh},   {"erf", std::erf},   {"fabs", std::fabs},
};
constexpr llvm::StringLiteral mathPrefix = "math.";

std::optional<Object> mathMember(llvm::StringRef name) {
  if (name == "pi")
    return Object(llvm::numbers::pi);
  if (name == "e")
    return Object(llvm::numbers::e);
  if (name == "inf")
    return Object(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return Object(std::numeric_limits<double>::quiet_NaN());
  for (const MathFunction &function : mathFunctions)
    if (function.name == name)
      return Object(OpaqueReference{(mathPrefix + name).str(), 0});
  return std::nullopt;
}

class FileEmbedder : public Embedder {
public:
  explicit FileEmbedder(std::shared_ptr<const SourceText> file) : module(parseModule(std::move(file))) {
    index(module.body);
  }

  Answer global(const FunctionSource &function, llvm::StringRef name) override;
  Answer attribute(const Object &object, llvm::StringRef name) override;
  Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>> keywords) override;

  const ast::FunctionDefinition *findDefinition(llvm::StringRef name) const;
  FunctionSource source(const ast::FunctionDefinition &definition) const;
  const ast::Module &file() const { return module; }

private:
  struct Global {
    const ast::FunctionDefinition *function = nullptr;
    const ast::ClassDefinition *type = nullptr;
    const ast::Expression *value = nullptr;
    bool isConstexpr = false;                 // annotated tl.constexpr
    std::string importedModule, importedName; // import m; from m import n
  };

  void index(const ast::Block &statements);
  Answer describeAggregate(const ast::ClassDefinition &type, llvm::StringRef name);
  std::vector<const ast::ClassDefinition *> lineage(const ast::ClassDefinition &type) const;
  std::optional<Object> method(const ast::ClassDefinition &type, llvm::StringRef name) const;
  Object classObject(const ast::ClassDefinition &type) const;
  Answer value(llvm::StringRef name, const Global &global, bool anyConstant);
  Answer imported(const Global &global);
  Object evaluate(const ast::Expression &expression);

  ast::Module module;
  std::map<std::string, Global, std::less<>> globals;
  std::set<std::string> evaluating; // globals whose value is being found: a cycle is an error
};

// The last definition of a name is the one that functions see when they run.
void FileEmbedder::index(const ast::Block &statements) {
  for (const auto &statement : statements) {
    switch (statement->kind) {
    case ast::Kind::FunctionDefinition: {
      auto &definition = llvm::cast<ast::FunctionDefinition>(*statement);
      globals[definition.name] = Global{&definition};
      break;
    }
    case ast::Kind::ClassDefinition: {
      auto &definition = llvm::cast<ast::ClassDefinition>(*statement);
      globals[definition.name] = Global{nullptr, &definition};
      break;
    }
    case ast::Kind::Assign: {
      auto &assignment = llvm::cast<ast::Assign>(*statement);
      for (const auto &target : assignment.targets)
        if (auto *name = llvm::dyn_cast<ast::Name>(target.get()))
          globals[name->name] = Global{nullptr, nullptr, assignment.value.get()};
      break;
    }
    case ast::Kind::AnnotatedAssign: {
      auto &assignment = llvm::cast<ast::AnnotatedAssign>(*statement);
      auto *name = llvm::dyn_cast<ast::Name>(assignment.target.get());
      if (name && assignment.value)
        globals[name->name] =
            Global{nullptr, nullptr, assignment.value.get(), isConstexprAnnotation(assignment.annotation.get())};
      break;
    }
    case ast::Kind::Import:
      for (const ast::ImportedName &name : llvm::cast<ast::Import>(*statement).names) {
        Global global;
        global.importedModule = name.alias.empty() ? llvm::StringRef(name.name).split('.').first.str() : name.name;
        globals[name.alias.empty() ? global.importedModule : name.alias] = global;
      }
      break;
    case ast::Kind::ImportFrom:
      for (const ast::ImportedName &name : llvm::cast<ast::ImportFrom>(*statement).names) {
        Global global;
        global.importedModule = llvm::cast<ast::ImportFrom>(*statement).module;
        global.importedName = name.name;
        globals[name.alias.empty() ? name.name : name.alias] = global;
      }
      break;
    case ast::Kind::If: { // if has_triton(): ...
      auto &branch = llvm::cast<ast::If>(*statement);
      index(branch.orElse);
      index(branch.body);
      break;
    }
    case ast::Kind::Try: // try: import x except ImportError: ...
      index(llvm::cast<ast::Try>(*statement).body);
      break;
    default:
      break;
    }
  }
}

const ast::FunctionDefinition *FileEmbedder::findDefinition(llvm::StringRef name) const {
  auto found = globals.find(std::string_view(name.data(), name.size()));
  return found == globals.end() ? nullptr : found->second.function;
}

// The lines of the definition, decorators included.
// Lines `first` to `last` of a file, each without the columns that a method is indented by. One walk: a file may be
// long.
static std::string linesOf(const SourceText &file, int first, int last, size_t indentation) {
  std::string lines;
  llvm::StringRef rest = file.text;
  for (int line = file.firstLine; line <= last && !rest.empty(); ++line) {
    size_t length = std::min(rest.find_first_of("\r\n"), rest.size());
    if (line >= first)
      lines += rest.take_front(length).substr(indentation).str() + "\n";
    rest = rest.drop_front(length);
    if (!rest.consume_front("\r\n"))
      rest = rest.drop_front(rest.empty() ? 0 : 1);
  }
  return lines;
}

FunctionSource FileEmbedder::source(const ast::FunctionDefinition &definition) const {
  int first = definition.location.line, last = definition.location.endLine;
  for (const auto &decorator : definition.decorators)
    first = std::min(first, decorator->location.line);
  auto text = std::make_shared<SourceText>();
  text->fileName = module.source->fileName;
  text->firstLine = first;
  text->firstColumn = definition.location.column; // a method is indented
  text->text = linesOf(*module.source, first, last, static_cast<size_t>(text->firstColumn));
  FunctionSource source;
  source.key = module.source->fileName + ":" + definition.name;
  source.name = definition.name;
  source.text = text;
  source.isConstexprFunction = isConstexprFunction(definition);
  source.isExternal = isExternal(definition);
  source.mustUse = mustUse(definition);
  return source;
}

Embedder::Answer FileEmbedder::global(const FunctionSource &function, llvm::StringRef name) {
  auto found = globals.find(std::string_view(name.data(), name.size()));
  if (found != globals.end())
    return value(name, found->second, /*anyConstant=*/function.isExternal);
  return {};
}

Embedder::Answer FileEmbedder::value(llvm::StringRef name, const Global &global, bool anyConstant) {
  if (global.function) {
    const ast::FunctionDefinition &definition = *global.function;
    if (!isJit(definition) && !isConstexprFunction(definition) && !isExternal(definition))
      return {std::nullopt, "a Python function; decorate it with @triton.jit"};
    FunctionSource text = source(definition);
    return {JitReference{text.key, std::make_shared<FunctionSource>(text)}, ""};
  }
  if (global.type)
    return {classObject(*global.type), ""};
  if (!global.value)
    return imported(global);
  if (!evaluating.insert(name.str()).second)
    return {std::nullopt, "a global that is defined by itself"};
  auto done = llvm::scope_exit([&] { evaluating.erase(name.str()); });
  Object object = evaluate(*global.value);
  auto *call = llvm::dyn_cast<ast::Call>(global.value);
  bool isConstexpr = global.isConstexpr || (call && decoratorName(*call->callee) == "constexpr");
  bool isPlain = object.isNumber() || object.isString() || object.isTuple();
  // The other constants of the file may be used in each other, but not in kernels.
  if (isPlain && !isConstexpr && !anyConstant && evaluating.size() == 1)
    return {std::nullopt, "a global of type " + object.typeName() + " that may change; make it tl.constexpr(...)"};
  return {object, ""};
}

Embedder::Answer FileEmbedder::imported(const Global &global) {
  if (global.importedName.empty())
    return {ModuleReference{global.importedModule}, ""};
  std::string whole = global.importedModule + "." + global.importedName;
  if (std::string canonical = canonicalModule(whole); !canonical.empty())
    return {ModuleReference{canonical}, ""};
  if (global.importedModule == "math")
    if (std::optional<Object> member = mathMember(global.importedName))
      return {member, ""};
  std::string canonical = canonicalModule(global.importedModule);
  if (canonical.empty())
    return {std::nullopt, "imported from `" + global.importedModule + "`, which only Python could load"};
  if (std::optional<Object> member = languageMember(canonical, global.importedName))
    return {*member, ""};
  return {std::nullopt, "a name that `" + global.importedModule + "` does not have"};
}

Embedder::Answer FileEmbedder::attribute(const Object &object, llvm::StringRef name) {
  if (object.is<ModuleReference>() && !canonicalModule(object.as<ModuleReference>().name).empty())
    return {};
  if (object.is<ModuleReference>() && object.as<ModuleReference>().name == "math")
    if (std::optional<Object> member = mathMember(name))
      return {member, ""};
  if (object.is<ModuleReference>())
    return {std::nullopt,
            "part of the module `" + object.as<ModuleReference>().name + "`, which only Python could load"};
  // Fields of a class of named tuples, and what an aggregate is made of.
  const std::string &key = object.as<OpaqueReference>().key;
  llvm::StringRef className = llvm::StringRef(key).rsplit(':').second;
  bool isDescription = className.consume_back(aggregateSuffix);
  auto found = globals.find(className.str());
  if (found == globals.end() || !found->second.type)
    return {};
  const ast::ClassDefinition &type = *found->second.type;
  if (isDescription)
    return describeAggregate(type, name);
  if (name == "__aggregate__" && isAggregate(type))
    return {OpaqueReference{key + aggregateSuffix.str(), 0}, ""};
  if (name == "__name__")
    return {Object(type.name), ""};
  bool isNamedTuple = llvm::any_of(type.bases, [](const auto &base) { return decoratorName(*base) == "NamedTuple"; });
  if (name != "_fields" || !isNamedTuple)
    return {};
  std::vector<Object> fields;
  for (const auto &statement : type.body)
    if (auto *field = llvm::dyn_cast<ast::AnnotatedAssign>(statement.get()))
      if (auto *fieldName = llvm::dyn_cast<ast::Name>(field->target.get()))
        fields.emplace_back(fieldName->name);
  return {Object::makeTuple(std::move(fields)), ""};
}

// The class and those it inherits from, in the order in which Python looks for a member: a class that several inherit
// from comes after all of them.
std::vector<const ast::ClassDefinition *> FileEmbedder::lineage(const ast::ClassDefinition &type) const {
  std::vector<const ast::ClassDefinition *> found = {&type};
  for (const auto &base : type.bases) {
    auto *name = llvm::dyn_cast<ast::Name>(base.get());
    auto global = name ? globals.find(name->name) : globals.end();
    bool isKnown = global != globals.end() && global->second.type && global->second.type != &type;
    if (!isKnown || !isAggregate(*global->second.type)) {
      Diagnostic diagnostic;
      diagnostic.kind = Diagnostic::Kind::Type;
      diagnostic.location = base->location;
      diagnostic.message = "an aggregate inherits from aggregates alone, and this is not one of this file's";
      throw CompileError(std::move(diagnostic));
    }
    for (const ast::ClassDefinition *ancestor : lineage(*global->second.type)) {
      llvm::erase(found, ancestor);
      found.push_back(ancestor);
    }
  }
  return found;
}

Object FileEmbedder::classObject(const ast::ClassDefinition &type) const {
  return OpaqueReference{module.source->fileName + ":" + type.name, 0};
}

Embedder::Answer FileEmbedder::describeAggregate(const ast::ClassDefinition &type, llvm::StringRef name) {
  std::vector<const ast::ClassDefinition *> classes = lineage(type);
  if (name == "__ancestors__") {
    std::vector<Object> ancestors;
    for (const ast::ClassDefinition *ancestor : llvm::drop_begin(classes))
      ancestors.push_back(classObject(*ancestor));
    return {Object::makeTuple(std::move(ancestors)), ""};
  }
  if (name == "__constructor__") { // of the class itself; without one, its fields are the parameters
    std::optional<Object> constructor = method(type, "__init__");
    return {constructor ? *constructor : Object(), ""};
  }
  if (name != "__fields__" && name != "__constexprs__" && name != "__defaults__") {
    for (const ast::ClassDefinition *owner : classes)
      if (std::optional<Object> found = method(*owner, name))
        return {*found, ""};
    return {};
  }
  // A field stays where the first class of the lineage put it; what a later class says of it holds.
  llvm::MapVector<llvm::StringRef, const ast::AnnotatedAssign *> fields;
  llvm::MapVector<llvm::StringRef, const ast::Expression *> defaults;
  for (const ast::ClassDefinition *owner : llvm::reverse(classes))
    for (const auto &statement : owner->body)
      if (auto *field = llvm::dyn_cast<ast::AnnotatedAssign>(statement.get()))
        if (auto *fieldName = llvm::dyn_cast<ast::Name>(field->target.get())) {
          fields[fieldName->name] = field;
          if (field->value)
            defaults[fieldName->name] = field->value.get();
        }
  std::vector<Object> answer;
  if (name == "__defaults__")
    for (const auto &[fieldName, value] : defaults)
      answer.push_back(Object::makeTuple({fieldName.str(), evaluate(*value)}));
  else
    for (const auto &[fieldName, field] : fields)
      if (name == "__fields__" || isConstexprAnnotation(field->annotation.get()))
        answer.emplace_back(fieldName.str());
  return {Object::makeTuple(std::move(answer)), ""};
}

// The function `name` that a class defines itself.
std::optional<Object> FileEmbedder::method(const ast::ClassDefinition &type, llvm::StringRef name) const {
  for (const auto &statement : type.body)
    if (auto *definition = llvm::dyn_cast<ast::FunctionDefinition>(statement.get());
        definition && definition->name == name) {
      FunctionSource text = source(*definition);
      text.key = module.source->fileName + ":" + type.name + "." + definition->name;
      text.isConstexprFunction = !isJit(*definition);
      return JitReference{text.key, std::make_shared<FunctionSource>(text)};
    }
  return std::nullopt;
}

Embedder::Answer FileEmbedder::call(const Object &callee, llvm::ArrayRef<Object> positional,
                                    llvm::ArrayRef<std::pair<std::string, Object>> keywords) {
  llvm::StringRef name = callee.as<OpaqueReference>().key;
  if (name.consume_front(mathPrefix) && positional.size() == 1 && keywords.empty() && positional[0].isNumber())
    for (const MathFunction &function : mathFunctions)
      if (function.name == name) {
        const Object &argument = positional[0];
        double number = argument.isFloat()  ? argument.as<double>()
                        : argument.isBool() ? argument.as<bool>()
                                            : static_cast<double>(int64_t(argument.as<llvm::DynamicAPInt>()));
        return {Object(function.function(number)), ""};
      }
  return {std::nullopt, "what a Python function gives, which only Python could run"};
}

Object FileEmbedder::evaluate(const ast::Expression &expression) {
  static const FrontendOptions options;
  mlir::MLIRContext context;
  context.loadDialect<tile::TileDialect>();
  Generator generator(context, *this, options);
  auto scope = std::make_shared<Function>();
  scope->source.text = module.source;
  scope->source.key = module.source->fileName;
  return generator.evaluateGlobal(scope, expression);
}

} // namespace

std::unique_ptr<Embedder> makeFileEmbedder(std::shared_ptr<const SourceText> file) {
  return std::make_unique<FileEmbedder>(std::move(file));
}

FunctionSource findFunction(Embedder &fileEmbedder, llvm::StringRef name) {
  auto &embedder = dynamic_cast<FileEmbedder &>(fileEmbedder);
  if (const ast::FunctionDefinition *definition = embedder.findDefinition(name))
    return embedder.source(*definition);
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Name;
  diagnostic.location.source = embedder.file().source;
  diagnostic.message = "there is no function `" + name.str() + "`";
  std::string known;
  for (const auto &statement : embedder.file().body)
    if (auto *definition = llvm::dyn_cast<ast::FunctionDefinition>(statement.get()))
      known += (known.empty() ? "" : ", ") + definition->name;
  diagnostic.hint = known.empty() ? "the file defines no functions" : "the file defines " + known;
  throw CompileError(std::move(diagnostic));
}

std::vector<std::string> jitFunctions(Embedder &fileEmbedder) {
  std::vector<std::string> names;
  for (const auto &statement : dynamic_cast<FileEmbedder &>(fileEmbedder).file().body)
    if (auto *definition = llvm::dyn_cast<ast::FunctionDefinition>(statement.get()); definition && isJit(*definition))
      names.push_back(definition->name);
  return names;
}

} // namespace nacre
