// Inline assembly. The text and its constraints are checked here, where an error has a line: what reaches LLVM's code
// generator malformed ends there.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/InlinePtx.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"

namespace nacre {

namespace {

constexpr const char *notation =
    "in LLVM's notation the outputs come first, each with a =, then the inputs, then what else is overwritten: "
    "\"=r,r,~{flags}\"";

struct Assembly {
  Evaluation &evaluation;
  std::string text, constraints;
  llvm::SmallVector<Type> operands, results;
  int64_t pack;

  // How many registers the elements of one pack take: those of under 32 bits share registers of 32.
  int64_t registers(Type type) const {
    int64_t bits = 8 * type.byteSize();
    return bits >= 32 ? pack : llvm::divideCeil(pack, 32 / bits);
  }
  int64_t registers(llvm::ArrayRef<Type> types) const {
    int64_t sum = 0;
    for (Type type : types)
      sum += registers(type);
    return sum;
  }

  [[noreturn]] void reject(const std::string &message, const std::string &hint = notation) const {
    evaluation.fail(Diagnostic::Kind::Value, message, hint);
  }
  void check() const;

private:
  void checkCounts(const llvm::InlineAsm::ConstraintInfoVector &parsed) const;
  void checkCode(llvm::StringRef code) const;
  void checkText(int64_t operandCount) const;
  void checkByLLVM() const;
};

void Assembly::checkCounts(const llvm::InlineAsm::ConstraintInfoVector &parsed) const {
  int64_t outputs = 0, inputs = 0;
  for (const llvm::InlineAsm::ConstraintInfo &constraint : parsed) {
    outputs += constraint.Type == llvm::InlineAsm::isOutput;
    inputs += constraint.Type == llvm::InlineAsm::isInput;
    if (constraint.Type == llvm::InlineAsm::isLabel)
      reject("inline assembly cannot jump to a label of the kernel");
  }
  auto checkCount = [&](const char *what, const char *name, int64_t found, llvm::ArrayRef<Type> types) {
    if (found == registers(types))
      return;
    std::string packed = pack > 1 ? " with a pack of " + std::to_string(pack) : "";
    int64_t wanted = registers(types);
    reject("`constraints` has " + std::to_string(found) + " " + what + (found == 1 ? "" : "s") + ", but `" + name +
               "` takes " + std::to_string(wanted) + (wanted == 1 ? " register" : " registers") + packed,
           pack > 1 ? "elements of under 32 bits share registers of 32 bits; the others take one each" : notation);
  };
  checkCount("output", "dtype", outputs, results);
  checkCount("input", "args", inputs, operands);
}

void Assembly::checkCode(llvm::StringRef code) const {
  if (code.empty())
    reject("`constraints` \"" + constraints + "\" holds an empty constraint");
  bool isNumber = llvm::all_of(code, llvm::isDigit);
  AssemblyNotation notation = evaluation.assembly();
  if (!notation.operandLetters.empty() && code.size() == 1 && !isNumber && !notation.operandLetters.contains(code[0]))
    reject("`" + code.str() + "` in `constraints` is no kind of register or operand of " + notation.machine.str(),
           notation.operandHint.str());
  if (code.front() == '{' && code.back() != '}')
    reject("`" + code.str() + "` in `constraints` lacks its closing brace");
}

// $0, ${1:b}, $$, and the alternatives of dialects: $( | $).
void Assembly::checkText(int64_t operandCount) const {
  llvm::StringRef rest = text;
  auto checkNumber = [&](llvm::StringRef digits) {
    int64_t number = 0;
    if (digits.getAsInteger(10, number) || number >= operandCount)
      reject("`asm` uses $" + digits.str() + ", but there " +
                 (operandCount == 1 ? std::string("is one operand, $0")
                                    : "are " + std::to_string(operandCount) + " operands, from $0 on"),
             "outputs come first, then inputs, in the order of `constraints`");
  };
  while (true) {
    size_t dollar = rest.find('$');
    if (dollar == llvm::StringRef::npos)
      return;
    rest = rest.drop_front(dollar + 1);
    if (rest.consume_front("$") || rest.consume_front("(") || rest.consume_front("|") || rest.consume_front(")"))
      continue;
    bool isBraced = rest.consume_front("{");
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    rest = rest.drop_front(digits.size());
    bool isSpecial = isBraced && digits.empty() && rest.starts_with(":");
    if (digits.empty() && !isSpecial)
      reject("a $ in `asm` is followed by no operand's number", "write $$ for a dollar sign");
    if (!isSpecial)
      checkNumber(digits);
    if (!isBraced)
      continue;
    size_t end = rest.find('}');
    if (end == llvm::StringRef::npos)
      reject("a ${ in `asm` lacks its closing brace", "write ${0:b} for operand 0 with the modifier b");
    rest = rest.drop_front(end + 1);
  }
}

// What is left, LLVM's own rules tell.
void Assembly::checkByLLVM() const {
  llvm::LLVMContext context;
  auto append = [&](llvm::SmallVector<llvm::Type *> &types, Type type) {
    int bits = 8 * type.byteSize();
    llvm::Type *inRegister = llvm::Type::getIntNTy(context, std::max(bits, 32));
    if (type.isPointer())
      inRegister = llvm::PointerType::get(context, 0);
    else if (bits >= 32 && type.isFloating())
      inRegister = bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
    types.append(registers(type), inRegister);
  };
  llvm::SmallVector<llvm::Type *> outputs, inputs;
  for (Type type : results)
    append(outputs, type);
  for (Type type : operands)
    append(inputs, type);
  llvm::Type *output = outputs.size() == 1 ? outputs[0] : llvm::StructType::get(context, outputs);
  if (llvm::Error error = llvm::InlineAsm::verify(llvm::FunctionType::get(output, inputs, false), constraints))
    reject("`constraints` \"" + constraints + "\" cannot be used: " + llvm::toString(std::move(error)));
}

void Assembly::check() const {
  llvm::InlineAsm::ConstraintInfoVector parsed = llvm::InlineAsm::ParseConstraints(constraints);
  if (parsed.empty())
    reject(constraints.empty() ? "`constraints` is empty" : "`constraints` \"" + constraints + "\" is malformed");
  for (const llvm::InlineAsm::ConstraintInfo &constraint : parsed)
    for (const std::string &code : constraint.Codes)
      checkCode(code);
  checkCounts(parsed);
  checkByLLVM();
  checkText(registers(results) + registers(operands));
}

} // namespace

static Object inlineAssembly(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  std::string text = stringArgument(evaluation, arguments[0], "asm"),
              constraints = stringArgument(evaluation, arguments[1], "constraints");
  // Constraints written over several lines or with spaces after the commas mean the same without.
  llvm::erase_if(constraints, llvm::isSpace);
  Values operands;
  for (const Object &item : sequenceArgument(arguments[2]))
    operands.push_back(valueArgument(evaluation, item, "args"));
  operands = broadcastTogether(evaluation, operands);
  Shape shape = operands.empty() ? Shape() : operands[0].type().shape();
  llvm::SmallVector<Type> results;
  for (const Object &item : sequenceArgument(arguments[3])) {
    Type type = elementTypeArgument(evaluation, item, "dtype");
    results.push_back(shape.empty() ? type : Type::block(type, shape));
  }
  if (results.empty())
    evaluation.fail(Diagnostic::Kind::Value, "`dtype` is empty", "inline assembly returns at least one value");
  int64_t pack = integerArgument(evaluation, arguments[5], "pack");
  if (pack < 1 || pack > 64)
    evaluation.fail(Diagnostic::Kind::Value, "`pack` must be from 1 to 64, not " + std::to_string(pack));
  auto returned = [&](const Values &values) {
    return arguments[3].isTuple() ? Object::makeTuple(std::vector<Object>(values.begin(), values.end()))
                                  : Object(values[0]);
  };
  if (!evaluation.assembly().isPtx && isPtx(text)) {
    if (pack != 1)
      evaluation.fail(Diagnostic::Kind::Unsupported, "PTX on packs of several elements cannot be run on this target",
                      "write it in the language, or take this path on NVIDIA's GPUs only");
    return returned(translatePtx(evaluation, text, operands, results));
  }
  Assembly assembly{evaluation, text, constraints, {}, {}, pack};
  for (const Value &operand : operands)
    assembly.operands.push_back(operand.type().scalarType());
  for (Type type : results)
    assembly.results.push_back(type.scalarType());
  assembly.check();
  Values values = evaluation.builder().inlineAssembly(
      text, constraints, operands, results, boolArgument(evaluation, arguments[4], "is_pure"), static_cast<int>(pack));
  return returned(values);
}

void addInlineAssembly(Table &table) {
  table.add(
      "inline_asm_elementwise(asm: constexpr str, constraints: constexpr str, args: tuple, dtype: dtype, "
      "is_pure: constexpr bool, pack: constexpr int)",
      "Runs assembly of the target (on the CPU x86's, in AT&T's notation) on each element, or on packs of elements. "
      "The interpreter runs the same. Elsewhere than on NVIDIA's GPUs, PTX of single elements is translated.\n\n"
      "asm: the text, with $0, $1, .. for the registers: first those of the results, then those of the operands.\n"
      "constraints: the registers, in LLVM's notation: outputs first, then inputs, then what else is overwritten.\n"
      "args: the operands, brought to one shape.\n"
      "dtype: the result's type, or a tuple of types for several results.\n"
      "is_pure: whether it may be removed, repeated or moved.\n"
      "pack: how many elements one run takes, neighbours along the last axis. Each takes a register, but those of "
      "under 32 bits are packed into registers of 32, the first into the lowest bits (int1 takes 8 bits). Where the "
      "number of elements is no multiple of it, the last element fills the last run up.",
      inlineAssembly);
}

} // namespace nacre
