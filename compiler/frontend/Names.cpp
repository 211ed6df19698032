// What a name means: a local, then what the text's surroundings say. A function of the user asks the embedder for its
// globals; a function of the standard library sees its own file and never the embedder. Python's builtins come last.
#include "compiler/frontend/Generator.h"
#include "compiler/language/builtins/StandardLibrary.h"

namespace nacre {

// "did you mean ...?" for a name that is a slip away from a known one; empty when none is.
static std::string suggestion(llvm::StringRef name, llvm::ArrayRef<std::string> known) {
  const std::string *best = nullptr;
  unsigned bestDistance = name.size() < 4 ? 2 : 3; // exclusive
  for (const std::string &candidate : known) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      best = &candidate;
      bestDistance = distance;
    }
  }
  return best ? "did you mean `" + *best + "`?" : "";
}

static std::vector<std::string> membersOf(llvm::StringRef module) {
  std::vector<std::string> names;
  for (const Builtin &builtin : allBuiltins())
    if (builtin.module == module)
      names.push_back(builtin.name);
  if (module == "triton.language")
    for (const StandardFunction &function : allStandardFunctions())
      names.push_back(function.name.str());
  return names;
}

Object Generator::lookUp(const ast::Name &name) {
  if (BindingPointer binding = frame->path.names.find(name.name)) {
    if (!binding->unavailable)
      return binding->object;
    const Unavailable &reason = *binding->unavailable;
    failAt(reason.place.source ? reason.place : name.location,
           reason.place.source ? Diagnostic::Kind::Type : Diagnostic::Kind::Name, reason.message, reason.hint);
  }
  if (std::optional<Object> found = freeName(name))
    return *found;
  const ast::FunctionDefinition *definition = frame->function->definition; // null: a global's value in a file
  if (definition && assignedNames(definition->body).count(name.name))
    failAt(name.location, Diagnostic::Kind::Name, "`" + name.name + "` is used before it is assigned",
           "the function assigns it further on");
  std::vector<std::string> known = membersOf("builtins");
  for (const auto &[local, binding] : frame->path.names.all())
    known.push_back(local);
  std::string hint = suggestion(name.name, known);
  if (name.name == "breakpoint")
    hint = interpreterHint;
  else if (llvm::is_contained(membersOf("triton.language"), name.name))
    hint = "did you mean tl." + name.name + "?" +
           (name.name == "sum" ? " It adds up a tile; the values of a list are added with +" : "");
  failAt(name.location, Diagnostic::Kind::Name, "`" + name.name + "` is not defined", hint);
}

std::optional<Object> Generator::freeName(const ast::Name &name) {
  const Function &function = *frame->function;
  std::optional<Object> python = moduleMember("builtins", name.name);
  if (function.isLibrary()) {
    if (FunctionPointer sibling = libraryFunction(function.libraryFile, name.name))
      return libraryReference(*sibling);
    if (std::optional<Object> global = standardLibraryGlobal(function.libraryFile, name.name))
      return global;
    return python;
  }
  // The embedder is asked once for each name of a function.
  auto [asked, isNew] = globals.try_emplace({function.source.key, name.name});
  if (isNew)
    asked->second = embedder.global(function.source, name.name);
  const Embedder::Answer &answer = asked->second;
  // An embedder may know Python's own functions only as opaque objects: ours are meant then.
  if (python && (!answer.object || answer.object->is<OpaqueReference>()))
    return python;
  if (!answer.object && answer.problem.empty())
    return std::nullopt;
  return accept(answer, "`" + name.name + "`", name.location);
}

Object Generator::accept(const Embedder::Answer &answer, const std::string &what, const SourceLocation &place) {
  if (!answer.object)
    failAt(place, Diagnostic::Kind::Name, what + " cannot be used in a kernel: it is " + answer.problem);
  if (answer.object->is<ModuleReference>()) {
    std::string canonical = canonicalModule(answer.object->as<ModuleReference>().name);
    if (!canonical.empty())
      return ModuleReference{canonical};
  }
  return *answer.object;
}

std::optional<Object> languageMember(llvm::StringRef module, llvm::StringRef name) {
  if (llvm::StringRef file = standardFunctionFile(module, name); !file.empty())
    if (FunctionPointer function = libraryFunction(file, name))
      return libraryReference(*function);
  return moduleMember(module, name);
}

Object Generator::moduleAttribute(const ModuleReference &module, llvm::StringRef name, const SourceLocation &place) {
  std::string canonical = canonicalModule(module.name);
  if (!canonical.empty())
    if (std::optional<Object> member = languageMember(canonical, name))
      return *member;
  std::string inner = canonicalModule(module.name + "." + name.str());
  if (!inner.empty())
    return ModuleReference{inner};
  // The functions of the embedder's package that kernels use, too.
  if (module.name == "triton" || module.name == "nacre")
    if (std::optional<Object> member = languageMember("triton.language", name))
      return *member;
  std::string what = "`" + module.name + "." + name.str() + "`";
  Embedder::Answer answer = embedder.attribute(Object(module), name);
  if (!answer.object && answer.problem.empty())
    failAt(place, Diagnostic::Kind::Name, "module `" + module.name + "` has no `" + name.str() + "`",
           suggestion(name, membersOf(canonical)));
  return accept(answer, what, place);
}

} // namespace nacre
