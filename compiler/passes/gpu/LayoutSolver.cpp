// See LayoutSolver.h.
#include "compiler/passes/gpu/LayoutSolver.h"
#include "compiler/ir/simt/ShapeLayouts.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

LayoutSolver::LayoutSolver(func::FuncOp kernel, AxisAnalysis &analysis, const BlockShape &block)
    : block(block), kernel(kernel), analysis(analysis) {}

// ---- What is computed again for each user

// Operations that cost about as much as moving their result would.
static bool isCheap(Operation *op) {
  if (isa<arith::ConstantOp, tile::ArangeOp, tile::SplatOp, tile::AddPtrOp, tile::HintOp>(op))
    return true;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::CmpIOp,
          arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp,
          arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return true;
  if (isa<arith::SelectOp>(op))
    return !tile::isFloatLike(op->getResult(0).getType());
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op) && isShapeOperation(op);
}

bool LayoutSolver::isCloned(Value value) {
  auto found = cloned.find(value);
  if (found != cloned.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool answer = op && isCheap(op) &&
                llvm::all_of(op->getOperands(), [&](Value operand) { return !isTile(operand) || isCloned(operand); });
  return cloned[value] = answer;
}

// ---- Groups

unsigned LayoutSolver::newNode(Type type) {
  parents.push_back(parents.size());
  types.push_back(cast<RankedTensorType>(type));
  return parents.size() - 1;
}

unsigned LayoutSolver::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

void LayoutSolver::unite(unsigned left, unsigned right) {
  left = find(left), right = find(right);
  parents[std::max(left, right)] = std::min(left, right);
}

unsigned LayoutSolver::nodeOf(Value value) {
  auto [found, isNew] = valueNodes.try_emplace(value, 0);
  if (isNew)
    found->second = newNode(value.getType());
  return found->second;
}

// The tile whose shape an operation works on.
static Value workingTile(Operation *op) {
  if (isa<tile::GatherOp, tile::DotOp>(op))
    return op->getResult(0);
  for (Value operand : op->getOperands())
    if (isTile(operand))
      return operand;
  for (Value result : op->getResults())
    if (isTile(result))
      return result;
  return {};
}

unsigned LayoutSolver::nodeOf(Operation *op) {
  auto [found, isNew] = operationNodes.try_emplace(op, 0);
  if (isNew) {
    found->second = newNode(workingTile(op).getType());
    ordered.push_back(op);
  }
  return found->second;
}

void LayoutSolver::join(unsigned node, Value value) {
  if (isTile(value) && !isCloned(value))
    unite(node, nodeOf(value));
}

bool LayoutSolver::takesAnyLayout(OpOperand &operand) {
  auto rule = dyn_cast<LayoutOpInterface>(operand.getOwner());
  return rule && rule.takesAnyLayout(operand.getOperandNumber());
}

// The tiles that a loop or branch hands on.
void LayoutSolver::collectCarried(Operation *op) {
  auto joinAll = [&](Value carried, ArrayRef<Value> others) {
    if (!isTile(carried))
      return;
    for (Value other : others)
      join(nodeOf(carried), other);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [initial, argument, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands(),
                   loop.getResults()))
      joinAll(argument, {initial, next, result});
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [initial, argument, next] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      joinAll(argument, {initial, next});
    for (auto [handed, argument, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
      joinAll(argument, {handed, result});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [number, result] : llvm::enumerate(branch.getResults()))
      joinAll(result, {branch.thenBlock()->getTerminator()->getOperand(number),
                       branch.elseBlock()->getTerminator()->getOperand(number)});
  }
}

void LayoutSolver::collect(Operation *op) {
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return collectCarried(op);
  if (!workingTile(op) || isa<scf::YieldOp, scf::ConditionOp>(op) ||
      llvm::any_of(op->getResults(), [&](Value result) { return isCloned(result); }))
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (isTile(operand.get()) && !takesAnyLayout(operand))
      join(nodeOf(op), operand.get());
  // Results of shapes and reductions are in groups of their own, and so are those that come through shared memory.
  bool isRelated = isShapeOperation(op) || isa<tile::ReduceOp>(op);
  auto rule = dyn_cast<LayoutOpInterface>(op);
  bool isApart = rule && rule.givesAnyLayout();
  for (Value result : op->getResults()) {
    if (!isTile(result))
      continue;
    if (isRelated || isApart) {
      if (isRelated)
        relations.push_back({op, nodeOf(op), nodeOf(result)});
      unite(nodeOf(op->getResult(0)), nodeOf(result));
    } else {
      unite(nodeOf(op), nodeOf(result));
    }
  }
}

static double timesRun(Operation *op) {
  double times = 1;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      times *= 10;
  return times;
}

// ---- Costs and choices

double LayoutSolver::cost(const Group &group, const LinearLayout &layout) {
  double sum = layout.count(Place::Register) * layout.count(Place::Warp) * 0.01; // copies cost a little
  for (const auto &[access, times] : group.accesses)
    sum += times * accessCost(access, layout);
  for (const auto &[wanted, times] : group.products) // the accumulator there, the result back
    sum += 2 * times * convertCost(wanted, layout, elementBytes(group.type.getElementType()));
  for (const auto &[depth, times] : group.plainProducts) // each register a sum of so many products, copies too
    sum += times * static_cast<double>(depth) * layout.count(Place::Register) * layout.count(Place::Warp);
  for (const auto &[op, times] : group.reductions)
    sum += times * reduceCost(layout, cast<tile::ReduceOp>(op).getAxis());
  for (const Relation &relation : group.relations) {
    bool isResult = find(relation.results) == find(valueNodes.lookup(relation.op->getResult(0))) &&
                    &groups[find(relation.results)] == &group;
    const Group &other = groups[find(isResult ? relation.operands : relation.results)];
    if (!other.layout || &other == &group)
      continue;
    double times = timesRun(relation.op);
    int64_t bytes = elementBytes(getElementTypeOrSelf(relation.op->getResult(0).getType()));
    if (isResult) {
      if (auto given = resultLayout(relation.op, *other.layout))
        sum += times * convertCost(*given, layout, bytes);
    } else if (auto given = resultLayout(relation.op, layout)) {
      sum += times * convertCost(*given, *other.layout, bytes);
    }
  }
  return sum;
}

SmallVector<LinearLayout> LayoutSolver::suggestions(const Group &group) {
  SmallVector<LinearLayout> layouts;
  for (const Relation &relation : group.relations) {
    const Group &operands = groups[find(relation.operands)], &results = groups[find(relation.results)];
    std::optional<LinearLayout> layout;
    if (&results == &group && operands.layout)
      layout = resultLayout(relation.op, *operands.layout);
    else if (&operands == &group && results.layout)
      layout = operandLayout(relation.op, *results.layout);
    if (layout && !llvm::is_contained(layouts, *layout))
      layouts.push_back(std::move(*layout));
  }
  return layouts;
}

// Whether neighbours of a pack lie in registers of one thread.
static bool holdsPacks(const LinearLayout &layout, int64_t pack) {
  for (int64_t bit = 1; bit < pack; bit *= 2)
    if (!llvm::is_contained(layout.basesOf(Place::Register), static_cast<uint32_t>(bit)))
      return false;
  return true;
}

void LayoutSolver::choose(Group &group) {
  SmallVector<LinearLayout> candidates = suggestions(group);
  for (const auto &[access, times] : group.accesses)
    for (LinearLayout &layout : candidatesFor(access, block))
      if (!llvm::is_contained(candidates, layout))
        candidates.push_back(std::move(layout));
  for (const auto &[layout, times] : group.products)
    if (!llvm::is_contained(candidates, layout))
      candidates.push_back(layout);
  llvm::erase_if(candidates, [&](const LinearLayout &layout) { return !holdsPacks(layout, group.pack); });
  // A plain product without accesses would have nothing but what others suggest, which may be full of copies: of a
  // row's sums, say, all of a row in each thread.
  if (candidates.empty() || (!group.plainProducts.empty() && group.accesses.empty() && group.products.empty()))
    candidates.push_back(defaultLayout(group.type, block, group.pack));
  double least = 0;
  for (const LinearLayout &layout : candidates) {
    double sum = cost(group, layout);
    if (group.layout && sum >= least)
      continue;
    group.layout = layout;
    least = sum;
  }
}

void LayoutSolver::solve() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<func::FuncOp>(op))
      return WalkResult::advance();
    collect(op);
    // The regions of reductions and maps hold scalars.
    return isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  SmallVector<unsigned> roots;
  for (unsigned node = 0; node < parents.size(); ++node)
    if (find(node) == node) {
      groups[node].type = types[node];
      roots.push_back(node);
    }
  for (const Relation &relation : relations) {
    groups[find(relation.operands)].relations.push_back(relation);
    if (find(relation.operands) != find(relation.results))
      groups[find(relation.results)].relations.push_back(relation);
  }
  for (Operation *op : ordered) {
    Group &group = groups[find(operationNodes[op])];
    double times = timesRun(op);
    if (std::optional<AccessDescription> access = describeAccess(op, analysis)) {
      group.weight += times * access->type.getNumElements() * access->elementBytes;
      group.accesses.emplace_back(std::move(*access), times);
    } else if (auto plan = op->getAttrOfType<DotPlanAttr>(planAttribute)) {
      int64_t depth = cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back();
      group.weight += times * group.type.getNumElements() * depth;
      group.products.emplace_back(plan.getResult().getValue(), times);
    } else if (isa<tile::DotOp>(op)) {
      int64_t depth = cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back();
      group.plainProducts.emplace_back(depth, times);
    } else if (isa<tile::ReduceOp>(op)) {
      group.reductions.emplace_back(op, times);
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      group.pack = std::max<int64_t>(group.pack, map.getPack());
    } else if (auto assembly = dyn_cast<tile::InlineAsmOp>(op)) {
      group.pack = std::max<int64_t>(group.pack, assembly.getPack());
    }
  }
  // In the order of the program where weights are equal.
  llvm::sort(roots, [&](unsigned left, unsigned right) {
    return std::pair(-groups[left].weight, left) < std::pair(-groups[right].weight, right);
  });
  for (unsigned root : roots)
    if (!groups[root].accesses.empty() || !groups[root].products.empty() || groups[root].pack > 1)
      choose(groups[root]);
  // The rest, as their neighbours are decided.
  SmallVector<unsigned> open;
  llvm::copy_if(roots, std::back_inserter(open), [&](unsigned root) { return !groups[root].layout; });
  while (!open.empty()) {
    size_t before = open.size();
    llvm::erase_if(open, [&](unsigned root) {
      if (suggestions(groups[root]).empty())
        return false;
      choose(groups[root]);
      return true;
    });
    if (open.size() != before)
      continue;
    // Nothing is known: the largest tile begins.
    auto largest = llvm::max_element(open, [&](unsigned left, unsigned right) {
      return groups[left].type.getNumElements() < groups[right].type.getNumElements();
    });
    choose(groups[*largest]);
    open.erase(largest);
  }
  setAccessesApart();
}

// An access that its group's layout suits badly works in a layout of its own, its value converted, where that is
// cheaper; its addresses are computed again.
void LayoutSolver::setAccessesApart() {
  for (Operation *op : ordered) {
    Group &group = groups[find(operationNodes[op])];
    auto access = llvm::find_if(group.accesses, [&](const auto &entry) { return entry.first.op == op; });
    if (access == group.accesses.end() || !isa<tile::LoadOp, tile::StoreOp>(op))
      continue;
    Value value = isa<tile::StoreOp>(op) ? cast<tile::StoreOp>(op).getValue() : Value();
    bool mayMove = llvm::all_of(
        op->getOperands(), [&](Value operand) { return operand == value || !isTile(operand) || isCloned(operand); });
    if (!mayMove || (value && isCloned(value)))
      continue;
    double least = accessCost(access->first, *group.layout);
    for (const LinearLayout &layout : candidatesFor(access->first, block)) {
      double cost = accessCost(access->first, layout) + convertCost(*group.layout, layout, access->first.elementBytes);
      if (cost >= least)
        continue;
      least = cost;
      apart[op] = layout;
    }
  }
}

const LinearLayout *LayoutSolver::layoutOf(Operation *op) {
  if (auto own = apart.find(op); own != apart.end())
    return &own->second;
  auto found = operationNodes.find(op);
  return found == operationNodes.end() ? nullptr : &*groups[find(found->second)].layout;
}
