// See InlinePtx.h. Registers hold bits: each instruction reads its operands as the type that its name ends with.
#include "compiler/language/builtins/InlinePtx.h"
#include "compiler/language/meaning/Scalars.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace nacre {

namespace {

struct Instruction {
  std::string name; // with its modifiers
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::SmallVector<std::string> operands;

  llvm::StringRef operation() const { return parts.front(); }
  llvm::StringRef type() const { return parts.back(); }
  bool has(llvm::StringRef modifier) const { return llvm::is_contained(llvm::drop_begin(parts), modifier); }
};

std::string withoutComments(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    bool isLine = text.starts_with("//"), isBlock = text.starts_with("/*");
    if (!isLine && !isBlock) {
      result += text.front();
      text = text.drop_front();
      continue;
    }
    size_t end = text.find(isLine ? "\n" : "*/");
    text = end == llvm::StringRef::npos ? "" : text.drop_front(end + (isLine ? 1 : 2));
  }
  return result;
}

// The statements of the text, without the braces of blocks and without declarations of registers.
std::vector<std::string> statements(llvm::StringRef text) {
  std::string plain = withoutComments(text);
  llvm::SmallVector<llvm::StringRef> pieces;
  llvm::StringRef(plain).split(pieces, ';', -1, /*KeepEmpty=*/false);
  std::vector<std::string> result;
  for (llvm::StringRef piece : pieces) {
    piece = piece.trim();
    while (piece.consume_front("{") || piece.consume_front("}"))
      piece = piece.ltrim();
    if (!piece.empty() && !piece.starts_with(".reg"))
      result.push_back(piece.str());
  }
  return result;
}

// "{a, b}, $1" -> "{a, b}" and "$1".
llvm::SmallVector<std::string> splitOperands(llvm::StringRef text) {
  llvm::SmallVector<std::string> result;
  int depth = 0;
  std::string current;
  for (char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      result.push_back(llvm::StringRef(current).trim().str());
      current.clear();
      continue;
    }
    current += c;
  }
  if (llvm::StringRef last = llvm::StringRef(current).trim(); !last.empty())
    result.push_back(last.str());
  return result;
}

Type typeOf(llvm::StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f16", float16())
      .Case("bf16", bfloat16())
      .Case("f32", float32())
      .Case("f64", float64())
      .Case("s8", int8())
      .Cases({"u8", "b8"}, uint8())
      .Case("s16", int16())
      .Cases({"u16", "b16"}, uint16())
      .Case("s32", int32())
      .Cases({"u32", "b32"}, uint32())
      .Case("s64", int64())
      .Cases({"u64", "b64"}, uint64())
      .Case("pred", int1())
      .Default(Type());
}

Type unsignedOf(int bits) { return bits == 8 ? uint8() : bits == 16 ? uint16() : bits == 32 ? uint32() : uint64(); }

class Translator {
public:
  Translator(Evaluation &evaluation, Shape shape) : evaluation(evaluation), shape(shape) {}

  llvm::StringMap<Value> registers;
  void run(const std::string &statement);
  // The register's lowest bits as a value of the type.
  Value as(Value value, Type type);

private:
  Evaluation &evaluation;
  Shape shape;

  [[noreturn]] void reject(llvm::StringRef what) {
    evaluation.fail(Diagnostic::Kind::Unsupported, "the PTX `" + what.str() + "` cannot be run on this target",
                    "write it in the language, or take this path on NVIDIA's GPUs only");
  }
  Value constant(Type type, const Object &number) {
    return constantOf(evaluation, shape.empty() ? type : Type::block(type, shape), number);
  }
  Value read(const Instruction &instruction, size_t index, Type type);
  Value literal(const Instruction &instruction, llvm::StringRef text, Type type);
  void write(const Instruction &instruction, Value value);
  Value binary(BinaryOp op, Value a, Value b) { return elementwise(evaluation, op, a, b); }
  Value unary(UnaryOp op, Value a) { return elementwise(evaluation, op, a); }

  bool move(const Instruction &instruction);
  bool convert(const Instruction &instruction);
  bool compare(const Instruction &instruction);
  bool arithmetic(const Instruction &instruction);
  bool bitwise(const Instruction &instruction);
  Value shifted(const Instruction &instruction, Type type);
  Value lookUp(const Instruction &instruction);
  Value permuted(const Instruction &instruction);
};

Value Translator::as(Value value, Type type) {
  Type from = value.type().scalarType();
  if (from == type)
    return value;
  if (type.isBool() || from.isBool())
    return castTo(evaluation, value, type);
  if (from.isPointer())
    value = castTo(evaluation, value, uint64());
  else if (from.isFloating() || from.isSigned())
    value = castTo(evaluation, value, unsignedOf(from.bitWidth()), std::nullopt, /*bitcast=*/true);
  value = castTo(evaluation, value, unsignedOf(type.bitWidth()));
  return type == value.type().scalarType() ? value : castTo(evaluation, value, type, std::nullopt, /*bitcast=*/true);
}

// 12, -3, 0x1F, 1.5, 0f3F800000 (the bits of a float).
Value Translator::literal(const Instruction &instruction, llvm::StringRef text, Type type) {
  if (llvm::StringRef digits = text; digits.consume_front_insensitive("0f") && digits.size() == 8) {
    uint32_t bits = 0;
    if (digits.getAsInteger(16, bits))
      reject(instruction.name);
    return as(constant(uint32(), static_cast<int64_t>(bits)), type);
  }
  int64_t number = 0;
  uint64_t wide = 0;
  bool isInteger = !text.getAsInteger(0, number);
  if (!isInteger && !text.getAsInteger(0, wide)) {
    number = static_cast<int64_t>(wide);
    isInteger = true;
  }
  if (type.isFloating()) {
    double value = static_cast<double>(number);
    if (!isInteger && text.getAsDouble(value))
      reject(instruction.name);
    return constant(type, value);
  }
  if (!isInteger)
    reject(instruction.name);
  return as(constant(int64(), number), type);
}

Value Translator::read(const Instruction &instruction, size_t index, Type type) {
  if (index >= instruction.operands.size())
    reject(instruction.name);
  const std::string &text = instruction.operands[index];
  if (auto found = registers.find(text); found != registers.end())
    return as(found->second, type);
  return literal(instruction, text, type);
}

void Translator::write(const Instruction &instruction, Value value) {
  if (instruction.operands.empty())
    reject(instruction.name);
  registers[instruction.operands[0]] = value;
}

// mov, also between a register and its two halves in braces.
bool Translator::move(const Instruction &instruction) {
  Type type = typeOf(instruction.type());
  if (instruction.operation() != "mov" || !type || instruction.operands.size() != 2)
    return false;
  auto halves = [](llvm::StringRef text) {
    return text.starts_with("{") ? splitOperands(text.drop_front().drop_back()) : llvm::SmallVector<std::string>();
  };
  auto to = halves(instruction.operands[0]), from = halves(instruction.operands[1]);
  if (to.empty() && from.empty()) {
    write(instruction, read(instruction, 1, type));
    return true;
  }
  int bits = type.bitWidth();
  if (bits < 16 || (!to.empty() && to.size() != 2) || (!from.empty() && from.size() != 2))
    return false;
  Type whole = unsignedOf(bits), half = unsignedOf(bits / 2);
  Instruction part = instruction;
  if (!from.empty()) {
    part.operands = {instruction.operands[0], from[0], from[1]};
    Value high = binary(BinaryOp::Shl, as(read(part, 2, half), whole), constant(whole, bits / 2));
    write(instruction, binary(BinaryOp::Or, as(read(part, 1, half), whole), high));
    return true;
  }
  Value value = read(instruction, 1, whole);
  registers[to[0]] = as(value, half);
  registers[to[1]] = as(binary(BinaryOp::ShrU, value, constant(whole, bits / 2)), half);
  return true;
}

// cvt.<rounding>.<to>.<from>
bool Translator::convert(const Instruction &instruction) {
  size_t count = instruction.parts.size();
  if (instruction.operation() != "cvt" || count < 3 || instruction.has("sat") || instruction.has("satfinite"))
    return false;
  Type to = typeOf(instruction.parts[count - 2]), from = typeOf(instruction.parts[count - 1]);
  if (!to || !from)
    return false;
  Value value = read(instruction, 1, from);
  std::optional<UnaryOp> rounds;
  if (instruction.has("rni"))
    rounds = UnaryOp::RoundEven;
  else if (instruction.has("rmi"))
    rounds = UnaryOp::Floor;
  else if (instruction.has("rpi"))
    rounds = UnaryOp::Ceil;
  else if (instruction.has("rzi"))
    rounds = UnaryOp::Trunc;
  if (rounds && from.isFloating())
    value = from.bitWidth() < 32 ? castTo(evaluation, unary(*rounds, castTo(evaluation, value, float32())), from)
                                 : unary(*rounds, value);
  for (llvm::StringRef other : {"rm", "rp", "rs", "rna"})
    if (instruction.has(other))
      return false;
  bool truncates = instruction.has("rz") && to.isFloating() && from.isFloating() && to.bitWidth() < from.bitWidth();
  if (instruction.has("rz") && !truncates)
    return false;
  write(instruction, truncates ? castTo(evaluation, value, to, Rounding::TowardZero) : castTo(evaluation, value, to));
  return true;
}

// setp and selp
bool Translator::compare(const Instruction &instruction) {
  Type type = typeOf(instruction.type());
  if (instruction.operation() == "selp" && type) {
    write(instruction, evaluation.builder().select(read(instruction, 3, int1()), read(instruction, 1, type),
                                                   read(instruction, 2, type)));
    return true;
  }
  if (instruction.operation() != "setp" || instruction.parts.size() != 3 || !type || instruction.operands.size() != 3)
    return false;
  bool isFloat = type.isFloating(), isSigned = type.isSigned();
  using Op = CompareOp;
  std::optional<Op> op = llvm::StringSwitch<std::optional<Op>>(instruction.parts[1])
                             .Case("eq", isFloat ? Op::EqF : Op::Eq)
                             .Case("ne", isFloat ? Op::NeF : Op::Ne)
                             .Case("lt", isFloat    ? Op::LtF
                                         : isSigned ? Op::LtS
                                                    : Op::LtU)
                             .Case("le", isFloat    ? Op::LeF
                                         : isSigned ? Op::LeS
                                                    : Op::LeU)
                             .Case("gt", isFloat    ? Op::GtF
                                         : isSigned ? Op::GtS
                                                    : Op::GtU)
                             .Case("ge", isFloat    ? Op::GeF
                                         : isSigned ? Op::GeS
                                                    : Op::GeU)
                             .Default(std::nullopt);
  // An ordered "not equal" is false on NaN.
  if (!op || *op == Op::NeF)
    return false;
  write(instruction, evaluation.builder().compare(*op, read(instruction, 1, type), read(instruction, 2, type)));
  return true;
}

bool Translator::arithmetic(const Instruction &instruction) {
  Type type = typeOf(instruction.type());
  if (!type || type.isBool())
    return false;
  bool isFloat = type.isFloating(), isSigned = type.isSigned();
  for (llvm::StringRef modifier : llvm::drop_end(llvm::drop_begin(instruction.parts)))
    if (!llvm::is_contained({"rn", "ftz", "approx", "full", "lo", "hi", "wide", "NaN"}, modifier))
      return false;
  llvm::StringRef name = instruction.operation();
  auto a = [&] { return read(instruction, 1, type); };
  auto b = [&] { return read(instruction, 2, type); };
  auto c = [&] { return read(instruction, 3, type); };
  auto done = [&](Value value) {
    write(instruction, value);
    return true;
  };
  if (name == "add")
    return done(binary(isFloat ? BinaryOp::AddF : BinaryOp::AddI, a(), b()));
  if (name == "sub")
    return done(binary(isFloat ? BinaryOp::SubF : BinaryOp::SubI, a(), b()));
  if (name == "min" || name == "max") {
    bool isMaximum = name == "max";
    if (!isFloat)
      return done(binary(isSigned ? (isMaximum ? BinaryOp::MaxS : BinaryOp::MinS)
                                  : (isMaximum ? BinaryOp::MaxU : BinaryOp::MinU),
                         a(), b()));
    bool keepsNan = instruction.has("NaN");
    return done(binary(keepsNan ? (isMaximum ? BinaryOp::MaximumF : BinaryOp::MinimumF)
                                : (isMaximum ? BinaryOp::MaxNumF : BinaryOp::MinNumF),
                       a(), b()));
  }
  if (name == "fma" && isFloat)
    return done(evaluation.builder().fma(a(), b(), c()));
  if (name == "mul" || name == "mad") {
    if (isFloat && name == "mul")
      return done(binary(BinaryOp::MulF, a(), b()));
    if (isFloat || (instruction.has("wide") && type.bitWidth() == 64))
      return false;
    Type wide = isSigned ? int64() : uint64();
    Value product = instruction.has("wide")
                        ? binary(BinaryOp::MulI, castTo(evaluation, a(), wide), castTo(evaluation, b(), wide))
                    : instruction.has("hi") ? binary(isSigned ? BinaryOp::MulHighS : BinaryOp::MulHighU, a(), b())
                                            : binary(BinaryOp::MulI, a(), b());
    if (name == "mul")
      return done(product);
    return done(binary(BinaryOp::AddI, product, read(instruction, 3, product.type().scalarType())));
  }
  if (name == "neg")
    return done(isFloat ? unary(UnaryOp::NegF, a()) : binary(BinaryOp::SubI, constant(type, 0), a()));
  if (name == "abs")
    return done(unary(isFloat ? UnaryOp::AbsF : UnaryOp::AbsI, a()));
  if (!isFloat || type.bitWidth() < 32)
    return false;
  if (name == "div")
    return done(binary(BinaryOp::DivF, a(), b()));
  if (name == "rcp")
    return done(binary(BinaryOp::DivF, constant(type, 1.0), a()));
  std::optional<UnaryOp> function = llvm::StringSwitch<std::optional<UnaryOp>>(name)
                                        .Case("sqrt", UnaryOp::Sqrt)
                                        .Case("rsqrt", UnaryOp::Rsqrt)
                                        .Case("ex2", UnaryOp::Exp2)
                                        .Case("lg2", UnaryOp::Log2)
                                        .Case("sin", UnaryOp::Sin)
                                        .Case("cos", UnaryOp::Cos)
                                        .Case("tanh", UnaryOp::Tanh)
                                        .Default(std::nullopt);
  return function ? done(unary(*function, a())) : false;
}

// PTX shifts by 32 and more as if bit by bit: everything leaves the register, or the sign fills it.
Value Translator::shifted(const Instruction &instruction, Type type) {
  Value value = read(instruction, 1, type), amount = read(instruction, 2, uint32());
  int bits = type.bitWidth();
  Value most = constant(uint32(), static_cast<int64_t>(bits - 1));
  Value inside = as(binary(BinaryOp::MinU, amount, most), type);
  bool isLeft = instruction.operation() == "shl";
  Value result = binary(isLeft ? BinaryOp::Shl : type.isSigned() ? BinaryOp::ShrS : BinaryOp::ShrU, value, inside);
  if (!isLeft && type.isSigned())
    return result;
  Value fits = evaluation.builder().compare(CompareOp::LeU, amount, most);
  return evaluation.builder().select(fits, result, constant(type, 0));
}

// lop3: any function of three bits, given as its table.
Value Translator::lookUp(const Instruction &instruction) {
  int64_t table = 0;
  if (instruction.operands.size() != 5 || llvm::StringRef(instruction.operands[4]).getAsInteger(0, table))
    reject(instruction.name);
  Value result = constant(uint32(), 0);
  for (int place = 0; place < 8; ++place) {
    if (!(table >> place & 1))
      continue;
    Value term;
    for (int input = 0; input < 3; ++input) {
      Value bit = read(instruction, static_cast<size_t>(input) + 1, uint32());
      if (!(place >> (2 - input) & 1))
        bit = unary(UnaryOp::Not, bit);
      term = term ? binary(BinaryOp::And, term, bit) : bit;
    }
    result = binary(BinaryOp::Or, result, term);
  }
  return result;
}

// prmt: four bytes of the eight of two registers, each chosen by four bits; the fourth asks for the byte's sign alone.
Value Translator::permuted(const Instruction &instruction) {
  Value low = as(read(instruction, 1, uint32()), uint64()), high = as(read(instruction, 2, uint32()), uint64());
  Value bytes = binary(BinaryOp::Or, low, binary(BinaryOp::Shl, high, constant(uint64(), 32)));
  Value selector = as(read(instruction, 3, uint32()), uint64());
  Value result = constant(uint64(), 0);
  for (int64_t place = 0; place < 4; ++place) {
    Value choice = binary(BinaryOp::ShrU, selector, constant(uint64(), 4 * place));
    Value offset = binary(BinaryOp::MulI, binary(BinaryOp::And, choice, constant(uint64(), 7)), constant(uint64(), 8));
    Value byte = binary(BinaryOp::And, binary(BinaryOp::ShrU, bytes, offset), constant(uint64(), 255));
    Value sign = binary(BinaryOp::MulI, binary(BinaryOp::ShrU, byte, constant(uint64(), 7)), constant(uint64(), 255));
    Value isSign = evaluation.builder().compare(CompareOp::Ne, binary(BinaryOp::And, choice, constant(uint64(), 8)),
                                                constant(uint64(), 0));
    byte = evaluation.builder().select(isSign, sign, byte);
    result = binary(BinaryOp::Or, result, binary(BinaryOp::Shl, byte, constant(uint64(), 8 * place)));
  }
  return as(result, uint32());
}

bool Translator::bitwise(const Instruction &instruction) {
  llvm::StringRef name = instruction.operation();
  if (instruction.name == "lop3.b32") {
    write(instruction, lookUp(instruction));
    return true;
  }
  if (instruction.name == "prmt.b32") {
    write(instruction, permuted(instruction));
    return true;
  }
  Type type = typeOf(instruction.type());
  if (instruction.parts.size() != 2 || !type || type.isFloating())
    return false;
  if (name == "not") {
    write(instruction, unary(UnaryOp::Not, read(instruction, 1, type)));
    return true;
  }
  if ((name == "shl" || name == "shr") && !type.isBool()) {
    write(instruction, shifted(instruction, type));
    return true;
  }
  std::optional<BinaryOp> op = llvm::StringSwitch<std::optional<BinaryOp>>(name)
                                   .Case("and", BinaryOp::And)
                                   .Case("or", BinaryOp::Or)
                                   .Case("xor", BinaryOp::Xor)
                                   .Default(std::nullopt);
  if (op)
    write(instruction, binary(*op, read(instruction, 1, type), read(instruction, 2, type)));
  return op.has_value();
}

void Translator::run(const std::string &statement) {
  size_t end = llvm::StringRef(statement).find_first_of(" \t\n");
  Instruction instruction;
  instruction.name = llvm::StringRef(statement).take_front(end).str();
  instruction.operands =
      splitOperands(end == std::string::npos ? llvm::StringRef() : llvm::StringRef(statement).drop_front(end));
  llvm::StringRef(instruction.name).split(instruction.parts, '.');
  if (instruction.name.front() == '@' || llvm::StringRef(statement).contains(':'))
    reject(statement);                             // predicates and labels: elements would go their own ways
  if (instruction.operation() == "griddepcontrol") // kernels of one stream never overlap here
    return;
  if (instruction.name == "bar.sync" || instruction.name == "barrier.sync")
    return evaluation.builder().barrier();
  if (!move(instruction) && !convert(instruction) && !compare(instruction) && !bitwise(instruction) &&
      !arithmetic(instruction))
    reject(instruction.name);
}

} // namespace

bool isPtx(llvm::StringRef text) {
  return llvm::any_of(statements(text), [](llvm::StringRef statement) {
    llvm::StringRef name = statement.take_until([](char c) { return llvm::isSpace(c); });
    return llvm::isAlpha(name.front()) && name.contains('.') && !name.contains('$');
  });
}

Values translatePtx(Evaluation &evaluation, llvm::StringRef text, llvm::ArrayRef<Value> operands,
                    llvm::ArrayRef<Type> results) {
  Translator translator(evaluation, results.front().shape());
  for (auto [index, operand] : llvm::enumerate(operands))
    translator.registers["$" + std::to_string(results.size() + index)] = operand;
  for (const std::string &statement : statements(text))
    translator.run(statement);
  Values values;
  for (auto [index, type] : llvm::enumerate(results)) {
    auto found = translator.registers.find("$" + std::to_string(index));
    if (found == translator.registers.end()) // nothing was written: what it holds is nobody's business
      values.push_back(constantOf(evaluation, type, 0));
    else
      values.push_back(translator.as(found->second, type.scalarType()));
  }
  return values;
}

} // namespace nacre
