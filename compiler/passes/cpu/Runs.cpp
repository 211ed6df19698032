// Lanes in runs: from one multiple of a divisor to the next, quotients by it are one number and remainders a line.
//
// Rows of an image that lie one after the other are walked by such indices (x % 28, x / 28). Where no power of two as
// large as a vector divides both, steps of whole vectors would cross from one row into the next; so the lanes are taken
// run by run, each by whole vectors and one masked vector at its end. With several divisors a run ends where the first
// of them does.
//
// Legal for loops of loads, values and stores: lanes beyond the end of a run compute numbers that are not used, and
// neither read nor write memory (Nest::withinSpan). Dividends and divisors are checked before the lanes: runs are taken
// where the first dividend is not negative and the divisor positive, and the rest is computed in vectors.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/tile/LegalizeIntegers.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

bool Nest::takesRuns() const {
  return !members.empty() && !customBody && reductions.empty() && movedLevel < 0 && order.back() == lane;
}

// Shorter ones are not worth it; a divisor that only the launch knows is taken to be long enough.
bool Nest::hasLongRuns(Value divisor) {
  constexpr int64_t shortest = 8;
  return lowering.facts.range(divisor).high >= shortest;
}

void Nest::settleRemainders() {
  auto isOfDivision = [](const Assumable &entry) {
    return entry.kind == Assumable::Kind::Remainder || entry.kind == Assumable::Kind::Stepwise ||
           entry.kind == Assumable::Kind::Run;
  };
  int64_t lanes = lowering.target.vectorBytes / std::max<int64_t>(elementBytes, 4);
  bool runs = takesRuns() && llvm::any_of(assumable, [&](const Assumable &entry) {
                return isOfDivision(entry) && stepDivisor(entry.value.getDefiningOp(), entry.coordinates) < lanes &&
                       hasLongRuns(entry.value.getDefiningOp()->getOperand(1));
              });
  if (!runs) {
    llvm::erase_if(assumable, [](const Assumable &entry) { return entry.kind == Assumable::Kind::Run; });
    for (const Assumable &entry : assumable)
      if (entry.kind == Assumable::Kind::Stepwise) {
        int64_t divisor = stepDivisor(entry.value.getDefiningOp(), entry.coordinates);
        widthLimit = widthLimit ? std::min(widthLimit, divisor) : divisor;
      }
    return;
  }
  llvm::erase_if(assumable, [&](const Assumable &entry) {
    return isOfDivision(entry) && !hasLongRuns(entry.value.getDefiningOp()->getOperand(1));
  });
  for (Assumable &entry : assumable)
    if (isOfDivision(entry))
      entry.kind = Assumable::Kind::Run;
  widthLimit = widthLimit ? std::min(widthLimit, lanes) : lanes;
}

// The lanes [from, to): whole vectors, then a masked one.
void Nest::emitSpan(Value from, Value to, const Segment &part, const std::function<void()> &inner) {
  Value count = b.maxSigned(b.sub(to, from), b.index(0));
  Value whole = b.add(from, arith::AndIOp::create(b, count, b.index(~(fullWidth - 1))));
  emitLaneLoop(from, whole, fullWidth, part, inner);
  Value left = b.sub(to, whole);
  auto branch = scf::IfOp::create(b, TypeRange{}, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left, b.index(0)),
                                  /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  indices[lane] = whole;
  width = fullWidth;
  Segment end = part;
  end.spanLeft = left;
  llvm::SaveAndRestore within(segment, end);
  inner();
}

void Nest::emitRuns(const Segment &base, const std::function<void()> &inner) {
  Value extent = b.index(shape[lane]), limit = extent;
  for (Assumable &entry : assumable)
    limit = b.minSigned(limit, probe(entry));
  limit = b.maxSigned(limit, b.index(0));

  Type type = b.getI64Type();
  auto runs = scf::WhileOp::create(b, TypeRange{type}, ValueRange{b.index(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&runs.getBefore(), {}, {type}, {b.getLoc()});
    Value next = before->getArgument(0);
    scf::ConditionOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next, limit), ValueRange{next});
    Block *after = b.createBlock(&runs.getAfter(), {}, {type}, {b.getLoc()});
    Value runStart = after->getArgument(0), end = limit;
    for (Assumable &entry : assumable) {
      if (entry.kind != Assumable::Kind::Run)
        continue;
      Value dividend = b.add(entry.first, b.resize(runStart, entry.first.getType()));
      entry.quotient = arith::DivUIOp::create(b, dividend, entry.divisor);
      entry.start = b.sub(dividend, b.mul(entry.quotient, entry.divisor));
      Value left = b.sub(b.toI64(entry.divisor), b.toI64(entry.start));
      end = b.minSigned(end, b.add(runStart, left));
    }
    Segment run = base;
    run.assumption = Segment::Assumption::Holds;
    run.runStart = runStart;
    emitSpan(runStart, end, run, inner);
    scf::YieldOp::create(b, end);
  }
  emitSpan(limit, extent, base, inner);
}

// The mask of an access along the lanes, of those that belong to the span alone.
std::optional<Lanes> Nest::withinSpan(std::optional<Lanes> mask) {
  Value spanLeft = segment.spanLeft;
  if (!spanLeft)
    return mask;
  Lanes span = Lanes::prefix(spanLeft);
  if (!mask || (mask->isUniform() && Emit::isKnown(mask->value, -1)))
    return span;
  if (mask->isPrefix() && planted(PlantedBug::RunTailMask))
    return span;
  if (mask->isPrefix())
    return Lanes::prefix(b.minSigned(mask->value, spanLeft));
  if (mask->isUniform())
    return Lanes::prefix(b.select(mask->value, spanLeft, b.index(0)));
  return Lanes::varying(arith::AndIOp::create(b, maskVector(*mask), maskVector(span)));
}

// ---- What is assumed of one quotient, remainder or bound

Value Nest::probe(Assumable &entry) {
  if (entry.kind == Assumable::Kind::Bound) {
    Lanes lanes = evaluateRow(entry.value, entry.coordinates);
    assert(lanes.isPrefix() && "a bound holds for the first lanes");
    return lanes.value;
  }
  Operation *op = entry.value.getDefiningOp();
  Value start = evaluateElement(op->getOperand(0), entry.coordinates, 0);
  Value divisor = evaluateElement(op->getOperand(1), entry.coordinates, 0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(positions[llvm::find(order, lane) - order.begin()].anchor);
  if (entry.kind == Assumable::Kind::Start) { // once true it stays so
    auto predicate = cast<arith::CmpIOp>(op).getPredicate();
    Value holds = arith::CmpIOp::create(b, predicate, start, divisor);
    return b.select(holds, b.index(shape[lane]), b.index(0));
  }
  Value positive = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, start, b.zero(start.getType()));
  if (entry.kind == Assumable::Kind::Stepwise)
    return b.select(positive, b.index(shape[lane]), b.index(0));
  if (entry.kind == Assumable::Kind::Run) {
    entry.first = start;
    entry.divisor = divisor;
    Value divides = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, divisor, b.zero(divisor.getType()));
    return b.select(arith::AndIOp::create(b, positive, divides), b.index(shape[lane]), b.index(0));
  }
  entry.start = remainderSigned(b, start, divisor);
  entry.divisor = divisor;
  Value upTo = b.sub(b.toI64(divisor), b.toI64(entry.start));
  return planted(PlantedBug::RemainderLineNegative) ? upTo : b.select(positive, upTo, b.index(0));
}

// What the entry is where it holds (or, for a bound, where it fails).
Lanes Nest::assumed(const Assumable &entry) {
  if (entry.kind == Assumable::Kind::Bound || entry.kind == Assumable::Kind::Start)
    return Lanes::uniform(b.constant(b.getI1Type(), segment.assumption == Segment::Assumption::Holds));
  Operation *op = entry.value.getDefiningOp();
  if (entry.kind == Assumable::Kind::Stepwise) {
    Value start = evaluate(op->getOperand(0), entry.coordinates).value,
          divisor = evaluate(op->getOperand(1), entry.coordinates).value;
    if (isa<arith::DivSIOp>(op))
      return Lanes::uniform(divideSigned(b, start, divisor));
    Value first = remainderSigned(b, start, divisor);
    return width == 1 ? Lanes::uniform(first) : Lanes::linear(first, b.constant(first.getType(), 1));
  }
  Type type = entry.start.getType();
  if (entry.kind == Assumable::Kind::Run) {
    if (isa<arith::DivSIOp>(op))
      return Lanes::uniform(entry.quotient);
    Value first = b.add(entry.start, b.resize(b.sub(indices[lane], segment.runStart), type));
    return Lanes::linear(first, b.constant(type, 1));
  }
  Value start = segment.assumption == Segment::Assumption::Wrapped ? b.sub(entry.start, entry.divisor) : entry.start;
  Value first = b.add(start, b.resize(indices[lane], type));
  return width == 1 ? Lanes::uniform(first) : Lanes::linear(first, b.constant(type, 1));
}
