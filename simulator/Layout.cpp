// Where variables lie: .global and .const in memory of their own, .shared and .local as offsets, parameters in their
// buffers.
#include "simulator/Decoder.h"
#include <algorithm>

namespace nacre::simulator {

bool isKernelParameter(const Function &function, const Variable &variable) {
  return function.isEntry &&
         std::find(function.parameters.begin(), function.parameters.end(), &variable) != function.parameters.end();
}

static uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// Places of .local variables in the frame, of a kernel's parameters in their buffer, and of other .param variables in
// the frame.
void layoutVariables(DecodedFunction &decoded, Function &source) {
  uint64_t kernelParameters = 0, parameters = 0, local = 0;
  for (Variable &variable : source.variables) {
    if (variable.space == Space::Local) {
      local = alignUp(local, variable.alignment);
      variable.address = local;
      local += variable.bytes;
      decoded.localAlignment = std::max(decoded.localAlignment, variable.alignment);
    } else if (variable.space == Space::Parameter) {
      uint64_t &at = isKernelParameter(source, variable) ? kernelParameters : parameters;
      at = alignUp(at, variable.alignment);
      variable.address = at;
      at += variable.bytes;
    }
  }
  if (local > (1u << 20) || parameters > (1u << 20))
    throw Error("`" + source.name + "` has too much local memory", source.line);
  decoded.localBytes = static_cast<uint32_t>(local);
  decoded.parameterBytes = static_cast<uint32_t>(alignUp(parameters, 16));
}

// Places of .shared variables, with gaps between them. False if they lie too far for a descriptor of wgmma.
static bool layoutShared(Program &program, uint32_t gap) {
  SyntaxModule &syntax = *program.syntax;
  bool fits = true;
  auto placeShared = [&](Variable &variable, uint64_t &at, std::vector<DecodedFunction::Gap> &gaps) {
    if (variable.space != Space::Shared)
      return;
    if (variable.isExtern) {
      program.dynamicSharedAlignment = std::max(program.dynamicSharedAlignment, variable.alignment);
      return;
    }
    uint64_t end = at;
    at = alignUp(at + (at ? gap : 0), variable.alignment);
    if (end && gap)
      gaps.push_back({static_cast<uint32_t>(end), static_cast<uint32_t>(at - end)});
    variable.address = sharedStart + at;
    at += variable.bytes;
    if (at > (1u << 23))
      throw Error("`" + variable.name + "`: too much shared memory", variable.line);
    fits &= sharedStart + at < (1u << 18);
  };
  uint64_t shared = 0;
  std::vector<DecodedFunction::Gap> gaps;
  for (Variable &variable : syntax.variables)
    placeShared(variable, shared, gaps);
  for (auto &function : syntax.functions)
    if (!function->isEntry)
      for (Variable &variable : function->variables)
        placeShared(variable, shared, gaps);
  for (size_t i = 0; i < syntax.functions.size(); ++i) {
    uint64_t own = shared;
    DecodedFunction &function = program.functions[i];
    function.sharedGaps = gaps;
    if (syntax.functions[i]->isEntry)
      for (Variable &variable : syntax.functions[i]->variables)
        placeShared(variable, own, function.sharedGaps);
    function.laidSharedBytes = static_cast<uint32_t>(own);
  }
  return fits;
}

void layoutModule(Program &program) {
  SyntaxModule &syntax = *program.syntax;
  auto place = [&](Variable &variable) {
    if (variable.space != Space::Global && variable.space != Space::Constant)
      return;
    if (variable.isExtern && variable.bytes == 0)
      throw Error("the extern variable `" + variable.name + "` has no definition in this module", variable.line);
    Program::Module stored{&variable, {}};
    stored.memory.allocate(std::max<uint64_t>(variable.bytes, 1), std::max(64u, variable.alignment));
    if (!variable.initial.empty())
      std::memcpy(stored.memory.data, variable.initial.data(),
                  std::min<size_t>(variable.initial.size(), variable.bytes));
    variable.address = reinterpret_cast<uint64_t>(stored.memory.data);
    program.variables.push_back(std::move(stored));
  };
  for (Variable &variable : syntax.variables)
    place(variable);
  for (auto &function : syntax.functions)
    for (Variable &variable : function->variables)
      place(variable);
  layoutShared(program, 0);
  for (DecodedFunction &function : program.functions)
    function.staticSharedBytes = function.laidSharedBytes;
  if (!layoutShared(program, sharedGap))
    layoutShared(program, 0);
  for (Program::Module &stored : program.variables)
    for (const Variable::Reference &reference : stored.variable->references) {
      uint64_t address = 0;
      if (Variable *other = syntax.findVariable(reference.symbol))
        address = other->address;
      else if (Function *function = syntax.findFunction(reference.symbol))
        address = functionWindow + program.functionIndex(function);
      else
        throw Error("`" + reference.symbol + "` in an initial value is not declared", stored.variable->line);
      address += static_cast<uint64_t>(reference.addend);
      size_t size = std::max(1u, bytesOf(stored.variable->type));
      if (reference.offset + size <= stored.variable->bytes)
        std::memcpy(stored.memory.data + reference.offset, &address, std::min<size_t>(size, 8));
    }
}

} // namespace nacre::simulator
