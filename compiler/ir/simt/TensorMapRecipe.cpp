// See TensorMapRecipe.h.
#include "compiler/ir/simt/TensorMapRecipe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace nacre::simt;
using Kind = LaunchExpression::Kind;

// ---- Expressions

static constexpr std::pair<Kind, const char *> operations[] = {
    {Kind::Add, "+"}, {Kind::Subtract, "-"}, {Kind::Multiply, "*"}, {Kind::Minimum, "min"}, {Kind::Maximum, "max"}};

LaunchExpression LaunchExpression::combine(Kind kind, const LaunchExpression &left, const LaunchExpression &right) {
  LaunchExpression result = left;
  llvm::append_range(result.steps, right.steps);
  result.steps.push_back({kind});
  return result;
}

LaunchExpression LaunchExpression::then(Kind kind, int64_t number) const {
  LaunchExpression result = *this;
  result.steps.push_back({kind, number});
  return result;
}

int64_t LaunchExpression::evaluate(llvm::ArrayRef<uint64_t> arguments) const {
  llvm::SmallVector<uint64_t, 8> stack;
  for (const Step &step : steps) {
    switch (step.kind) {
    case Kind::Argument:
      stack.push_back(arguments[static_cast<size_t>(step.number)]);
      continue;
    case Kind::Number:
      stack.push_back(static_cast<uint64_t>(step.number));
      continue;
    case Kind::SignExtend:
    case Kind::ZeroExtend: {
      uint64_t &value = stack.back();
      auto unused = static_cast<unsigned>(64 - step.number);
      value = step.kind == Kind::ZeroExtend ? value << unused >> unused
                                            : static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
      continue;
    }
    default:
      break;
    }
    uint64_t right = stack.pop_back_val(), &left = stack.back();
    auto signedLeft = static_cast<int64_t>(left), signedRight = static_cast<int64_t>(right);
    if (step.kind == Kind::Add)
      left += right;
    else if (step.kind == Kind::Subtract)
      left -= right;
    else if (step.kind == Kind::Multiply)
      left *= right;
    else
      left = static_cast<uint64_t>(step.kind == Kind::Minimum ? std::min(signedLeft, signedRight)
                                                              : std::max(signedLeft, signedRight));
  }
  return static_cast<int64_t>(stack.back());
}

unsigned LaunchExpression::argumentCount() const {
  unsigned count = 0;
  for (const Step &step : steps)
    if (step.kind == Kind::Argument)
      count = std::max(count, static_cast<unsigned>(step.number) + 1);
  return count;
}

std::string LaunchExpression::text() const {
  return llvm::join(llvm::map_range(steps,
                                    [](const Step &step) {
                                      for (auto [kind, name] : operations)
                                        if (kind == step.kind)
                                          return std::string(name);
                                      const char *prefix = step.kind == Kind::Argument     ? "a"
                                                           : step.kind == Kind::SignExtend ? "s"
                                                           : step.kind == Kind::ZeroExtend ? "z"
                                                                                           : "";
                                      return prefix + std::to_string(step.number);
                                    }),
                    ":");
}

std::optional<LaunchExpression> LaunchExpression::parse(llvm::StringRef text) {
  LaunchExpression result;
  int depth = 0; // of the stack
  for (llvm::StringRef word : llvm::split(text, ':')) {
    Step step{Kind::Number};
    bool isOperation = false;
    for (auto [kind, name] : operations)
      if (word == name)
        step.kind = kind, isOperation = true;
    if (isOperation) {
      --depth;
    } else {
      if (word.consume_front("a"))
        step.kind = Kind::Argument;
      else if (word.consume_front("s"))
        step.kind = Kind::SignExtend;
      else if (word.consume_front("z"))
        step.kind = Kind::ZeroExtend;
      if (word.getAsInteger(10, step.number))
        return std::nullopt;
      bool isWidth = step.kind == Kind::SignExtend || step.kind == Kind::ZeroExtend;
      if (isWidth ? step.number < 1 || step.number > 64 : step.kind == Kind::Argument && step.number < 0)
        return std::nullopt;
      depth += !isWidth;
    }
    if (depth < 1)
      return std::nullopt;
    result.steps.push_back(step);
  }
  return depth == 1 ? std::optional(std::move(result)) : std::nullopt;
}

// ---- Recipes

static constexpr std::pair<const char *, int64_t> elementNames[] = {{"u8", 1},  {"u16", 2}, {"u32", 4}, {"s32", 4},
                                                                    {"u64", 8}, {"s64", 8}, {"f16", 2}, {"f32", 4},
                                                                    {"f64", 8}, {"bf16", 2}}; // by Element

int64_t TensorMapRecipe::bytesOf(Element element) { return elementNames[static_cast<size_t>(element)].second; }

unsigned TensorMapRecipe::argumentCount() const {
  unsigned count = base.argumentCount();
  for (const auto *expressions : {&shape, &strides})
    for (const LaunchExpression &expression : *expressions)
      count = std::max(count, expression.argumentCount());
  return count;
}

static std::string listOf(llvm::ArrayRef<LaunchExpression> expressions) {
  return llvm::join(llvm::map_range(expressions, [](const LaunchExpression &one) { return one.text(); }), ",");
}

std::string TensorMapRecipe::text() const {
  std::string text = std::string("type=") + elementNames[static_cast<size_t>(element)].first + " base=" + base.text() +
                     " shape=" + listOf(shape);
  if (!strides.empty())
    text += " strides=" + listOf(strides);
  text += " box=" + llvm::join(llvm::map_range(box, [](int64_t extent) { return std::to_string(extent); }), ",");
  if (swizzle)
    text += " swizzle=" + std::to_string(swizzle);
  if (fillsNaN)
    text += " fill=nan";
  return text;
}

static bool parseList(llvm::StringRef text, llvm::SmallVectorImpl<LaunchExpression> &expressions) {
  for (llvm::StringRef word : llvm::split(text, ',')) {
    std::optional<LaunchExpression> one = LaunchExpression::parse(word);
    if (!one)
      return false;
    expressions.push_back(std::move(*one));
  }
  return true;
}

std::optional<TensorMapRecipe> TensorMapRecipe::parse(llvm::StringRef text) {
  TensorMapRecipe recipe;
  bool hasElement = false;
  for (llvm::StringRef part : llvm::split(text.trim(), ' ')) {
    auto [key, value] = part.split('=');
    if (key == "type") {
      for (auto [index, known] : llvm::enumerate(elementNames))
        if (value == known.first)
          recipe.element = static_cast<Element>(index), hasElement = true;
    } else if (key == "base") {
      std::optional<LaunchExpression> base = LaunchExpression::parse(value);
      if (!base)
        return std::nullopt;
      recipe.base = std::move(*base);
    } else if (key == "shape" || key == "strides") {
      if (!parseList(value, key == "shape" ? recipe.shape : recipe.strides))
        return std::nullopt;
    } else if (key == "box") {
      for (llvm::StringRef word : llvm::split(value, ','))
        if (word.getAsInteger(10, recipe.box.emplace_back()))
          return std::nullopt;
    } else if (key == "swizzle") {
      if (value.getAsInteger(10, recipe.swizzle))
        return std::nullopt;
    } else if (part == "fill=nan") {
      recipe.fillsNaN = true;
    } else {
      return std::nullopt;
    }
  }
  bool isWhole = hasElement && !recipe.base.steps.empty() && recipe.rank() >= 1 && recipe.rank() <= mostAxes &&
                 recipe.strides.size() + 1 == recipe.rank() && recipe.box.size() == recipe.rank();
  return isWhole ? std::optional(std::move(recipe)) : std::nullopt;
}

std::string TensorMapRecipe::evaluate(llvm::ArrayRef<uint64_t> arguments, Numbers &numbers) const {
  constexpr int64_t alignment = 16, longest = int64_t(1) << 40;
  numbers.address = static_cast<uint64_t>(base.evaluate(arguments));
  bool isEmpty = false;
  for (unsigned i = 0; i < rank(); ++i) {
    unsigned axis = rank() - 1 - i;
    int64_t extent = shape[axis].evaluate(arguments);
    isEmpty |= extent <= 0;
    numbers.sizes[i] = static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    numbers.box[i] = static_cast<uint32_t>(box[axis]);
    if (i == 0)
      continue;
    int64_t stride = strides[axis].evaluate(arguments) * bytesOf(element);
    if (stride < 0 || stride >= longest || stride % alignment != 0)
      return "the stride of axis " + std::to_string(axis) + " is " + std::to_string(stride) +
             " bytes, and a GPU copies blocks of arrays whose strides are multiples of 16 from 0 to 2^40";
    numbers.strides[i - 1] = static_cast<uint64_t>(stride);
  }
  if (numbers.address % alignment != 0)
    return "the base is not aligned to 16 bytes";
  if (isEmpty && numbers.address == 0) // of an array without memory; nobody reads it
    numbers.address = alignment;
  return "";
}
