// Printing and checking, while compiling and while running.
#include "compiler/language/meaning/ConstexprOperators.h"
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

static Object staticPrint(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string separator = arguments[1].isNone() ? " " : stringArgument(evaluation, arguments[1], "sep");
  std::string text = llvm::join(llvm::map_range(arguments[0].tuple().items, displayText), separator);
  evaluation.staticPrint(text + (arguments[2].isNone() ? "\n" : stringArgument(evaluation, arguments[2], "end")));
  return Object();
}

static Object staticAssert(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (!arguments[0].isConstexpr())
    evaluation.fail(Diagnostic::Kind::Type, "`cond` must be a constexpr, not " + describe(arguments[0]),
                    "a run-time condition is checked by tl.device_assert");
  if (truth(evaluation, arguments[0]))
    return Object();
  std::string message = arguments[1].isNone() ? "" : displayText(arguments[1]);
  evaluation.fail(Diagnostic::Kind::StaticAssert,
                  message.empty() ? "static assertion failed" : "static assertion failed: " + message);
}

static Object devicePrint(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string prefix = stringArgument(evaluation, arguments[0], "prefix");
  for (char c : prefix)
    if (static_cast<unsigned char>(c) >= 0x80)
      evaluation.fail(Diagnostic::Kind::Value, "`prefix` must be ASCII, not " + arguments[0].repr());
  Values values;
  for (const Object &value : arguments[1].tuple().items)
    values.push_back(valueArgument(evaluation, value, "args"));
  evaluation.builder().devicePrint(prefix, values, boolArgument(evaluation, arguments[2], "hex"));
  return Object();
}

static Object deviceAssert(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (!evaluation.debug())
    return Object();
  Value condition = valueArgument(evaluation, arguments[0], "cond");
  if (condition.type().isPointerLike() || condition.type().isFloating())
    evaluation.fail(Diagnostic::Kind::Type, "`cond` must be int1, not " + describe(arguments[0]), "write x != 0");
  condition = castTo(evaluation, condition, int1());
  std::string message = arguments[1].isNone() ? "" : displayText(arguments[1]);
  if (!arguments[2].isNone()) {
    Object isOff = applyUnary(evaluation, UnaryOperator::Not, valueArgument(evaluation, arguments[2], "mask"));
    condition = applyLogical(evaluation, /*isAnd=*/false, condition, isOff).value();
  }
  evaluation.builder().deviceAssert(condition, message);
  return Object();
}

// x itself; under debug it must be zero where the mask is true.
static Object expectZero(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Object isZero = applyComparison(evaluation, Comparison::Eq, arguments[0], 0);
  if (evaluation.debug())
    deviceAssert(evaluation, {isZero, Object("expect_zero expected x == 0 where mask is true"), arguments[1]});
  return arguments[0];
}

// Python's print in a kernel: the text in front, then the run-time values.
static Object print(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string prefix;
  Values values;
  for (const Object &item : arguments[0].tuple().items) {
    if (item.isValue()) {
      values.push_back(item.value());
      continue;
    }
    if (!prefix.empty())
      prefix += " ";
    prefix += displayText(item);
  }
  evaluation.builder().devicePrint(prefix, values, boolArgument(evaluation, arguments[1], "hex"));
  return Object();
}

void addDebugging(Table &table) {
  table.section(languageModule, "debugging");
  table.add("static_print(*values: constexpr, sep: constexpr str = \" \", end: constexpr str = None, file: constexpr = "
            "None, flush: constexpr bool = False)",
            "Prints while the kernel is compiled: constexprs by value, tensors by type.\n\n"
            "values: what to print.\n"
            "sep, end: what goes between and after; a blank and a line break when left out.\n"
            "file, flush: accepted for likeness with print.",
            staticPrint);
  table.add("static_assert(cond: constexpr bool, msg: constexpr str = \"\")",
            "Fails the compilation when a constexpr condition is false.\n\n"
            "cond: the condition.\n"
            "msg: what the error says.",
            staticAssert);
  table.add("device_print(prefix: constexpr str, *args: tensor, hex: constexpr bool = False)",
            "Prints values while the kernel runs, one line an element with its program and index.\n\n"
            "prefix: a text in front of the values.\n"
            "args: tensors and numbers.\n"
            "hex: write integers as their bits in hexadecimal, floats as C's %a.",
            devicePrint);
  table.add("device_assert(cond: tensor, msg: constexpr str = \"\", mask: tensor = None)",
            "Stops the launch when a condition is false, in kernels compiled with debug=True or under TRITON_DEBUG=1; "
            "otherwise does nothing.\n\n"
            "cond: int1, of any shape; all elements must hold.\n"
            "msg: what the error says.\n"
            "mask: int1; where it is false nothing is checked.",
            deviceAssert);
  table.add("expect_zero(x: tensor, mask: tensor)",
            "x, which has underflowed to zero where mask is true: under debug that is asserted.\n\n"
            "x: the values, which are returned.\n"
            "mask: int1; where x should be zero.",
            expectZero);
  table.section(pythonModule, "debugging");
  table.add("print(*values: tensor, hex: constexpr bool = False)",
            "tl.device_print with Python's name: texts become the prefix.", print);
}

} // namespace nacre
