// Loop-carried names: arguments at the head, agreement at the end, results afterwards.
#include "compiler/frontend/LoopCarried.h"

namespace nacre {

LoopCarried::LoopCarried(Generator &generator, const SourceLocation &loop, std::set<std::string> assigned)
    : generator(generator), loop(loop), assigned(std::move(assigned)), before(generator.frame->path) {}

Path LoopCarried::enter(mlir::Block &block) {
  entries.clear();
  leaves.clear();
  Path path = before;
  path.returned = nullptr;
  for (const std::string &name : assigned) {
    BindingPointer binding = before.names.find(name);
    if (!binding || binding->unavailable)
      continue;
    if (forbid(path.names, name))
      continue;
    Entry entry{name, binding->object, Object(), binding->place, leaves.size()};
    if (auto changed = runTime.find(name); changed != runTime.end())
      entry.init = changed->second;
    llvm::SmallVector<Value> inits, heads;
    collectValues(entry.init, inits);
    for (const Value &init : inits) {
      mlir::Value argument =
          block.addArgument(generator.irBuilder.irType(init.type()), generator.irBuilder.irLocation(loop));
      heads.push_back(IRBuilder::wrap(init.type(), argument));
      leaves.push_back({init, heads.back(), Value()});
    }
    entry.leafCount = inits.size();
    entry.head = replaceValues(entry.init, heads);
    if (entry.leafCount)
      path.names.bind(name, entry.head, entry.place);
    entries.push_back(std::move(entry));
  }
  return path;
}

// In a function that is applied elementwise, a scalar that a branch changes is one for each element.
bool LoopCarried::becomesTile(const Object &head, const Object &end) const {
  return generator.elementwiseCalls && head.isValue() && !head.value().type().isBlock() && end.isValue() &&
         end.value().type().isBlock() && end.value().type().scalarType() == head.value().type();
}

LoopCarried::Match LoopCarried::match(const Object &head, const Object &end) const {
  if (sameObject(head, end))
    return Match::Fits;
  if (head.isCompound() && end.isCompound()) {
    const TupleValue &first = head.tuple(), &second = end.tuple();
    if (first.items.size() != second.items.size() || first.names != second.names || first.isRecord != second.isRecord)
      return Match::Differs;
    Match worst = Match::Fits;
    for (size_t i = 0; i < first.items.size(); ++i)
      worst = std::max(worst, match(first.items[i], second.items[i]));
    // A record's constexpr fields are part of its type.
    return first.isRecord && worst == Match::NeedsRunTime ? Match::Differs : worst;
  }
  if (head.isValue() && end.isValue() && becomesTile(head, end))
    return Match::NeedsRunTime;
  if (head.isValue() && end.isValue())
    return head.value().type() == end.value().type() ? Match::Fits : Match::Differs;
  if (head.isNumber() && (end.isNumber() || end.isValue()))
    return Match::NeedsRunTime;
  return Match::Differs;
}

static std::string howToKeepOneType(const Object &before, const Object &after) {
  if (!before.isValue() || !after.isValue())
    return "give it a value of that type before the loop";
  Type from = before.value().type(), to = after.value().type();
  if (from.shape() == to.shape())
    return "cast one of the two, for instance with .to(...)";
  if (from.isBlock() || from.isPointerLike())
    return "its shape must not change either";
  std::string shape;
  for (int64_t extent : to.shape())
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  return "begin with a tensor of that shape, for instance tl.zeros([" + shape + "], tl.float32)";
}

std::shared_ptr<const Unavailable> LoopCarried::mismatch(const Entry &entry, const Binding &end) const {
  auto reason = std::make_shared<Unavailable>();
  reason->message = "`" + entry.name + "` changes its type in the loop: it is " + describeType(entry.init) +
                    " before the loop (line " + std::to_string(entry.place.line) + ") but " + describeType(end.object) +
                    " at the end of its body";
  reason->hint = "a name that a loop carries keeps one type; " + howToKeepOneType(entry.init, end.object);
  reason->place = end.place;
  return reason;
}

bool LoopCarried::settle(Branch &body) {
  bool isSettled = true;
  for (Entry &entry : entries) {
    BindingPointer end = body.path.names.find(entry.name);
    if (end->unavailable) {
      unreadable[entry.name] = end->unavailable;
      isSettled = false;
      continue;
    }
    Object last = end->object;
    if (last.isConstexpr() && !sameObject(entry.head, last))
      generator.at(body.block.get(), [&] { last = generator.localized(last); });
    switch (match(entry.head, last)) {
    case Match::Fits: {
      llvm::SmallVector<Value> ends;
      collectValues(last, ends);
      for (auto [i, value] : llvm::enumerate(ends))
        leaves[entry.firstLeaf + i].end = value;
      if (entry.leafCount)
        entry.place = end->place;
      break;
    }
    case Match::NeedsRunTime:
      runTime[entry.name] = generator.localized(entry.init);
      if (Object &start = runTime[entry.name]; becomesTile(start, last))
        start = broadcastTo(generator, start.value(), last.value().type().shape());
      isSettled = false;
      break;
    case Match::Differs:
      unreadable[entry.name] = mismatch(entry, *end);
      isSettled = false;
      break;
    }
  }
  return isSettled;
}

void LoopCarried::dropUnchanged(mlir::Block &block, unsigned firstArgument) {
  std::map<void *, Value> replaced;
  for (Leaf &leaf : leaves)
    if (leaf.end.get() == leaf.head.get()) {
      leaf.isCarried = false;
      replaced[leaf.head.get()] = leaf.init;
    }
  for (Leaf &leaf : leaves)
    if (auto found = replaced.find(leaf.end.get()); found != replaced.end())
      leaf.end = found->second;
  for (size_t i = leaves.size(); i-- > 0;)
    if (!leaves[i].isCarried) {
      IRBuilder::irValue(leaves[i].head).replaceAllUsesWith(IRBuilder::irValue(leaves[i].init));
      block.eraseArgument(firstArgument + i);
    }
}

llvm::SmallVector<mlir::Value> LoopCarried::inits() const {
  llvm::SmallVector<mlir::Value> values;
  for (const Leaf &leaf : leaves)
    if (leaf.isCarried)
      values.push_back(IRBuilder::irValue(leaf.init));
  return values;
}

llvm::SmallVector<mlir::Value> LoopCarried::ends() const {
  llvm::SmallVector<mlir::Value> values;
  for (const Leaf &leaf : leaves)
    if (leaf.isCarried)
      values.push_back(IRBuilder::irValue(leaf.end));
  return values;
}

Environment LoopCarried::after(mlir::ValueRange results) const {
  Environment names = before.names;
  size_t next = 0;
  for (const Entry &entry : entries) {
    llvm::SmallVector<Value> values;
    bool isChanged = false;
    for (size_t i = entry.firstLeaf; i < entry.firstLeaf + entry.leafCount; ++i) {
      isChanged |= leaves[i].isCarried;
      values.push_back(leaves[i].isCarried ? IRBuilder::wrap(leaves[i].init.type(), results[next++]) : leaves[i].init);
    }
    if (isChanged)
      names.bind(entry.name, replaceValues(entry.init, values), entry.place);
  }
  for (const std::string &name : assigned)
    forbid(names, name);
  forbidInner(names);
  return names;
}

void LoopCarried::forbidInner(Environment &names) const {
  for (const std::string &name : assigned) {
    BindingPointer outer = before.names.find(name);
    if (outer && !outer->unavailable)
      continue;
    auto reason = std::make_shared<Unavailable>();
    reason->message = "`" + name + "` is bound only inside the loop at line " + std::to_string(loop.line) +
                      ", which may not run at all, so it cannot be used after it";
    reason->hint = "bind it before the loop";
    names.forbid(name, reason);
  }
}

bool LoopCarried::forbid(Environment &names, const std::string &name) const {
  auto found = unreadable.find(name);
  if (found == unreadable.end())
    return false;
  names.forbid(name, found->second);
  return true;
}

} // namespace nacre
