// Branches, calls, returns, exits, traps.
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/Print.h"
#include "simulator/Undefined.h"

namespace nacre::simulator {

Status exitHandler(Warp &warp, const Op &, uint32_t mask) {
  exitLanes(warp, mask);
  if (warp.active)
    ++warp.pc;
  return Status::Jumped;
}
Status returnHandler(Warp &warp, const Op &, uint32_t mask) {
  returnLanes(warp, mask);
  if (warp.active)
    ++warp.pc;
  return Status::Jumped;
}

namespace {

Status branchHandler(Warp &warp, const Op &op, uint32_t mask) { return jumpTo(warp, mask, op.target); }

struct BranchTable {
  std::vector<uint32_t> targets;
};
Status branchIndexed(Warp &warp, const Op &op, uint32_t mask) {
  const auto &table = *static_cast<const BranchTable *>(op.plan);
  const uint32_t *index = warp.at<uint32_t>(op.a);
  // Lanes with one index go together; the rest try again from here.
  unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  uint32_t same = 0;
  forEachLane(mask, [&](unsigned lane) { same |= uint32_t(index[lane] == index[first]) << lane; });
  if (index[first] >= table.targets.size()) {
    warp.launch->report(warp, first, FindingKind::Trap,
                        "brx.idx with index " + std::to_string(index[first]) + " of " +
                            std::to_string(table.targets.size()) + " targets");
    exitLanes(warp, same);
    return Status::Jumped;
  }
  uint32_t here = warp.pc;
  Status status = jumpTo(warp, same, table.targets[index[first]]);
  if (status == Status::Next)
    return status;
  if (same != mask && warp.active && warp.pc == here + 1 && (warp.active & mask & ~same))
    warp.pc = here; // unguarded: all that are left have other indices
  return Status::Jumped;
}

void decodeBranch(Decoder &decoder) {
  decoder.take("uni");
  decoder.finishModifiers();
  decoder.expectOperands(1, 1);
  decoder.branchTo(decoder.currentOp(), decoder.labelTarget(decoder.operand(0)));
  decoder.emit(branchHandler, InstructionClass::Branch);
}

void decodeIndexed(Decoder &decoder) {
  if (!decoder.take("idx"))
    decoder.refuse("it is brx.idx");
  decoder.take("uni");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  if (decoder.instruction->guarded)
    decoder.refuse("a guarded brx.idx is not simulated");
  Op &op = decoder.op;
  op.a = decoder.valueOf(decoder.operand(0), ScalarType::U32);
  const Operand &label = decoder.operand(1);
  const std::vector<Operand> *targets = nullptr;
  for (uint32_t scope = label.scope;; scope = decoder.source.scopes[scope].parent) {
    auto &tables = decoder.source.scopes[scope].tables;
    if (auto found = tables.find(label.name); found != tables.end())
      targets = &found->second;
    if (targets || scope == 0)
      break;
  }
  if (!targets)
    decoder.refuse("there is no .branchtargets `" + std::string(label.name) + "`");
  auto *table = decoder.plan<BranchTable>();
  table->targets.resize(targets->size());
  for (size_t i = 0; i < targets->size(); ++i)
    decoder.patchLater(&table->targets[i], decoder.labelTarget((*targets)[i]));
  op.plan = table;
  decoder.emit(branchIndexed, InstructionClass::Branch);
}

std::string stringAt(Warp &warp, uint64_t address) {
  std::string text;
  const Allocation *allocation = warp.launch->find(address);
  for (uint64_t at = address; allocation && at < allocation->end && *reinterpret_cast<const char *>(at); ++at)
    text += *reinterpret_cast<const char *>(at);
  return text;
}

Status callBuiltin(Warp &warp, const CallPlan &plan, uint32_t mask) {
  Frame &frame = *warp.frame;
  auto argument = [&](unsigned lane, size_t index) {
    uint64_t value = 0;
    if (index < plan.argumentPlaces.size())
      std::memcpy(&value,
                  frame.parameters.data() + size_t(lane) * frame.function->parameterBytes +
                      plan.argumentPlaces[index].first,
                  std::min<size_t>(8, plan.argumentPlaces[index].second));
    return value;
  };
  auto result = [&](unsigned lane, uint64_t value) {
    if (!plan.resultPlaces.empty())
      std::memcpy(frame.parameters.data() + size_t(lane) * frame.function->parameterBytes + plan.resultPlaces[0].first,
                  &value, std::min<size_t>(8, plan.resultPlaces[0].second));
  };
  LaunchState &launch = *warp.launch;
  switch (plan.builtin) {
  case CallPlan::Builtin::Print:
    forEachLane(mask, [&](unsigned lane) {
      uint64_t buffer = argument(lane, 1);
      const std::byte *bytes = nullptr;
      size_t size = 0;
      if ((buffer >> 56) == (localWindow >> 56)) {
        uint64_t offset = buffer - localWindow - localStart;
        if (offset < warp.localBytes) {
          bytes = warp.local.data() + size_t(lane) * warp.localBytes + offset;
          size = warp.localBytes - offset;
        }
      } else if (const Allocation *allocation = launch.find(buffer)) {
        bytes = reinterpret_cast<const std::byte *>(buffer);
        size = allocation->end - buffer;
      }
      uint64_t format = argument(lane, 0);
      if (!format)
        return result(lane, static_cast<uint32_t>(-1));
      auto [text, arguments] =
          formatPrint(stringAt(warp, format), bytes, size, [&](uint64_t address) { return stringAt(warp, address); });
      std::lock_guard lock(launch.mutex);
      if (launch.launch->print)
        launch.launch->print(text);
      else
        std::fwrite(text.data(), 1, text.size(), stdout);
      result(lane, arguments);
    });
    return Status::Next;
  case CallPlan::Builtin::AssertFail: {
    unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
    launch.report(warp, lane, FindingKind::AssertionFailed,
                  stringAt(warp, argument(lane, 1)) + ":" + std::to_string(static_cast<uint32_t>(argument(lane, 2))) +
                      ": " + stringAt(warp, argument(lane, 3)) + ": assertion `" + stringAt(warp, argument(lane, 0)) +
                      "` failed");
    launch.completed = false;
    launch.stopped = true;
    return Status::Next;
  }
  case CallPlan::Builtin::Malloc:
    forEachLane(mask, [&](unsigned lane) {
      std::lock_guard lock(launch.heapMutex);
      result(lane, launch.heapAllocate(argument(lane, 0)));
    });
    return Status::Next;
  default:
    return Status::Next;
  }
}

Status enter(Warp &warp, const CallPlan &plan, uint32_t functionIndex, uint32_t mask) {
  const DecodedFunction &function = warp.program->functions[functionIndex];
  Frame *caller = warp.frame;
  if (caller->depth > 500) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::Trap,
                        "the call stack is deeper than 500 calls");
    exitLanes(warp, mask);
    return Status::Jumped;
  }
  uint32_t localBase = 0, alignment = function.localAlignment;
  forEachLane(mask, [&](unsigned lane) { localBase = std::max(localBase, caller->stackTop[lane]); });
  localBase = (localBase + localStart + alignment - 1) / alignment * alignment - localStart;
  if (uint64_t(localBase) + function.localBytes > warp.localBytes) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::OutOfBounds,
                        "stack overflow: the call of `" + function.source->name + "`, " +
                            std::to_string(caller->depth + 1) + " calls deep, needs " +
                            std::to_string(function.localBytes) + " bytes, and the thread's " +
                            std::to_string(warp.localBytes) +
                            " bytes of stack are used up (a GPU gives 1024 unless "
                            "cudaDeviceSetLimit says more)");
    exitLanes(warp, mask);
    return Status::Jumped;
  }
  Frame *frame = makeFrame(warp, function);
  frame->parent = caller;
  frame->depth = caller->depth + 1;
  frame->returnPc = warp.pc + 1;
  frame->call = &plan;
  frame->lanes = mask;
  frame->localBase = localBase;
  frame->stackTop.fill(frame->localBase + function.localBytes);
  auto *local64 = reinterpret_cast<uint64_t *>(frame->registers.data + frameLocal64);
  auto *local32 = reinterpret_cast<uint32_t *>(frame->registers.data + frameLocal32);
  for (unsigned i = 0; i < laneCount; ++i)
    local64[i] = local32[i] = localStart + frame->localBase;
  if (warp.localInitialized.size)
    forEachLane(mask, [&](unsigned lane) {
      std::memset(warp.localInitialized.data() + size_t(lane) * warp.localBytes + frame->localBase, 0,
                  function.localBytes);
    });
  auto copyIn = [&](uint32_t from, uint32_t to, uint32_t bytes) {
    forEachLane(mask, [&](unsigned lane) {
      std::memcpy(frame->parameters.data() + size_t(lane) * function.parameterBytes + to,
                  caller->parameters.data() + size_t(lane) * caller->function->parameterBytes + from, bytes);
    });
  };
  for (const CallPlan::Copy &copy : plan.arguments) {
    copyIn(copy.caller, copy.callee, copy.bytes);
    if (!warp.undefined.empty())
      passUndefined(warp, caller, copy.caller, frame, copy.callee, copy.bytes, mask);
  }
  // The callee's lanes become a fragment of their own; the others go on after the call.
  Fragment &current = warp.fragments[warp.current];
  current.mask = warp.active & ~mask;
  current.pc = warp.pc + 1;
  Fragment made;
  made.pc = function.entry;
  made.mask = mask;
  made.frame = frame;
  warp.fragments.push_back(made);
  warp.active &= ~mask;
  ++warp.pc;
  return Status::Jumped;
}

// An indirect call's plan is made when its function is first known.
const CallPlan *planFor(Warp &warp, const CallPlan &plan, uint32_t functionIndex) {
  std::unique_ptr<CallPlan> &direct = currentWorker->calls[{&plan, functionIndex}];
  if (direct)
    return direct.get();
  const Function &callee = *warp.program->functions[functionIndex].source;
  direct = std::make_unique<CallPlan>();
  for (size_t i = 0; i < std::min(plan.argumentPlaces.size(), callee.parameters.size()); ++i)
    direct->arguments.push_back(
        {plan.argumentPlaces[i].first, static_cast<uint32_t>(callee.parameters[i]->address),
         std::min<uint32_t>(plan.argumentPlaces[i].second, static_cast<uint32_t>(callee.parameters[i]->bytes))});
  for (size_t i = 0; i < std::min(plan.resultPlaces.size(), callee.results.size()); ++i)
    direct->results.push_back(
        {plan.resultPlaces[i].first, static_cast<uint32_t>(callee.results[i]->address),
         std::min<uint32_t>(plan.resultPlaces[i].second, static_cast<uint32_t>(callee.results[i]->bytes))});
  return direct.get();
}

Status callHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const CallPlan *>(op.plan);
  if (plan.builtin != CallPlan::Builtin::None)
    return callBuiltin(warp, plan, mask);
  if (!plan.indirect)
    return enter(warp, plan, plan.function, mask);
  const uint64_t *pointer = warp.at<uint64_t>(plan.pointer);
  unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  uint32_t same = 0;
  forEachLane(mask, [&](unsigned lane) { same |= uint32_t(pointer[lane] == pointer[first]) << lane; });
  uint64_t index = pointer[first] - functionWindow;
  if (index >= warp.program->functions.size() || !warp.program->functions[index].source->isDefined ||
      warp.program->functions[index].source->isEntry) {
    warp.launch->report(warp, first, FindingKind::Trap, "a call through a pointer that is not a function");
    exitLanes(warp, same);
    return Status::Jumped;
  }
  if (auto refusal = warp.program->functions[index].refusal)
    throw Error(*refusal);
  const CallPlan *direct = planFor(warp, plan, static_cast<uint32_t>(index));
  uint32_t here = warp.pc;
  uint32_t rest = mask & ~same;
  Status status = enter(warp, *direct, static_cast<uint32_t>(index), same);
  if (rest && rest == warp.active) { // the others call what they point at
    warp.pc = here;
    warp.fragments[warp.current].pc = here;
  }
  return status;
}

void decodeCall(Decoder &decoder) {
  decoder.take("uni");
  decoder.finishModifiers();
  auto *plan = decoder.plan<CallPlan>();
  const Operand &results = decoder.operand(0), &target = decoder.operand(1);
  auto place = [&](const Operand &operand) -> std::pair<uint32_t, uint32_t> {
    if (operand.kind != OperandKind::Variable || operand.variable->space != Space::Parameter)
      decoder.refuse("arguments and results of a call must be .param variables");
    return {static_cast<uint32_t>(operand.variable->address), static_cast<uint32_t>(operand.variable->bytes)};
  };
  for (const Operand &result : results.elements)
    plan->resultPlaces.push_back(place(result));
  if (decoder.operandCount() > 2 && decoder.operand(2).kind == OperandKind::Vector)
    for (const Operand &argument : decoder.operand(2).elements)
      plan->argumentPlaces.push_back(place(argument));
  if (target.kind == OperandKind::Function) {
    const Function &callee = *target.function;
    if (callee.isEntry)
      decoder.refuse("a kernel cannot be called");
    if (callee.isDefined || decoder.program.syntax->findFunction(callee.name)->isDefined) {
      plan->function = decoder.program.functionIndex(&callee);
      decoder.decoded.callees.push_back(plan->function);
      if (plan->argumentPlaces.size() != callee.parameters.size() || plan->resultPlaces.size() != callee.results.size())
        decoder.refuse("`" + callee.name + "` has another number of parameters or results");
      for (size_t i = 0; i < callee.parameters.size(); ++i)
        plan->arguments.push_back(
            {plan->argumentPlaces[i].first, static_cast<uint32_t>(callee.parameters[i]->address),
             std::min<uint32_t>(plan->argumentPlaces[i].second, static_cast<uint32_t>(callee.parameters[i]->bytes))});
      for (size_t i = 0; i < callee.results.size(); ++i)
        plan->results.push_back(
            {plan->resultPlaces[i].first, static_cast<uint32_t>(callee.results[i]->address),
             std::min<uint32_t>(plan->resultPlaces[i].second, static_cast<uint32_t>(callee.results[i]->bytes))});
    } else if (callee.name == "vprintf") {
      plan->builtin = CallPlan::Builtin::Print;
    } else if (callee.name == "__assertfail") {
      plan->builtin = CallPlan::Builtin::AssertFail;
    } else if (callee.name == "malloc") {
      plan->builtin = CallPlan::Builtin::Malloc;
    } else if (callee.name == "free") {
      plan->builtin = CallPlan::Builtin::Free;
    } else {
      decoder.refuse("the function `" + callee.name + "` has no body in this module");
    }
  } else if (target.kind == OperandKind::Register) {
    plan->indirect = true;
    decoder.decoded.callsIndirectly = true;
    plan->pointer = decoder.valueOf(target, ScalarType::B64);
  } else {
    decoder.refuse("`" + std::string(target.name.substr(0, 60)) + "` is not a function");
  }
  if (plan->builtin != CallPlan::Builtin::None)
    decoder.program.hasGlobalAtomics = true; // what is printed and where memory lies depends on the order of blocks
  decoder.op.plan = plan;
  decoder.emit(callHandler, InstructionClass::Branch);
}

// --- the stack ---
// alloca: memory of each thread, from where its local memory ends; the frame's end gives it back.
Status allocateHandler(Warp &warp, const Op &op, uint32_t mask) {
  Frame &frame = *warp.frame;
  auto alignment = static_cast<uint32_t>(op.offset);
  forEachLane(mask, [&](unsigned lane) {
    uint64_t size = op.bytes == 8 ? warp.at<uint64_t>(op.a)[lane] : warp.at<uint32_t>(op.a)[lane];
    uint32_t start = (frame.stackTop[lane] + localStart + alignment - 1) / alignment * alignment - localStart;
    if (size > warp.localBytes || start + size > warp.localBytes) {
      warp.launch->report(warp, lane, FindingKind::OutOfBounds,
                          "alloca of " + std::to_string(size) + " bytes: the thread's stack has " +
                              std::to_string(warp.localBytes - std::min(start, warp.localBytes)) + " left");
      size = 0;
    }
    frame.stackTop[lane] = start + static_cast<uint32_t>(size);
    if (warp.localInitialized.size)
      std::memset(warp.localInitialized.data() + size_t(lane) * warp.localBytes + std::min(start, warp.localBytes), 0,
                  size);
    uint64_t address = localStart + start;
    std::memcpy(warp.at<std::byte>(op.d) + lane * op.bytes, &address, op.bytes);
  });
  return Status::Next;
}
Status saveStackHandler(Warp &warp, const Op &op, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t address = localStart + warp.frame->stackTop[lane];
    std::memcpy(warp.at<std::byte>(op.d) + lane * op.bytes, &address, op.bytes);
  });
  return Status::Next;
}
Status restoreStackHandler(Warp &warp, const Op &op, uint32_t mask) {
  Frame &frame = *warp.frame;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t address = op.bytes == 8 ? warp.at<uint64_t>(op.a)[lane] : warp.at<uint32_t>(op.a)[lane];
    uint64_t least = localStart + frame.localBase + frame.function->localBytes;
    if (address < least || address > localStart + frame.stackTop[lane])
      warp.launch->report(warp, lane, FindingKind::OutOfBounds, "stackrestore of what stacksave did not give");
    else
      frame.stackTop[lane] = static_cast<uint32_t>(address - localStart);
  });
  return Status::Next;
}
ScalarType takeStackType(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  if (type != ScalarType::U32 && type != ScalarType::U64)
    decoder.refuse("its type is .u32 or .u64");
  decoder.op.bytes = static_cast<uint8_t>(bytesOf(type));
  decoder.program.usesStack = true;
  return type;
}
void decodeAllocate(Decoder &decoder) {
  Op &op = decoder.op;
  ScalarType type = takeStackType(decoder);
  decoder.expectOperands(2, 3);
  op.d = decoder.destination(decoder.operand(0), op.bytes);
  op.a = decoder.valueOf(decoder.operand(1), type);
  uint64_t alignment = decoder.operandCount() == 3 ? decoder.immediate(decoder.operand(2)) : 8;
  if (alignment == 0 || alignment > 256 || (alignment & (alignment - 1)))
    decoder.refuse("its alignment is a power of two up to 256");
  op.offset = static_cast<int64_t>(alignment);
  decoder.emit(allocateHandler, InstructionClass::Other);
}
void decodeSaveStack(Decoder &decoder) {
  takeStackType(decoder);
  decoder.expectOperands(1, 1);
  decoder.op.d = decoder.destination(decoder.operand(0), decoder.op.bytes);
  decoder.emit(saveStackHandler, InstructionClass::Other);
}
void decodeRestoreStack(Decoder &decoder) {
  ScalarType type = takeStackType(decoder);
  decoder.expectOperands(1, 1);
  decoder.op.a = decoder.valueOf(decoder.operand(0), type);
  decoder.emit(restoreStackHandler, InstructionClass::Other);
}

void decodeReturn(Decoder &decoder) {
  decoder.take("uni");
  decoder.finishModifiers();
  decoder.expectOperands(0, 0);
  decoder.emit(decoder.source.isEntry ? exitHandler : returnHandler, InstructionClass::Branch);
}
void decodeExit(Decoder &decoder) {
  decoder.finishModifiers();
  decoder.expectOperands(0, 0);
  decoder.emit(exitHandler, InstructionClass::Branch);
}

Status trapHandler(Warp &warp, const Op &op, uint32_t mask) {
  warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::Trap,
                      warp.launch->asksForGrid && !warp.launch->launch->cooperative
                          ? "trap; the kernel synchronizes the grid, which takes a cooperative launch "
                            "(cooperative=True in Python, --cooperative on the command line)"
                          : "trap");
  warp.launch->completed = false;
  warp.launch->stopped = true;
  exitLanes(warp, mask);
  return Status::Jumped;
}
Status nothing(Warp &, const Op &, uint32_t) { return Status::Next; }
void decodeTrap(Decoder &decoder) {
  decoder.finishModifiers();
  decoder.emit(trapHandler, InstructionClass::Other);
}
void decodeNothing(Decoder &decoder) { // brkpt, pmevent
  while (!decoder.nextWord().empty()) {
  }
  decoder.emit(nothing, InstructionClass::Other);
}

} // namespace

const std::vector<DecoderEntry> controlDecoders = {{"bra", decodeBranch},
                                                   {"brx", decodeIndexed},
                                                   {"call", decodeCall},
                                                   {"ret", decodeReturn},
                                                   {"exit", decodeExit},
                                                   {"trap", decodeTrap},
                                                   {"brkpt", decodeNothing},
                                                   {"pmevent", decodeNothing},
                                                   {"alloca", decodeAllocate},
                                                   {"stacksave", decodeSaveStack},
                                                   {"stackrestore", decodeRestoreStack}};

} // namespace nacre::simulator
