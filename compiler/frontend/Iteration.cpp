// What a `for` runs over: range, tl.range and tl.static_range, and sequences that are known while compiling.
#include "compiler/frontend/Generator.h"

namespace nacre {

// More copies of a body than this are a mistake.
static constexpr int64_t mostUnrolled = 65536;

bool isRangeBuiltin(const Object &object) {
  if (!object.is<const Builtin *>())
    return false;
  const Builtin &builtin = *object.as<const Builtin *>();
  bool isTop = builtin.module == "builtins" || builtin.module == "triton.language";
  return isTop && (builtin.name == "range" || builtin.name == "static_range");
}

Iteration Generator::iterate(const ast::Expression &iterable) {
  auto *call = llvm::dyn_cast<ast::Call>(&iterable);
  if (!call)
    return sequenceItems(expression(iterable), iterable.location);
  Object callee = expression(*call->callee);
  Arguments arguments = evaluateArguments(*call);
  if (!isRangeBuiltin(callee))
    return sequenceItems(callObject(callee, arguments, iterable.location), iterable.location);
  const Builtin *builtin = callee.as<const Builtin *>();
  if (builtin->name == "range" && !arguments.keywords.empty()) // Python's range takes the hints of tl.range too
    builtin = findBuiltin("triton.language", "range");
  Range range = rangeOf(*builtin, arguments, iterable.location);
  if (builtin->name == "static_range")
    return constantRange(range, iterable.location, "tl.static_range");
  return range;
}

// Binds start, stop, step and the hints by the names that the builtin's row gives them.
Range Generator::rangeOf(const Builtin &builtin, const Arguments &arguments, const SourceLocation &place) {
  bool isPython = builtin.module == "builtins";
  std::string name = (isPython ? "" : "tl.") + builtin.name;
  const std::vector<Parameter> &parameters = builtin.parameters;
  llvm::SmallVector<std::optional<Object>, 9> bound(parameters.size());
  if (arguments.positional.size() > bound.size())
    failAt(place, Diagnostic::Kind::Argument,
           name + " takes at most " + std::to_string(bound.size()) + " arguments, but " +
               std::to_string(arguments.positional.size()) + " were given");
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.begin());
  for (const auto &[keyword, value] : arguments.keywords) {
    auto found = llvm::find_if(parameters, [&](const Parameter &parameter) { return parameter.name == keyword; });
    if (found == parameters.end())
      failAt(place, Diagnostic::Kind::Argument, name + " has no parameter `" + keyword + "`");
    std::optional<Object> &slot = bound[found - parameters.begin()];
    if (slot)
      failAt(place, Diagnostic::Kind::Argument, name + " got `" + keyword + "` twice");
    slot = value;
  }
  if (!bound[0])
    failAt(place, Diagnostic::Kind::Argument, name + " needs at least one argument");

  Range range;
  bool hasStart = bound[1] && !bound[1]->isNone();
  range.start = hasStart ? *bound[0] : Object(0);
  range.stop = hasStart ? *bound[1] : *bound[0];
  range.step = bound[2] && !bound[2]->isNone() ? *bound[2] : Object(1);
  for (size_t i = 3; i < bound.size(); ++i) {
    if (!bound[i] || bound[i]->isNone())
      continue;
    if (!bound[i]->isBool() && !bound[i]->isInt())
      failAt(place, Diagnostic::Kind::Argument,
             "`" + parameters[i].name + "` of " + name + " must be a constexpr, not " + bound[i]->typeName());
    range.attributes.emplace_back(parameters[i].name, *bound[i]);
  }
  return range;
}

std::vector<Object> Generator::constantRange(const Range &range, const SourceLocation &place, const char *what) {
  llvm::DynamicAPInt bounds[3];
  const Object *objects[3] = {&range.start, &range.stop, &range.step};
  for (int i = 0; i < 3; ++i) {
    if (objects[i]->isBool())
      bounds[i] = llvm::DynamicAPInt(objects[i]->as<bool>() ? 1 : 0);
    else if (objects[i]->isInt())
      bounds[i] = objects[i]->as<llvm::DynamicAPInt>();
    else
      failAt(place, Diagnostic::Kind::Type,
             std::string(what) + " needs constexpr integers, not " + objects[i]->typeName(),
             "a bound that is known only at run time needs a plain `for ... in range(...)`");
  }
  auto [start, stop, step] = bounds;
  if (step == 0)
    failAt(place, Diagnostic::Kind::Value, "the step of a range must not be zero");
  std::vector<Object> items;
  for (llvm::DynamicAPInt i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (static_cast<int64_t>(items.size()) == mostUnrolled)
      failAt(place, Diagnostic::Kind::Value,
             std::string(what) + " unrolls more than " + std::to_string(mostUnrolled) + " times",
             "use a plain `for ... in range(...)`, which is a loop at run time");
    items.emplace_back(i);
  }
  return items;
}

std::vector<Object> Generator::sequenceItems(const Object &object, const SourceLocation &place) {
  if (object.isTuple())
    return object.tuple().items;
  if (object.isString()) {
    std::vector<Object> characters;
    for (char character : object.as<std::string>())
      characters.emplace_back(std::string(1, character));
    return characters;
  }
  failAt(place, Diagnostic::Kind::Type, object.typeName() + " cannot be iterated over",
         object.isValue() ? "loop over offsets and load, or reduce the tile"
                          : "use range, tl.range, tl.static_range, a tuple or a list");
}

} // namespace nacre
