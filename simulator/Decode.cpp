// From parsed PTX to a program: layout of registers and variables, operands, modifiers, branches.
#include "simulator/Decoder.h"
#include <algorithm>

namespace nacre::simulator {

unsigned rowBytesOf(ScalarType type) {
  unsigned bits = bitsOf(type);
  return type == ScalarType::Predicate ? 0 : bits <= 32 ? 4 : bits == 64 ? 8 : 16;
}

const char *nameOf(InstructionClass kind) {
  static const char *const names[] = {"integer",       "float",       "half",   "double",           "convert",
                                      "move",          "compare",     "logic",  "special",          "memory",
                                      "shared memory", "atomic",      "branch", "shuffle",          "barrier",
                                      "async copy",    "tensor copy", "matrix", "warpgroup matrix", "other"};
  static_assert(std::size(names) == size_t(InstructionClass::Count));
  return names[size_t(kind)];
}

uint32_t Program::functionIndex(const Function *function) const {
  for (size_t i = 0; i < syntax->functions.size(); ++i)
    if (syntax->functions[i].get() == function)
      return static_cast<uint32_t>(i);
  return ~0u;
}

static const std::unordered_map<std::string_view, DecodeFunction> &decoderTable() {
  static const auto table = [] {
    std::unordered_map<std::string_view, DecodeFunction> made;
    for (auto *group :
         {&arithmeticDecoders, &mathDecoders, &compareDecoders, &convertDecoders, &logicDecoders, &videoDecoders,
          &moveDecoders, &memoryDecoders, &atomicDecoders, &controlDecoders, &warpDecoders, &barrierDecoders,
          &copyDecoders, &tensorDecoders, &matrixDecoders, &warpgroupDecoders})
      for (const DecoderEntry &entry : *group)
        made.emplace(entry.name, entry.function);
    return made;
  }();
  return table;
}

Decoder::Decoder(Program &program, uint32_t functionIndex)
    : program(program), decoded(program.functions[functionIndex]), source(*decoded.source),
      functionIndex(functionIndex) {}

void Decoder::refuse(const std::string &why) const {
  throw Error("`" + std::string(instruction->text.substr(0, 160)) + "`: " + why, instruction->line);
}

// --- Modifiers ---

bool Decoder::take(std::string_view word) {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1) && instruction->words[i] == word) {
      taken |= uint64_t(1) << i;
      return true;
    }
  return false;
}
bool Decoder::has(std::string_view word) const {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1) && instruction->words[i] == word)
      return true;
  return false;
}
std::string_view Decoder::takeOneOf(std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (take(word))
      return word;
  return {};
}
std::string_view Decoder::takePrefixed(std::string_view prefix) {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1) && instruction->words[i].starts_with(prefix)) {
      taken |= uint64_t(1) << i;
      return instruction->words[i];
    }
  return {};
}
ScalarType Decoder::takeTypeOr(ScalarType fallback) {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1))
      if (auto type = scalarType(instruction->words[i])) {
        taken |= uint64_t(1) << i;
        return *type;
      }
  return fallback;
}
ScalarType Decoder::takeType() {
  ScalarType type = takeTypeOr(ScalarType::None);
  if (type == ScalarType::None)
    refuse("its type is missing");
  return type;
}
std::string_view Decoder::nextWord() {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1)) {
      taken |= uint64_t(1) << i;
      return instruction->words[i];
    }
  return {};
}
void Decoder::finishModifiers() const {
  for (size_t i = 1; i < instruction->words.size(); ++i)
    if (!(taken >> i & 1))
      refuse("the simulator does not know the form with `." + std::string(instruction->words[i]) + "`");
}

// --- Operands ---

const Operand &Decoder::operand(size_t index) const {
  if (index >= instruction->operands.size())
    refuse("an operand is missing");
  return instruction->operands[index];
}
void Decoder::expectOperands(size_t least, size_t most) const {
  if (operandCount() < least || operandCount() > most)
    refuse("it has " + std::to_string(operandCount()) + " operands, not " + std::to_string(least) +
           (most > least ? " to " + std::to_string(most) : ""));
}
ScalarType Decoder::registerType(const Operand &operand) const {
  if (operand.kind != OperandKind::Register)
    return ScalarType::None;
  return source.registers[operand.reg].type;
}

void Decoder::noteRead(const Operand &operand) {
  if (operand.kind == OperandKind::Register)
    reads.push_back(registerOffsets[operand.reg]);
}
void Decoder::noteWrite(const Operand &operand) {
  if (operand.kind == OperandKind::Register)
    writes.push_back(registerOffsets[operand.reg]);
}

Slot Decoder::destination(const Operand &operand, unsigned bytes) {
  if (operand.kind == OperandKind::Sink)
    return {};
  if (operand.kind != OperandKind::Register)
    refuse("its destination is not a register");
  ScalarType type = source.registers[operand.reg].type;
  unsigned row = rowBytesOf(type);
  if (row != bytes)
    refuse("the register `" + source.registers[operand.reg].name + "` is ." + nameOf(type) +
           ", of another width than the instruction");
  noteWrite(operand);
  return Slot::make(FrameBase, registerOffsets[operand.reg]);
}

Slot Decoder::constant(uint64_t bits, unsigned rowBytes) {
  auto [found, isNew] =
      program.constantOffsets.try_emplace({bits, rowBytes}, static_cast<uint32_t>(program.constantRows.size()));
  if (isNew) {
    size_t start = program.constantRows.size();
    program.constantRows.resize(start + laneCount * rowBytes);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      std::memcpy(program.constantRows.data() + start + lane * rowBytes, &bits, std::min(rowBytes, 8u));
  }
  return Slot::make(ConstantBase, found->second);
}
Slot Decoder::predicateConstant(bool value) { return constant(value ? 0xFFFFFFFFu : 0, 4); }

uint64_t Decoder::immediate(const Operand &operand) const {
  if (operand.kind != OperandKind::Integer)
    refuse("an operand must be an integer constant");
  return operand.bits;
}

uint64_t Decoder::floatBits(const Operand &operand, ScalarType type) const {
  double value;
  if (operand.kind == OperandKind::Integer) {
    value = static_cast<double>(static_cast<int64_t>(operand.bits));
  } else if (operand.isSingle) {
    if (type == ScalarType::F32)
      return operand.bits;
    float single;
    uint32_t low = static_cast<uint32_t>(operand.bits);
    std::memcpy(&single, &low, 4);
    value = single;
  } else {
    std::memcpy(&value, &operand.bits, 8);
  }
  uint64_t bits = 0;
  if (type == ScalarType::F64) {
    std::memcpy(&bits, &value, 8);
  } else {
    float single = static_cast<float>(value);
    std::memcpy(&bits, &single, 4);
  }
  return bits;
}

struct SpecialName {
  std::string_view name;
  SpecialRow row;
  bool wide, changes;
};
static constexpr SpecialName specialNames[] = {{"%tid.x", TidX},
                                               {"%tid.y", TidY},
                                               {"%tid.z", TidZ},
                                               {"%ntid.x", NtidX},
                                               {"%ntid.y", NtidY},
                                               {"%ntid.z", NtidZ},
                                               {"%ctaid.x", CtaidX},
                                               {"%ctaid.y", CtaidY},
                                               {"%ctaid.z", CtaidZ},
                                               {"%nctaid.x", NctaidX},
                                               {"%nctaid.y", NctaidY},
                                               {"%nctaid.z", NctaidZ},
                                               {"%laneid", LaneId},
                                               {"%warpid", WarpId},
                                               {"%nwarpid", NWarpId},
                                               {"%smid", SmId},
                                               {"%nsmid", NSmId},
                                               {"%gridid", GridId, true},
                                               {"%lanemask_eq", LaneMaskEq},
                                               {"%lanemask_le", LaneMaskLe},
                                               {"%lanemask_lt", LaneMaskLt},
                                               {"%lanemask_ge", LaneMaskGe},
                                               {"%lanemask_gt", LaneMaskGt},
                                               {"%clusterid.x", ClusterIdX},
                                               {"%clusterid.y", ClusterIdY},
                                               {"%clusterid.z", ClusterIdZ},
                                               {"%nclusterid.x", NClusterIdX},
                                               {"%nclusterid.y", NClusterIdY},
                                               {"%nclusterid.z", NClusterIdZ},
                                               {"%cluster_ctaid.x", ClusterCtaidX},
                                               {"%cluster_ctaid.y", ClusterCtaidY},
                                               {"%cluster_ctaid.z", ClusterCtaidZ},
                                               {"%cluster_nctaid.x", ClusterNctaidX},
                                               {"%cluster_nctaid.y", ClusterNctaidY},
                                               {"%cluster_nctaid.z", ClusterNctaidZ},
                                               {"%cluster_ctarank", ClusterCtaRank},
                                               {"%cluster_nctarank", ClusterNctaRank},
                                               {"%is_explicit_cluster", IsExplicitCluster},
                                               {"%dynamic_smem_size", DynamicSmemSize},
                                               {"%total_smem_size", TotalSmemSize},
                                               {"%aggr_smem_size", TotalSmemSize},
                                               {"%envreg1", Environment1},
                                               {"%envreg2", Environment2},
                                               {"%reserved_smem_offset_begin", ReservedSharedBegin},
                                               {"%reserved_smem_offset_0", ReservedSharedBegin},
                                               {"%reserved_smem_offset_1", ReservedSharedBegin},
                                               {"%reserved_smem_offset_end", ReservedSharedEnd},
                                               {"%reserved_smem_offset_cap", ReservedSharedSize},
                                               {"%clock", ClockLow, false, true},
                                               {"%clock_hi", ClockHigh, false, true},
                                               {"%clock64", Clock64, true, true},
                                               {"%globaltimer", GlobalTimer, true, true},
                                               {"%globaltimer_lo", GlobalTimerLow, false, true},
                                               {"%globaltimer_hi", GlobalTimerHigh, false, true}};

Slot Decoder::valueOf(const Operand &operand, ScalarType type) {
  unsigned row = rowBytesOf(type);
  switch (operand.kind) {
  case OperandKind::Register: {
    ScalarType own = source.registers[operand.reg].type;
    if (rowBytesOf(own) != row)
      refuse("the register `" + source.registers[operand.reg].name + "` is ." + nameOf(own) + " where ." +
             nameOf(type) + " is needed");
    noteRead(operand);
    return Slot::make(FrameBase, registerOffsets[operand.reg]);
  }
  case OperandKind::Integer: {
    uint64_t bits = (type == ScalarType::F32 || type == ScalarType::F64) ? floatBits(operand, type) : operand.bits;
    if (bitsOf(type) < 64)
      bits &= (uint64_t(1) << bitsOf(type)) - 1;
    return constant(bits, row);
  }
  case OperandKind::Float:
    if (type != ScalarType::F32 && type != ScalarType::F64 && type != ScalarType::B32 && type != ScalarType::B64 &&
        type != ScalarType::U32 && type != ScalarType::TF32)
      refuse("a floating-point constant cannot be ." + std::string(nameOf(type)));
    return constant(floatBits(operand, bitsOf(type) == 64 ? ScalarType::F64 : ScalarType::F32), row);
  case OperandKind::Special:
    for (const SpecialName &special : specialNames)
      if (special.name == operand.name) {
        refreshClock |= special.changes;
        decoded.asksForGrid |= special.row == Environment1 || special.row == Environment2;
        program.usesReservedShared |= special.row >= ReservedSharedBegin && special.row <= ReservedSharedSize;
        return Slot::make(SpecialBase, special.row * specialRowBytes);
      }
    if (operand.name.starts_with("%envreg") || operand.name.starts_with("%pm"))
      return Slot::make(SpecialBase, ZeroRow * specialRowBytes);
    refuse("there is no special register `" + std::string(operand.name) + "`");
  case OperandKind::Variable: {
    Variable &variable = *operand.variable;
    if (variable.space == Space::Global || variable.space == Space::Constant ||
        (variable.space == Space::Shared && !variable.isExtern))
      return constant(variable.address + static_cast<uint64_t>(operand.offset), row);
    refuse("the address of `" + variable.name + "` must be taken by mov or cvta");
  }
  case OperandKind::Sink:
    return Slot::make(SpecialBase, ZeroRow * specialRowBytes);
  case OperandKind::Label:
    refuse("`" + std::string(operand.name.substr(0, 60)) + "` is not declared");
  default:
    refuse("an operand is of the wrong kind");
  }
}

Slot Decoder::source32(const Operand &operand, ScalarType type) { return valueOf(operand, type); }

Slot Decoder::predicate(const Operand &operand) {
  if (operand.kind == OperandKind::Integer)
    return predicateConstant(operand.bits != 0);
  if (operand.kind != OperandKind::Register || source.registers[operand.reg].type != ScalarType::Predicate) {
    if (operand.kind == OperandKind::Sink)
      return {};
    if (operand.kind == OperandKind::Special && operand.name == "%is_explicit_cluster")
      return Slot::make(SpecialBase, IsExplicitCluster * specialRowBytes);
    refuse("an operand must be a predicate");
  }
  noteRead(operand);
  return Slot::make(FrameBase, registerOffsets[operand.reg]);
}

Part Decoder::part(const Operand &operand, bool written) {
  Part part;
  if (operand.kind == OperandKind::Sink) {
    part.sink = true;
    return part;
  }
  if (operand.kind == OperandKind::Register) {
    ScalarType type = source.registers[operand.reg].type;
    part.bytes = static_cast<uint8_t>(rowBytesOf(type));
    part.slot = Slot::make(FrameBase, registerOffsets[operand.reg]);
    written ? noteWrite(operand) : noteRead(operand);
    return part;
  }
  if (written)
    refuse("a destination is not a register");
  // A constant: eight bytes serve every width, since rows of 64 bits are read as such only where the instruction's type
  // is.
  unsigned row = operand.kind == OperandKind::Special ? 4 : bitsOf(op.type) > 32 ? 8 : 4;
  part.bytes = static_cast<uint8_t>(row);
  part.slot = valueOf(operand, row == 8 ? (isFloat(op.type) ? ScalarType::F64 : ScalarType::B64)
                                        : (op.type == ScalarType::F32 ? ScalarType::F32 : ScalarType::B32));
  return part;
}

void Decoder::addParts(const Operand &operand, bool written) {
  if (op.count == 0)
    op.first = static_cast<uint32_t>(program.parts.size());
  if (operand.kind == OperandKind::Vector) {
    for (const Operand &element : operand.elements) {
      Part made = part(element, written);
      program.parts.push_back(made);
      ++op.count;
    }
  } else {
    Part made = part(operand, written);
    program.parts.push_back(made);
    ++op.count;
  }
}

// Wraps, as addresses do.
int64_t sumOf(int64_t offset, uint64_t address) {
  return static_cast<int64_t>(static_cast<uint64_t>(offset) + address);
}

void Decoder::addressInto(const Operand &operand, Space space, Slot &base, int64_t &offset, uint8_t &narrow) {
  if (operand.kind != OperandKind::Address || operand.elements.empty())
    refuse("an operand must be an address: [register], [register+offset] or [variable]");
  const Operand &inner = operand.elements[0];
  offset = inner.offset;
  narrow = 0;
  switch (inner.kind) {
  case OperandKind::Register: {
    ScalarType type = source.registers[inner.reg].type;
    unsigned row = rowBytesOf(type);
    if (row != 4 && row != 8)
      refuse("an address register must have 32 or 64 bits");
    narrow = row == 4;
    if (narrow && space != Space::Shared && space != Space::Local && space != Space::Parameter &&
        space != Space::Constant)
      refuse("an address in this space has 64 bits");
    noteRead(inner);
    base = Slot::make(FrameBase, registerOffsets[inner.reg]);
    return;
  }
  case OperandKind::Integer:
    base = Slot::make(SpecialBase, ZeroRow * specialRowBytes);
    offset = static_cast<int64_t>(inner.bits);
    return;
  case OperandKind::Variable: {
    const Variable &variable = *inner.variable;
    switch (variable.space) {
    case Space::Local:
      base = Slot::make(FrameBase, frameLocal64);
      offset = sumOf(offset, variable.address);
      return;
    case Space::Shared:
      base = Slot::make(SpecialBase, (variable.isExtern ? DynamicShared64 : ZeroRow) * specialRowBytes);
      if (!variable.isExtern)
        offset = sumOf(offset, variable.address);
      return;
    case Space::Parameter:
      if (!isKernelParameter(source, variable))
        refuse("the address of `" + variable.name + "` cannot be used here: it is a parameter of a call");
      base = Slot::make(SpecialBase, ParameterBase * specialRowBytes);
      offset = sumOf(offset, variable.address);
      return;
    default:
      base = constant(variable.address, 8);
      return;
    }
  }
  default:
    refuse("an address must be a register or a variable");
  }
}

void Decoder::address(const Operand &operand, Space space) { addressInto(operand, space, op.a, op.offset, op.lanes32); }

Space Decoder::takeSpace(Space fallback) {
  if (take("global"))
    return Space::Global;
  if (take("shared") || take("shared::cta") || take("shared::cluster"))
    return Space::Shared;
  if (take("local"))
    return Space::Local;
  if (take("const"))
    return Space::Constant;
  if (take("param") || take("param::entry") || take("param::func"))
    return Space::Parameter;
  return fallback;
}

uint32_t Decoder::labelTarget(const Operand &operand) const {
  if (operand.kind != OperandKind::Label)
    refuse("a label is needed");
  for (uint32_t scope = operand.scope;; scope = source.scopes[scope].parent) {
    auto found = source.scopes[scope].labels.find(operand.name);
    if (found != source.scopes[scope].labels.end())
      return found->second;
    if (scope == 0)
      break;
  }
  refuse("there is no label `" + std::string(operand.name.substr(0, 60)) + "`");
}

Status refreshClocks(Warp &warp, const Op &op, uint32_t mask); // Move.cpp

void Decoder::emit(Handler handler, InstructionClass kind) {
  auto push = [&](Op made) {
    OpInfo info;
    info.instruction = instruction;
    info.functionIndex = functionIndex;
    program.ops.push_back(made);
    program.infos.push_back(info);
  };
  if (refreshClock) {
    Op refresh;
    refresh.handler = refreshClocks;
    refresh.kind = InstructionClass::Count; // not the kernel's: not counted
    push(refresh);
    refreshClock = false;
  }
  op.handler = handler;
  op.kind = kind;
  if (instruction->guarded) {
    op.guard = registerOffsets[instruction->guard];
    op.guardNegated = instruction->guardNegated;
    reads.push_back(op.guard);
  }
  push(op);
  OpInfo &info = program.infos.back();
  info.firstRead = static_cast<uint32_t>(program.touched.size());
  info.readCount = static_cast<uint32_t>(reads.size());
  program.touched.insert(program.touched.end(), reads.begin(), reads.end());
  info.firstWrite = static_cast<uint32_t>(program.touched.size());
  info.writeCount = static_cast<uint32_t>(writes.size());
  program.touched.insert(program.touched.end(), writes.begin(), writes.end());
  reads.clear();
  writes.clear();
  op = Op();
}

// --- Functions ---

void Decoder::layoutRegisters() {
  uint32_t offset = frameHeaderBytes;
  registerOffsets.resize(source.registers.size());
  for (size_t i = 0; i < source.registers.size(); ++i) {
    registerOffsets[i] = offset;
    ScalarType type = source.registers[i].type;
    decoded.rows.push_back({offset, static_cast<uint8_t>(rowBytesOf(type))});
    offset += type == ScalarType::Predicate ? 4 : laneCount * rowBytesOf(type);
    if (offset > 0x30000000)
      throw Error("`" + source.name + "` has too many registers", source.line);
    if (i + 1 < source.registers.size() && source.registers[i + 1].type != ScalarType::Predicate)
      offset = (offset + 63) & ~63u;
  }
  decoded.registerBytes = (offset + 63) & ~63u;
}

void Decoder::decodeInstruction(const Instruction &current) {
  instruction = &current;
  taken = 0;
  reads.clear();
  writes.clear();
  refreshClock = false;
  op = Op();
  if (current.words.size() > 60)
    refuse("it has too many modifiers");
  auto &table = decoderTable();
  auto found = table.find(current.words[0]);
  if (found == table.end())
    refuse("the simulator does not know the instruction `" + std::string(current.words[0]) + "`");
  found->second(*this);
}

Status exitHandler(Warp &warp, const Op &op, uint32_t mask); // Control.cpp
Status returnHandler(Warp &warp, const Op &op, uint32_t mask);

void Decoder::decodeFunction() {
  layoutRegisters();
  decoded.entry = currentOp();
  std::vector<uint32_t> starts;
  for (const Instruction &current : source.instructions) {
    starts.push_back(currentOp());
    decodeInstruction(current);
  }
  starts.push_back(currentOp());
  // Falling off the end is a return.
  static const Instruction ending = [] {
    Instruction made;
    made.opcode = made.text = "ret";
    made.words = {"ret"};
    return made;
  }();
  instruction = source.instructions.empty() ? &ending : &source.instructions.back();
  Op last;
  last.handler = source.isEntry ? exitHandler : returnHandler;
  last.kind = InstructionClass::Count;
  program.ops.push_back(last);
  program.infos.push_back({instruction, functionIndex});
  decoded.end = currentOp();
  for (const Patch &patch : patches)
    (patch.where ? *patch.where : program.ops[patch.op].target) = starts[patch.instruction];
}

// A function that cannot be simulated is refused when a kernel that needs it is run; the others of its module can be.
static void decodeOrRefuse(Program &program, uint32_t index) {
  size_t ops = program.ops.size(), parts = program.parts.size(), touched = program.touched.size();
  try {
    Decoder(program, index).decodeFunction();
  } catch (const Error &error) {
    program.ops.resize(ops);
    program.infos.resize(ops);
    program.parts.resize(parts);
    program.touched.resize(touched);
    program.functions[index].refusal = std::make_shared<const Error>(error);
  }
}

std::unique_ptr<Program> decode(std::unique_ptr<SyntaxModule> syntax) {
  auto program = std::make_unique<Program>();
  syntax->findOwnPlaces();
  program->syntax = std::move(syntax);
  if (program->syntax->target.starts_with("sm_"))
    program->smVersion = static_cast<unsigned>(std::strtoul(program->syntax->target.c_str() + 3, nullptr, 10));
  for (auto &function : program->syntax->functions) {
    DecodedFunction decoded;
    decoded.source = function.get();
    layoutVariables(decoded, *function);
    program->functions.push_back(decoded);
  }
  layoutModule(*program);
  for (uint32_t i = 0; i < program->functions.size(); ++i)
    if (program->functions[i].source->isDefined)
      decodeOrRefuse(*program, i);
  program->constants.allocate(std::max<size_t>(program->constantRows.size(), 64));
  std::copy(program->constantRows.begin(), program->constantRows.end(), program->constants.data);
  program->constantRows = {};
  return program;
}

} // namespace nacre::simulator
