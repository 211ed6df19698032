// Run-time branches: each side is built aside in a block of its own, then the two paths meet in one scf.if, which
// yields the names whose value changed, the exit code and the returned value.
//
// Where the paths meet, a name is
//  - unchanged when both sides hold the same binding,
//  - a result of the scf.if when both bind it with one type (constexprs that differ become run-time values),
//  - whatever the other side says when one side has returned: nobody reads it there,
//  - not readable afterwards when one side alone binds it, or the types differ; the error says so at the first use.
//
// In a function that is applied elementwise (tl.map_elementwise) a condition may be a tile. Both sides then run for
// every element, which nothing but time tells from a branch where they do not touch memory, and what the names hold is
// selected.
#include "compiler/frontend/Generator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

namespace nacre {

// ---- Two paths become one

class Joiner {
public:
  Joiner(Generator &generator, const SourceLocation &place, const Value &condition, Branch &whenTrue, Branch &whenFalse)
      : generator(generator), place(place), condition(condition), isElementwise(condition.type().isBlock()),
        sides{&whenTrue, &whenFalse}, before(generator.frame->path) {}

  Path join();

private:
  // An object of the joined path: leaves that differ between the sides are results of the scf.if, known once it is
  // built.
  struct Slot {
    Object object;
    llvm::SmallVector<Value> leaves;
    llvm::SmallVector<int> results; // for each leaf its result's number, or -1 where it is the same on both sides
  };

  std::optional<std::pair<Object, Object>> unify(const Object &a, const Object &b);
  Object toRunTime(int side, const Object &object);
  Object undefined(int side, const Object &object);
  Slot slot(const Object &a, const Object &b);
  Object resolve(const Slot &slot) const;
  bool hasReturned(int side) const;
  void joinName(const std::string &name);
  std::variant<Exit, Value> exitOf(int side) const;
  void joinExit(Path &joined);
  void joinReturned();
  Object spread(int side, const Object &object);
  void branch();
  void select();
  void forbidSingle(const std::string &name, int side);
  void forbidMismatch(const std::string &name, const Binding &a, const Binding &b);

  Generator &generator;
  const SourceLocation &place;
  const Value &condition;
  bool isElementwise; // the condition is a tile
  Branch *sides[2];
  const Path &before;
  llvm::SmallVector<Value> yields[2];
  llvm::SmallVector<mlir::Value> results;
  Environment names; // those that are settled without the results
  std::map<std::string, std::pair<Slot, SourceLocation>> joinedNames;
  std::optional<Slot> returnedSlot;
  SourceLocation returnedPlace;
};

Object Joiner::toRunTime(int side, const Object &object) {
  Object converted;
  generator.at(sides[side]->block.get(), [&] { converted = toValue(generator, object); });
  return converted;
}

Object Joiner::undefined(int side, const Object &object) {
  llvm::SmallVector<Value> leaves;
  collectValues(object, leaves);
  generator.at(sides[side]->block.get(), [&] {
    for (Value &leaf : leaves)
      leaf = generator.irBuilder.undefined(leaf.type());
  });
  return replaceValues(object, leaves);
}

// What one side holds, an element each.
Object Joiner::spread(int side, const Object &object) {
  if (!isElementwise)
    return object;
  Object result;
  generator.at(sides[side]->block.get(),
               [&] { result = broadcastTo(generator, object.value(), condition.type().shape()); });
  return result;
}

// Both objects with one structure: equal constexprs, and run-time values of equal types.
std::optional<std::pair<Object, Object>> Joiner::unify(const Object &a, const Object &b) {
  if (sameObject(a, b))
    return std::make_pair(a, a);
  if (a.isCompound() && b.isCompound()) {
    const TupleValue &first = a.tuple(), &second = b.tuple();
    if (first.items.size() != second.items.size() || first.names != second.names || first.typeName != second.typeName ||
        first.isRecord != second.isRecord)
      return std::nullopt;
    auto left = std::make_shared<TupleValue>(first), right = std::make_shared<TupleValue>(first);
    for (size_t i = 0; i < first.items.size(); ++i) {
      auto item = unify(first.items[i], second.items[i]);
      if (!item)
        return std::nullopt;
      std::tie(left->items[i], right->items[i]) = *item;
    }
    return std::make_pair(Object(std::shared_ptr<const TupleValue>(left)),
                          Object(std::shared_ptr<const TupleValue>(right)));
  }
  if (!(a.isValue() || a.isNumber()) || !(b.isValue() || b.isNumber()))
    return std::nullopt;
  Object left = spread(0, a.isValue() ? a : toRunTime(0, a)), right = spread(1, b.isValue() ? b : toRunTime(1, b));
  if (!(left.value().type() == right.value().type()))
    return std::nullopt;
  return std::make_pair(left, right);
}

Joiner::Slot Joiner::slot(const Object &a, const Object &b) {
  Slot slot;
  slot.object = a;
  llvm::SmallVector<Value> other;
  collectValues(a, slot.leaves);
  collectValues(b, other);
  for (auto [left, right] : llvm::zip_equal(slot.leaves, other)) {
    slot.results.push_back(left.get() == right.get() ? -1 : static_cast<int>(yields[0].size()));
    if (left.get() != right.get()) {
      yields[0].push_back(left);
      yields[1].push_back(right);
    }
  }
  return slot;
}

Object Joiner::resolve(const Slot &slot) const {
  llvm::SmallVector<Value> leaves = slot.leaves;
  for (auto [leaf, result] : llvm::zip_equal(leaves, slot.results))
    if (result >= 0)
      leaf = IRBuilder::wrap(leaf.type(), results[result]);
  return replaceValues(slot.object, leaves);
}

// Every way through this side has returned, so no name of it is read again.
bool Joiner::hasReturned(int side) const {
  const Path &path = sides[side]->path;
  if (!path.closed)
    return false;
  auto *known = std::get_if<Exit>(&path.exit);
  return known ? *known == Exit::Return : generator.frame->loops == 0;
}

void Joiner::forbidSingle(const std::string &name, int side) {
  std::string which = side == 0 ? "true" : "false";
  auto reason = std::make_shared<Unavailable>();
  reason->message = "`" + name + "` is bound only where the condition at line " + std::to_string(place.line) + " is " +
                    which + ", so it cannot be used after it";
  reason->hint = "bind it before the `if`, or in both branches";
  names.forbid(name, reason);
}

void Joiner::forbidMismatch(const std::string &name, const Binding &a, const Binding &b) {
  auto reason = std::make_shared<Unavailable>();
  reason->message = "`" + name + "` has two types here: " + describeType(a.object) + " from line " +
                    std::to_string(a.place.line) + " and " + describeType(b.object) + " from line " +
                    std::to_string(b.place.line);
  reason->hint = "both branches of the `if` at line " + std::to_string(place.line) + " must give it one type";
  names.forbid(name, reason);
}

void Joiner::joinName(const std::string &name) {
  BindingPointer bindings[2] = {sides[0]->path.names.find(name), sides[1]->path.names.find(name)};
  BindingPointer old = before.names.find(name);
  if (bindings[0] == bindings[1])
    return names.bind(name, bindings[0]);
  for (int side : {0, 1}) {
    const BindingPointer &mine = bindings[side], &other = bindings[1 - side];
    bool isUnbound = !mine || mine->unavailable;
    if (!hasReturned(side) && !(isUnbound && sides[side]->path.closed))
      continue;
    if (!other) {
      if (old)
        names.bind(name, old);
      return;
    }
    if (other == old || other->unavailable || isElementwise)
      return names.bind(name, other);
    Object filler = undefined(side, other->object);
    joinedNames[name] = {side == 0 ? slot(filler, other->object) : slot(other->object, filler), other->place};
    return;
  }
  for (int side : {0, 1})
    if (!bindings[side] || bindings[side]->unavailable) {
      if (bindings[1 - side] && !bindings[1 - side]->unavailable)
        return forbidSingle(name, 1 - side);
      return names.bind(name, bindings[0] ? bindings[0] : bindings[1]);
    }
  auto unified = unify(bindings[0]->object, bindings[1]->object);
  if (!unified)
    return forbidMismatch(name, *bindings[0], *bindings[1]);
  joinedNames[name] = {slot(unified->first, unified->second), (bindings[0] != old ? bindings[0] : bindings[1])->place};
}

void Joiner::joinReturned() {
  BindingPointer first = sides[0]->path.returned, second = sides[1]->path.returned;
  if (!first && !second)
    return;
  if (first && second) {
    auto unified = unify(first->object, second->object);
    if (!unified) {
      const Binding &early = first->place.line <= second->place.line ? *first : *second;
      const Binding &late = &early == first.get() ? *second : *first;
      const Function &function = *generator.frame->function;
      auto typeName = [&](const Binding &binding) { return describeType(generator.localized(binding.object)); };
      bool fallsOff = early.object.isNone() && early.place.line == function.definition->nameLocation.line;
      generator.failAt(late.place, Diagnostic::Kind::Type,
                       "`" + function.source.name + "` returns " + typeName(late) + " here but " +
                           (fallsOff ? "nothing where it reaches its end"
                                     : typeName(early) + " at line " + std::to_string(early.place.line)),
                       "every return of a function must give the same type");
    }
    returnedSlot = slot(unified->first, unified->second);
    returnedPlace = first->place;
    return;
  }
  int side = first ? 0 : 1;
  const Binding &known = first ? *first : *second;
  Object filler = isElementwise ? known.object : undefined(1 - side, known.object);
  returnedSlot = side == 0 ? slot(known.object, filler) : slot(filler, known.object);
  returnedPlace = known.place;
}

// A run-time code that can only be Return is not worth carrying.
std::variant<Exit, Value> Joiner::exitOf(int side) const {
  return hasReturned(side) ? std::variant<Exit, Value>(Exit::Return) : sides[side]->path.exit;
}

void Joiner::joinExit(Path &joined) {
  std::variant<Exit, Value> first = exitOf(0), second = exitOf(1);
  joined.closed = sides[0]->path.closed && sides[1]->path.closed;
  if (std::holds_alternative<Exit>(first) && std::holds_alternative<Exit>(second) &&
      std::get<Exit>(first) == std::get<Exit>(second)) {
    joined.exit = first;
    return;
  }
  for (int side : {0, 1})
    generator.at(sides[side]->block.get(), [&] {
      Value code = generator.exitCode(exitOf(side));
      yields[side].push_back(isElementwise ? broadcastTo(generator, code, condition.type().shape()) : code);
    });
}

// Where a side is not taken its divisors mean nothing: they become one, which divides without a fault.
static void guardDivisors(mlir::Block &block, const Value &taken) {
  auto shapeOf = [](mlir::Value value) { return llvm::cast<mlir::ShapedType>(value.getType()).getShape(); };
  mlir::Value condition = IRBuilder::irValue(taken);
  block.walk([&](mlir::Operation *op) {
    if (!llvm::isa<mlir::arith::DivSIOp, mlir::arith::DivUIOp, mlir::arith::RemSIOp, mlir::arith::RemUIOp>(op))
      return;
    mlir::Value divisor = op->getOperand(1);
    auto type = llvm::dyn_cast<mlir::ShapedType>(divisor.getType());
    if (!type || type.getShape() != shapeOf(condition))
      return;
    mlir::OpBuilder builder(op);
    auto one = mlir::DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), 1));
    mlir::Value ones = mlir::arith::ConstantOp::create(builder, op->getLoc(), type, one);
    op->setOperand(1, mlir::arith::SelectOp::create(builder, op->getLoc(), condition, divisor, ones));
  });
}

// Both sides run here; the results are selected.
void Joiner::select() {
  IRBuilder &ir = generator.irBuilder;
  mlir::OpBuilder &ops = ir.ops();
  for (int side : {0, 1}) {
    mlir::Block &block = *sides[side]->block;
    Value taken = side == 0 ? condition : ir.unary(UnaryOp::Not, condition);
    for (mlir::Operation &op : block)
      if (!mlir::isMemoryEffectFree(&op))
        throw NeedsElements();
    guardDivisors(block, taken);
    ops.getInsertionBlock()->getOperations().splice(ops.getInsertionPoint(), block.getOperations());
  }
  for (auto [first, second] : llvm::zip_equal(yields[0], yields[1]))
    results.push_back(IRBuilder::irValue(ir.select(condition, first, second)));
}

void Joiner::branch() {
  mlir::OpBuilder &ops = generator.irBuilder.ops();
  mlir::Location location = generator.irBuilder.irLocation(place);
  llvm::SmallVector<mlir::Value> values[2];
  llvm::SmallVector<mlir::Type> types;
  for (int side : {0, 1})
    for (const Value &value : yields[side])
      values[side].push_back(IRBuilder::irValue(value));
  for (mlir::Value value : values[0])
    types.push_back(value.getType());
  if (!types.empty() || !sides[0]->block->empty() || !sides[1]->block->empty()) {
    auto op = mlir::scf::IfOp::create(ops, location, types, IRBuilder::irValue(condition));
    for (int side : {0, 1}) {
      if (side == 1 && types.empty() && sides[1]->block->empty())
        continue;
      mlir::Block *block = sides[side]->block.release();
      (side == 0 ? op.getThenRegion() : op.getElseRegion()).push_back(block);
      mlir::OpBuilder::InsertionGuard guard(ops);
      ops.setInsertionPointToEnd(block);
      mlir::scf::YieldOp::create(ops, location, values[side]);
    }
    results.append(op.getResults().begin(), op.getResults().end());
  }
}

Path Joiner::join() {
  Path joined;
  if (hasReturned(0) && hasReturned(1)) {
    names = before.names; // nothing reads them
  } else {
    // When both have left, the loop they are in looks only at names that it knew before.
    bool bothLeft = sides[0]->path.closed && sides[1]->path.closed;
    std::set<std::string> all;
    for (Branch *side : sides)
      for (const auto &[name, binding] : side->path.names.all())
        if (!bothLeft || before.names.find(name))
          all.insert(name);
    for (const std::string &name : all)
      joinName(name);
  }
  joinReturned();
  size_t exitResult = yields[0].size();
  joinExit(joined);

  if (isElementwise)
    select();
  else
    branch();

  joined.names = names;
  for (const auto &[name, entry] : joinedNames)
    joined.names.bind(name, resolve(entry.first), entry.second);
  if (returnedSlot)
    joined.returned = std::make_shared<Binding>(Binding{resolve(*returnedSlot), returnedPlace, nullptr});
  if (exitResult < results.size())
    joined.exit = IRBuilder::wrap(yields[0][exitResult].type(), results[exitResult]);
  return joined;
}

void Generator::join(const SourceLocation &place, const Value &condition, Branch whenTrue, Branch whenFalse) {
  irBuilder.setLocation(place);
  frame->path = Joiner(*this, place, condition, whenTrue, whenFalse).join();
}

// ---- Building sides

void Generator::at(mlir::Block *block, llvm::function_ref<void()> body) {
  mlir::OpBuilder::InsertionGuard guard(irBuilder.ops());
  irBuilder.ops().setInsertionPointToEnd(block);
  body();
}

// Passes walk nested regions recursively too, on threads whose stacks are not ours to choose.
static constexpr int deepestRegion = 256;

void Generator::extendBranch(Branch &branch, llvm::function_ref<void()> body) {
  if (++regionDepth > deepestRegion)
    failTooDeep(irBuilder.location());
  std::swap(frame->path, branch.path);
  at(branch.block.get(), body);
  std::swap(frame->path, branch.path);
  --regionDepth;
}

Branch Generator::buildBranch(llvm::function_ref<void()> body) {
  Branch branch{std::make_unique<mlir::Block>(), frame->path};
  extendBranch(branch, body);
  return branch;
}

Value Generator::exitCode(const std::variant<Exit, Value> &exit) {
  if (auto *value = std::get_if<Value>(&exit))
    return *value;
  return irBuilder.constantInt(int32(), llvm::APInt(32, static_cast<uint64_t>(std::get<Exit>(exit))));
}

Value Generator::exitIs(const Value &code, Exit exit) {
  Value wanted = broadcastTo(*this, exitCode(exit), code.type().shape());
  return irBuilder.compare(CompareOp::Eq, code, wanted);
}

Value Generator::selectExit(const Value &condition, Exit whenTrue, const std::variant<Exit, Value> &whenFalse) {
  Shape shape = condition.type().shape();
  return irBuilder.select(condition, broadcastTo(*this, exitCode(whenTrue), shape),
                          broadcastTo(*this, exitCode(whenFalse), shape));
}

void Generator::guarded(const SourceLocation &place, llvm::function_ref<void()> body) {
  if (frame->path.closed)
    return;
  if (std::holds_alternative<Exit>(frame->path.exit))
    return body();
  irBuilder.setLocation(place);
  Value stays = exitIs(std::get<Value>(frame->path.exit), Exit::None);
  Branch whenTrue = buildBranch([&] {
    frame->path.exit = Exit::None;
    body();
  });
  Branch whenFalse = buildBranch([&] { frame->path.closed = true; });
  join(place, stays, std::move(whenTrue), std::move(whenFalse));
}

// tl.condition(test, ...) wraps a test with hints.
std::variant<bool, Value> Generator::condition(const ast::Expression &test, LoopHints *hints) {
  Object object;
  if (auto *call = llvm::dyn_cast<ast::Call>(&test)) {
    Object callee = expression(*call->callee);
    Arguments arguments = evaluateArguments(*call);
    irBuilder.setLocation(test.location);
    if (callee.is<const Builtin *>() && callee.as<const Builtin *>() == findBuiltin("triton.language", "condition")) {
      auto [wrapped, given] = conditionArguments(*this, arguments.positional, arguments.keywords);
      object = wrapped;
      if (hints)
        *hints = given;
    } else {
      object = callObject(callee, arguments, test.location);
    }
  } else {
    object = expression(test);
  }
  irBuilder.setLocation(test.location);
  return asCondition(object);
}

std::variant<bool, Value> Generator::asCondition(const Object &object) {
  if (elementwiseCalls && object.isValue() && object.value().type().elementCount() != 1)
    return castTo(*this, object.value(), int1());
  if (object.isFloat() || object.isString() || object.isTuple() || object.isType())
    fail(Diagnostic::Kind::Unsupported, "a condition is a bool, an int or None, not " + object.typeName(),
         "compare it: x != 0, x is not None, len(x) > 0");
  return toCondition(*this, object);
}

std::variant<bool, Value> Generator::loopCondition(const ast::Expression &test, LoopHints &hints) {
  std::variant<bool, Value> found = condition(test, &hints);
  if (auto *value = std::get_if<Value>(&found); value && value->type().isBlock())
    throw NeedsElements();
  return found;
}

bool Generator::ifStatement(const ast::If &node, llvm::function_ref<void()> rest) {
  std::variant<bool, Value> test = condition(*node.test);
  if (auto *known = std::get_if<bool>(&test)) {
    block(*known ? node.body : node.orElse);
    return false;
  }
  return runTimeIf(node.location, std::get<Value>(test), [&] { block(node.body); }, [&] { block(node.orElse); }, rest);
}

// When one side has left for good, what follows belongs to the other side: built there it needs no test of the exit
// code.
bool Generator::runTimeIf(const SourceLocation &place, const Value &condition, llvm::function_ref<void()> whenTrue,
                          llvm::function_ref<void()> whenFalse, llvm::function_ref<void()> rest) {
  Branch sides[2] = {buildBranch(whenTrue), Branch()};
  sides[1] = buildBranch(whenFalse);
  bool takesRest = sides[0].path.closed != sides[1].path.closed && rest;
  if (takesRest)
    extendBranch(sides[sides[0].path.closed ? 1 : 0], rest);
  join(place, condition, std::move(sides[0]), std::move(sides[1]));
  return takesRest;
}

} // namespace nacre
