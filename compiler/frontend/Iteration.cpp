// What a `for` runs over: range, tl.range and tl.static_range, and sequences that are known while compiling.
#include "compiler/frontend/Generator.h"

namespace nacre {

// More copies of a body than this are a mistake.
static constexpr int64_t mostUnrolled = 65536;

Iteration Generator::iterate(const ast::Expression &iterable) {
  auto *call = llvm::dyn_cast<ast::Call>(&iterable);
  if (!call)
    return sequenceItems(expression(iterable), iterable.location);
  Object callee = expression(*call->callee);
  Arguments arguments = evaluateArguments(*call);
  const Builtin *builtin = callee.is<const Builtin *>() ? callee.as<const Builtin *>() : nullptr;
  if (!builtin || !isRangeBuiltin(*builtin))
    return sequenceItems(callObject(callee, arguments, iterable.location), iterable.location);
  Range range = rangeOf(*builtin, arguments, iterable.location);
  if (builtin->name == "static_range")
    return constantRange(range, iterable.location, "tl.static_range");
  return range;
}

Range Generator::rangeOf(const Builtin &builtin, const Arguments &arguments, const SourceLocation &place) {
  irBuilder.setLocation(place);
  return rangeArguments(*this, builtin, arguments.positional, arguments.keywords);
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
