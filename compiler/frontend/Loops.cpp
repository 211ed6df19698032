// Loops. A `for` over a range is an scf.for. One that holds break or return is an scf.while that carries the exit code,
// and so is a `while` that holds them; any other `while` is a plain scf.while. What is known while compiling is
// unrolled.
#include "compiler/frontend/LoopCarried.h"
#include "compiler/ir/tile/KernelAttributes.h"
#include "compiler/language/meaning/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nacre {

// One try at a loop's body; what it prints counts only when it is the last.
class Attempt {
public:
  Attempt(int &depth, std::vector<std::string> &prints) : depth(depth), prints(prints), mark(prints.size()) { ++depth; }
  ~Attempt() { --depth; }
  void discard() { prints.resize(mark); }

private:
  int &depth;
  std::vector<std::string> &prints;
  size_t mark;
};

// A range as a loop counts it. scf.for counts upwards only: a negative step counts from stop to start and mirrors the
// index.
struct CountedRange {
  Type type;
  Value lower, upper, step;
  bool isMirrored = false;
  bool isByOne = false; // the step is known to be one
  Value runTimeStep;    // as the kernel gives it, in its own type; null for a constexpr

  Value indexAt(IRBuilder &ir, Value counter) const {
    if (!isMirrored)
      return counter;
    Value distance = ir.binary(BinaryOp::SubI, counter, lower);
    return ir.binary(BinaryOp::SubI, upper, distance);
  }

  // The end of the range, which is its start where a step known only at run time is not positive: that runs over
  // nothing. The step's own type says what its sign is, not the index's.
  Value end(IRBuilder &ir) const {
    if (!runTimeStep)
      return upper;
    Type type = runTimeStep.type();
    Value zero = ir.constantInt(type, llvm::APInt(type.bitWidth(), 0));
    Value isUp = ir.compare(type.isUnsigned() ? CompareOp::GtU : CompareOp::GtS, runTimeStep, zero);
    return ir.select(isUp, upper, lower);
  }
  // Whether the cast to the index's type hides a negative step.
  bool hidesSign() const { return runTimeStep && runTimeStep.type().isSigned() && type.isUnsigned(); }

  // The counter of the next round; the end itself where a step would go past it, and perhaps past the largest integer.
  Value after(IRBuilder &ir, Value counter) const {
    Value next = ir.binary(BinaryOp::AddI, counter, step);
    if (isByOne)
      return next;
    Value left = ir.binary(BinaryOp::SubI, upper, counter);
    return ir.select(ir.compare(CompareOp::GtU, left, step), next, upper);
  }
};

static Type promoteIntegers(Type a, Type b) {
  if (a.bitWidth() == b.bitWidth())
    return a.isUnsigned() ? a : b;
  return a.bitWidth() > b.bitWidth() ? a : b;
}

static std::string whatBoundToGive(const Object &bound) {
  if (!bound.isValue() || bound.value().type().isBlock())
    return "";
  return bound.value().type().isScalar() ? "convert it: n.to(tl.int32)" : numberInsteadOfPointer;
}

static CountedRange count(Generator &generator, const Range &range, const SourceLocation &place) {
  generator.ir().setLocation(place);
  const Object *objects[3] = {&range.start, &range.stop, &range.step};
  const char *names[3] = {"start", "end", "step"};
  Value values[3];
  CountedRange counted;
  counted.type = int32();
  for (int i = 0; i < 3; ++i) {
    if (generator.isOnTiles() && objects[i]->isValue() && objects[i]->value().type().isBlock())
      throw NeedsElements();
    bool isInteger =
        objects[i]->isBool() || objects[i]->isInt() ||
        (objects[i]->isValue() && objects[i]->value().type().isScalar() && objects[i]->value().type().isInteger());
    if (!isInteger)
      generator.failAt(place, Diagnostic::Kind::Type,
                       std::string("the ") + names[i] + " of a range must be an integer scalar, not " +
                           objects[i]->typeName(),
                       whatBoundToGive(*objects[i]));
  }
  Object step = range.step;
  if (step.isBool())
    step = Object(step.as<bool>() ? 1 : 0);
  if (step.isInt() && step.as<llvm::DynamicAPInt>() == 0)
    generator.failAt(place, Diagnostic::Kind::Value, "the step of a range must not be zero");
  if (step.isInt() && step.as<llvm::DynamicAPInt>() < 0) {
    counted.isMirrored = true;
    step = Object(-step.as<llvm::DynamicAPInt>());
  }
  counted.isByOne = step.isInt() && step.as<llvm::DynamicAPInt>() == 1;
  objects[2] = &step;
  for (int i = 0; i < 3; ++i) {
    values[i] = toValue(generator, *objects[i]);
    counted.type = promoteIntegers(counted.type, values[i].type());
  }
  if (step.isValue())
    counted.runTimeStep = values[2];
  for (Value &value : values)
    value = castTo(generator, value, counted.type);
  counted.lower = counted.isMirrored ? values[1] : values[0];
  counted.upper = counted.isMirrored ? values[0] : values[1];
  counted.step = values[2];
  return counted;
}

static void attach(const LoopHints &hints, mlir::Operation *loop) {
  tile::LoopHints attributes;
  attributes.numStages = hints.numStages;
  attributes.unrollFactor = hints.unrollFactor;
  attributes.disallowAccMultiBuffer = hints.disallowAccMultiBuffer;
  attributes.flatten = hints.flatten;
  attributes.warpSpecialize = hints.warpSpecialize;
  attributes.disableLicm = hints.disableLicm;
  attributes.attachTo(loop);
}

// ---- for

void Generator::forStatement(const ast::For &node) {
  if (node.isAsync)
    unsupported(node, "an asynchronous loop cannot be used in a kernel");
  if (!node.orElse.empty())
    failAt(node.orElse.front()->location, Diagnostic::Kind::Unsupported,
           "`else` after a loop cannot be used in a kernel", "set a flag in the loop and test it afterwards");
  Iteration iteration = iterate(*node.iterable);
  auto *range = std::get_if<Range>(&iteration);
  if (range && frame->function->source.isConstexprFunction)
    unrolled(node, constantRange(*range, node.iterable->location, "a loop of a constexpr function"));
  else if (range)
    rangeLoop(node, *range);
  else
    unrolled(node, std::get<std::vector<Object>>(iteration));
}

void Generator::unrolled(const ast::For &node, const std::vector<Object> &items) {
  ++frame->loops;
  unrolledFrom(node, items);
  --frame->loops;
  // A break ends here; a return goes on.
  Path &path = frame->path;
  if (auto *known = std::get_if<Exit>(&path.exit)) {
    if (*known == Exit::Break) {
      path.exit = Exit::None;
      path.closed = false;
    }
    return;
  }
  irBuilder.setLocation(node.location);
  path.closed = false;
  if (!holdsReturn(node.body)) {
    path.exit = Exit::None;
    return;
  }
  path.exit = selectExit(exitIs(std::get<Value>(path.exit), Exit::Return), Exit::Return, Exit::None);
}

void Generator::unrolledFrom(const ast::For &node, llvm::ArrayRef<Object> items) {
  for (size_t i = 0; i < items.size(); ++i) {
    checkStack(node.location);
    bindTarget(*node.target, items[i], /*keepConstexpr=*/true);
    block(node.body, /*atEnd=*/Exit::Continue);
    Path &path = frame->path;
    if (auto *known = std::get_if<Exit>(&path.exit)) {
      if (*known == Exit::Continue) {
        path.exit = Exit::None;
        path.closed = false;
      }
      if (path.closed)
        return;
      continue;
    }
    // Known only at run time: those that continue go on with the next item.
    irBuilder.setLocation(node.location);
    path.exit = selectExit(exitIs(std::get<Value>(path.exit), Exit::Continue), Exit::None, path.exit);
    path.closed = false;
    guarded(node.location, [&] { unrolledFrom(node, items.drop_front(i + 1)); });
    return;
  }
}

void Generator::rangeLoop(const ast::For &node, const Range &range) {
  CountedRange counted = count(*this, range, node.iterable->location);
  std::set<std::string> assigned = assignedNames(node.body);
  addTargetNames(*node.target, assigned);
  LoopCarried carried(*this, node.location, assigned);

  Branch body;
  for (bool isSettled = false; !isSettled;) {
    Attempt attempt(attempts, heldPrints);
    body = Branch{std::make_unique<mlir::Block>(), Path()};
    irBuilder.setLocation(node.location);
    Value counter =
        IRBuilder::wrap(counted.type, body.block->addArgument(irBuilder.irType(counted.type), irBuilder.irLocation()));
    body.path = carried.enter(*body.block);
    ++frame->loops;
    extendBranch(body, [&] {
      bindTarget(*node.target, counted.indexAt(irBuilder, counter), /*keepConstexpr=*/true);
      block(node.body, /*atEnd=*/Exit::Continue);
    });
    --frame->loops;
    isSettled = carried.settle(body);
    if (!isSettled)
      attempt.discard();
  }
  if (attempts == 0)
    flushPrints();
  irBuilder.setLocation(node.location);
  auto *exit = std::get_if<Exit>(&body.path.exit);
  bool leaves = exit ? *exit == Exit::Break || *exit == Exit::Return : mayLeaveLoop(node.body);
  if (leaves)
    return finishLeavingLoop(node.location, holdsReturn(node.body), carried, std::move(body), &counted, range.hints);

  carried.dropUnchanged(*body.block, 1);
  mlir::OpBuilder &ops = irBuilder.ops();
  mlir::Location location = irBuilder.irLocation();
  at(body.block.get(), [&] { mlir::scf::YieldOp::create(ops, location, carried.ends()); });
  // An scf.for runs over nothing itself where it sees that its step is not positive.
  Value end = counted.hidesSign() ? counted.end(irBuilder) : counted.upper;
  auto loop =
      mlir::scf::ForOp::create(ops, location, IRBuilder::irValue(counted.lower), IRBuilder::irValue(end),
                               IRBuilder::irValue(counted.step), carried.inits(), nullptr, counted.type.isUnsigned());
  loop.getBody()->erase();
  loop.getRegion().push_back(body.block.release());
  attach(range.hints, loop);
  frame->path.names = carried.after(loop.getResults());
}

// ---- Loops that hold break or return

// The body is the loop's `after` region; `before` only tests the exit code and the counter. Both carry, in this order:
// the counter, the carried names, the exit code, the returned values.
void Generator::finishLeavingLoop(const SourceLocation &place, bool mayReturn, LoopCarried &carried, Branch body,
                                  const CountedRange *counted, const LoopHints &hints) {
  if (auto *code = std::get_if<Value>(&body.path.exit); code && code->type().isBlock())
    throw NeedsElements();
  carried.dropUnchanged(*body.block, counted ? 1 : 0);
  irBuilder.setLocation(place);
  mlir::OpBuilder &ops = irBuilder.ops();
  mlir::Location location = irBuilder.irLocation();
  BindingPointer returned = mayReturn ? body.path.returned : nullptr;
  llvm::SmallVector<Value> returnedValues;
  if (returned)
    collectValues(returned->object, returnedValues);

  llvm::SmallVector<mlir::Value> inits, yields;
  Value end = counted ? counted->end(irBuilder) : Value();
  if (counted)
    inits.push_back(IRBuilder::irValue(counted->lower));
  llvm::append_range(inits, carried.inits());
  inits.push_back(IRBuilder::irValue(exitCode(Exit::None)));
  for (const Value &value : returnedValues)
    inits.push_back(IRBuilder::irValue(irBuilder.undefined(value.type())));
  llvm::SmallVector<mlir::Type> types = llvm::map_to_vector(inits, [](mlir::Value value) { return value.getType(); });

  at(body.block.get(), [&] {
    if (counted) {
      Value counter = IRBuilder::wrap(counted->type, body.block->getArgument(0));
      yields.push_back(IRBuilder::irValue(counted->after(irBuilder, counter)));
    }
    llvm::append_range(yields, carried.ends());
    yields.push_back(IRBuilder::irValue(exitCode(body.path.exit)));
    for (const Value &value : returnedValues)
      yields.push_back(IRBuilder::irValue(value));
    mlir::scf::YieldOp::create(ops, location, yields);
  });
  while (body.block->getNumArguments() < types.size())
    body.block->addArgument(types[body.block->getNumArguments()], location);

  auto before = std::make_unique<mlir::Block>();
  for (mlir::Type type : types)
    before->addArgument(type, location);
  size_t exitIndex = types.size() - 1 - returnedValues.size();
  at(before.get(), [&] {
    // None and Continue come first among the codes.
    Value code = IRBuilder::wrap(int32(), before->getArgument(exitIndex));
    Value goesOn = irBuilder.compare(CompareOp::LeS, code, exitCode(Exit::Continue));
    if (counted) {
      Value counter = IRBuilder::wrap(counted->type, before->getArgument(0));
      Value isInside = irBuilder.compare(counted->type.isUnsigned() ? CompareOp::LtU : CompareOp::LtS, counter, end);
      goesOn = irBuilder.binary(BinaryOp::And, goesOn, isInside);
    }
    mlir::scf::ConditionOp::create(ops, location, IRBuilder::irValue(goesOn), before->getArguments());
  });
  auto loop = mlir::scf::WhileOp::create(ops, location, types, inits);
  loop.getBefore().push_back(before.release());
  loop.getAfter().push_back(body.block.release());
  attach(hints, loop);

  auto results = loop.getResults().drop_front(counted ? 1 : 0);
  frame->path.names = carried.after(results);
  if (!returned)
    return;
  Value code = IRBuilder::wrap(int32(), loop.getResult(exitIndex));
  Value hasReturned = irBuilder.compare(CompareOp::Eq, code, exitCode(Exit::Return));
  frame->path.exit = irBuilder.select(hasReturned, exitCode(Exit::Return), exitCode(Exit::None));
  for (auto [i, value] : llvm::enumerate(returnedValues))
    value = IRBuilder::wrap(value.type(), loop.getResult(exitIndex + 1 + i));
  frame->path.returned =
      std::make_shared<Binding>(Binding{replaceValues(returned->object, returnedValues), returned->place, nullptr});
}

// ---- while

void Generator::whileStatement(const ast::While &node) {
  if (!node.orElse.empty())
    failAt(node.orElse.front()->location, Diagnostic::Kind::Unsupported,
           "`else` after a loop cannot be used in a kernel", "set a flag in the loop and test it afterwards");
  if (frame->function->source.isConstexprFunction)
    return constexprWhile(node);
  if (!mayLeaveLoop(node.body))
    return plainWhile(node);

  std::set<std::string> assigned = assignedNames(node.body);
  addAssignedNames(*node.test, assigned);
  LoopCarried carried(*this, node.location, assigned);
  Branch body;
  LoopHints hints;
  for (bool isSettled = false; !isSettled;) {
    Attempt attempt(attempts, heldPrints);
    body = Branch{std::make_unique<mlir::Block>(), Path()};
    irBuilder.setLocation(node.location);
    body.path = carried.enter(*body.block);
    ++frame->loops;
    extendBranch(body, [&] {
      std::variant<bool, Value> test = loopCondition(*node.test, hints);
      if (auto *known = std::get_if<bool>(&test))
        return *known ? block(node.body, Exit::Continue) : leave(Exit::Break);
      runTimeIf(
          node.test->location, std::get<Value>(test), [&] { block(node.body, Exit::Continue); },
          [&] { leave(Exit::Break); }, nullptr);
    });
    --frame->loops;
    isSettled = carried.settle(body);
    if (!isSettled)
      attempt.discard();
  }
  if (attempts == 0)
    flushPrints();
  finishLeavingLoop(node.location, holdsReturn(node.body), carried, std::move(body), nullptr, hints);
}

// A loop of a constexpr function runs while compiling.
void Generator::constexprWhile(const ast::While &node) {
  constexpr int mostTurns = 1 << 20; // more than this is a loop that does not end
  ++frame->loops;
  Path &path = frame->path;
  for (int turn = 0; !path.closed; ++turn) {
    std::variant<bool, Value> test = condition(*node.test);
    auto *known = std::get_if<bool>(&test);
    if (!known)
      failAt(node.test->location, Diagnostic::Kind::Type,
             "a constexpr function cannot loop on a condition that is known only at run time");
    if (turn == mostTurns)
      failAt(node.location, Diagnostic::Kind::Value, "this loop of a constexpr function does not end");
    if (!*known)
      break;
    block(node.body, Exit::Continue);
    auto *exit = std::get_if<Exit>(&path.exit);
    if (!exit)
      failAt(node.location, Diagnostic::Kind::Type,
             "a constexpr function cannot leave a loop on a condition that is known only at run time");
    if (*exit == Exit::Return)
      break;
    path.closed = false;
    bool isBroken = *exit == Exit::Break;
    path.exit = Exit::None;
    if (isBroken)
      break;
  }
  --frame->loops;
}

// The test is the `before` region: it runs once more than the body, and names that it binds are known after the loop.
void Generator::plainWhile(const ast::While &node) {
  std::set<std::string> assigned = assignedNames(node.body);
  addAssignedNames(*node.test, assigned);
  LoopCarried carried(*this, node.location, assigned);
  mlir::OpBuilder &ops = irBuilder.ops();
  Branch test, body;
  LoopHints hints;
  llvm::SmallVector<mlir::Value> passed;
  for (bool isSettled = false; !isSettled;) {
    Attempt attempt(attempts, heldPrints);
    test = Branch{std::make_unique<mlir::Block>(), Path()};
    body = Branch{std::make_unique<mlir::Block>(), Path()};
    passed.clear();
    irBuilder.setLocation(node.location);
    test.path = carried.enter(*test.block);
    Value decision;
    extendBranch(test, [&] {
      std::variant<bool, Value> value = loopCondition(*node.test, hints);
      decision =
          std::holds_alternative<Value>(value) ? std::get<Value>(value) : toValue(*this, Object(std::get<bool>(value)));
    });
    // What the test leaves is handed to the body as arguments.
    body.path = test.path;
    for (const std::string &name : assigned) {
      BindingPointer binding = test.path.names.find(name);
      if (!binding || binding->unavailable)
        continue;
      llvm::SmallVector<Value> values;
      collectValues(binding->object, values);
      for (Value &value : values) {
        passed.push_back(IRBuilder::irValue(value));
        value = IRBuilder::wrap(value.type(), body.block->addArgument(passed.back().getType(), passed.back().getLoc()));
      }
      body.path.names.bind(name, replaceValues(binding->object, values), binding->place);
    }
    at(test.block.get(),
       [&] { mlir::scf::ConditionOp::create(ops, irBuilder.irLocation(), IRBuilder::irValue(decision), passed); });
    ++frame->loops;
    extendBranch(body, [&] { block(node.body, Exit::Continue); });
    --frame->loops;
    isSettled = carried.settle(body);
    if (!isSettled)
      attempt.discard();
  }
  if (attempts == 0)
    flushPrints();
  irBuilder.setLocation(node.location);
  mlir::Location location = irBuilder.irLocation();
  at(body.block.get(), [&] { mlir::scf::YieldOp::create(ops, location, carried.ends()); });
  llvm::SmallVector<mlir::Type> types = llvm::map_to_vector(passed, [](mlir::Value value) { return value.getType(); });
  auto loop = mlir::scf::WhileOp::create(ops, location, types, carried.inits());
  loop.getBefore().push_back(test.block.release());
  loop.getAfter().push_back(body.block.release());
  attach(hints, loop);

  Environment names = frame->path.names;
  carried.forbidInner(names);
  size_t next = 0;
  for (const std::string &name : assigned) {
    BindingPointer binding = test.path.names.find(name);
    if (binding && !binding->unavailable) {
      llvm::SmallVector<Value> values;
      collectValues(binding->object, values);
      for (Value &value : values)
        value = IRBuilder::wrap(value.type(), loop.getResult(next++));
      names.bind(name, replaceValues(binding->object, values), binding->place);
    }
    carried.forbid(names, name);
  }
  frame->path.names = names;
}

} // namespace nacre
