// See AxisInfo.h: the lattice, and the walk over a kernel.
#include "compiler/analysis/AxisInfo.h"
#include "compiler/analysis/AxisRules.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include <numeric>

using namespace mlir;
using namespace nacre;

// ---- The lattice

static int64_t bytesOf(Type element) {
  if (isa<tile::PointerType>(element))
    return 8;
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 1;
}

AxisInfo AxisInfo::unknown(Type type) {
  AxisInfo info;
  info.reached = true;
  for (int64_t extent : tile::shapeOf(type)) {
    AxisFacts axis;
    axis.extent = extent;
    info.facts.push_back(axis);
  }
  if (auto pointer = dyn_cast<tile::PointerType>(getElementTypeOrSelf(type)))
    info.unit = bytesOf(pointer.getPointee());
  return info;
}

int64_t AxisInfo::divisibilityAt(size_t axis, int64_t group) const {
  const AxisFacts &along = facts[axis];
  // The starts of such groups are starts of groups of the contiguity.
  if (group >= along.extent || group % along.contiguity == 0)
    return std::max(every, along.divisibility);
  // Else they lie so many elements after one.
  int64_t offset = along.contiguity >= along.extent ? group : std::gcd(group, along.contiguity);
  int64_t divisor = IntegerFacts::product(IntegerFacts::powerOfTwoIn(offset), unit);
  return std::max(every, std::min(along.divisibility, divisor));
}

AxisInfo AxisInfo::join(const AxisInfo &left, const AxisInfo &right) {
  if (!left.reached)
    return right;
  if (!right.reached)
    return left;
  AxisInfo both = left;
  both.every = std::min(left.every, right.every);
  for (auto [index, axis] : llvm::enumerate(both.facts)) {
    const AxisFacts &other = right.facts[index];
    axis.contiguity = std::gcd(axis.contiguity, other.contiguity);
    axis.run = std::gcd(axis.run, other.run);
    axis.constancy = std::gcd(axis.constancy, other.constancy);
    axis.divisibility =
        std::min(left.divisibilityAt(index, axis.contiguity), right.divisibilityAt(index, axis.contiguity));
  }
  return both;
}

void AxisInfo::print(raw_ostream &stream) const {
  if (!reached) {
    stream << "not reached";
    return;
  }
  for (auto [index, axis] : llvm::enumerate(facts)) {
    stream << (index ? ", " : "") << "axis " << index << ": contiguity " << axis.contiguity;
    if (axis.run != axis.contiguity)
      stream << " (run " << axis.run << ")";
    stream << " constancy " << axis.constancy << " divisibility " << axis.divisibility;
  }
  if (facts.empty())
    stream << "divisibility " << every;
}

// ---- The walk

namespace {

using AxisLattice = dataflow::Lattice<AxisInfo>;

class AxisDataflow : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  AxisDataflow(DataFlowSolver &solver, AxisRules rules) : SparseForwardDataFlowAnalysis(solver), rules(rules) {}

  LogicalResult visitOperation(Operation *op, ArrayRef<const AxisLattice *> operands,
                               ArrayRef<AxisLattice *> results) override {
    SmallVector<const AxisInfo *> infos;
    for (const AxisLattice *operand : operands) {
      infos.push_back(&operand->getValue());
      if (!infos.back()->isReached())
        return success(); // asked again once it is
    }
    for (auto [index, lattice] : llvm::enumerate(results))
      propagateIfChanged(lattice, lattice->join(rules.result(op->getResult(index), infos)));
    return success();
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor, ArrayRef<AxisLattice *> arguments,
                                    unsigned first) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments, first);
    ProgramPoint *start = getProgramPointBefore(loop.getBody());
    const AxisInfo &lower = getLatticeElementFor(start, loop.getLowerBound())->getValue();
    const AxisInfo &step = getLatticeElementFor(start, loop.getStep())->getValue();
    if (lower.isReached() && step.isReached())
      propagateIfChanged(arguments[0], arguments[0]->join(rules.index(loop.getInductionVar(), lower, step)));
  }

  void setToEntryState(AxisLattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(rules.entry(lattice->getAnchor())));
  }

private:
  AxisRules rules;
};

} // namespace

AxisAnalysis::AxisAnalysis(Operation *root, Remainders remainders) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<AxisDataflow>(AxisRules(integers, remainders == Remainders::Trusted ? &trusted : nullptr));
  if (failed(solver.initializeAndRun(root)))
    llvm::report_fatal_error("axis information: the dataflow analysis did not run");
}

AxisAnalysis::~AxisAnalysis() = default;

const AxisInfo &AxisAnalysis::info(Value value) {
  if (const auto *lattice = solver.lookupState<AxisLattice>(value); lattice && lattice->getValue().isReached())
    return lattice->getValue();
  auto [entry, isNew] = others.try_emplace(value);
  if (isNew)
    entry->second = AxisInfo::unknown(value.getType());
  return entry->second;
}
