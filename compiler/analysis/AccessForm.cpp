// See AccessForm.h.
#include "compiler/analysis/AccessForm.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;
using namespace nacre;

// ---- Terms

bool AccessTerm::isLike(const AccessTerm &other) const {
  if (axis != other.axis || tile != other.tile || tileAxis != other.tileAxis || scalars.size() != other.scalars.size())
    return false;
  return std::is_permutation(scalars.begin(), scalars.end(), other.scalars.begin());
}

SmallVector<const AccessTerm *> AccessForm::along(int axis) const {
  SmallVector<const AccessTerm *> found;
  for (const AccessTerm &term : terms)
    if (term.axis == axis)
      found.push_back(&term);
  return found;
}

static AccessForm number(int64_t constant) {
  AccessForm form;
  if (constant != 0)
    form.terms.emplace_back().constant = constant;
  return form;
}

// None where a constant does not fit, or the sum is too long.
static std::optional<AccessForm> add(const AccessForm &left, const AccessForm &right, int64_t scale) {
  AccessForm sum = left;
  sum.isWhole = left.isWhole && right.isWhole;
  for (AccessTerm term : right.terms) {
    if (__builtin_mul_overflow(term.constant, scale, &term.constant))
      return std::nullopt;
    auto like = llvm::find_if(sum.terms, [&](const AccessTerm &other) { return other.isLike(term); });
    if (like == sum.terms.end())
      sum.terms.push_back(std::move(term));
    else if (__builtin_add_overflow(like->constant, term.constant, &like->constant))
      return std::nullopt;
    else if (like->constant == 0)
      sum.terms.erase(like);
  }
  return sum.terms.size() <= AccessForms::mostTerms ? std::optional(sum) : std::nullopt;
}

// Where one side is the same for every element, and scalars say all of it.
static std::optional<AccessForm> multiply(const AccessForm &left, const AccessForm &right) {
  auto isScalar = [](const AccessForm &form) {
    return llvm::all_of(form.terms, [](const AccessTerm &term) { return term.axis < 0 && term.isAffine(); });
  };
  if (!isScalar(right))
    return isScalar(left) ? multiply(right, left) : std::nullopt;
  AccessForm product = number(0);
  product.isWhole = left.isWhole && right.isWhole;
  for (const AccessTerm &factor : right.terms) {
    AccessForm scaled = left;
    for (AccessTerm &term : scaled.terms)
      term.scalars.append(factor.scalars.begin(), factor.scalars.end());
    std::optional<AccessForm> sum = add(product, scaled, factor.constant);
    if (!sum)
      return std::nullopt;
    product = std::move(*sum);
  }
  return product;
}

// ---- Values

SmallVector<int> AccessForms::axesOf(Value value) {
  SmallVector<int> result;
  for (auto [index, axis] : llvm::enumerate(axes.info(value).axes()))
    if (axis.constancy < axis.extent)
      result.push_back(static_cast<int>(index));
  return result;
}

const AccessForm *AccessForms::form(Value value) {
  if (auto found = forms.find(value); found != forms.end())
    return found->second.get();
  std::optional<AccessForm> computed = compute(value);
  auto &entry = forms[value];
  if (computed)
    entry = std::make_unique<AccessForm>(std::move(*computed));
  return entry.get();
}

std::optional<AccessForm> AccessForms::opaque(Value value) {
  SmallVector<int> varies = axesOf(value);
  if (varies.size() > 1)
    return std::nullopt;
  int axis = varies.empty() ? -1 : varies.front();
  AccessForm form;
  if (tile::isPointerLike(value.getType())) {
    form.base = value;
    form.baseAxis = form.baseTileAxis = axis;
    return form;
  }
  AccessTerm &term = form.terms.emplace_back();
  term.axis = term.tileAxis = axis;
  term.tile = value;
  return form;
}

std::optional<AccessForm> AccessForms::compute(Value value) {
  if (!isa<RankedTensorType>(value.getType())) {
    AccessForm form;
    if (tile::isPointerLike(value.getType()))
      form.base = value;
    else if (std::optional<int64_t> constant = getConstantIntValue(value))
      form = number(*constant);
    else
      form.terms.emplace_back().scalars.push_back(value);
    return form;
  }
  bool isSummed = tile::isPointerLike(value.getType()) || tile::isIntegerLike(value.getType());
  Operation *op = value.getDefiningOp();
  if (op && isSummed && !tile::isMaskLike(value.getType()))
    if (std::optional<AccessForm> form = computeOperation(op))
      return form;
  return opaque(value);
}

// The form of the source of an operation that gives elements new places: axis i of the source is axis `axisOf[i]`.
static AccessForm moved(const AccessForm &source, ArrayRef<int> axisOf) {
  AccessForm form = source;
  for (AccessTerm &term : form.terms)
    if (term.axis >= 0)
      term.axis = axisOf[term.axis];
  if (form.baseAxis >= 0)
    form.baseAxis = axisOf[form.baseAxis];
  return form;
}

// Where each axis of the operand is found in the result; none where the operation computes, or moves in another way.
static std::optional<SmallVector<int>> axesOfOperand(Operation *op) {
  SmallVector<int> axisOf;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    for (int axis = 0; axis < expand.getSource().getType().getRank(); ++axis)
      axisOf.push_back(axis + (axis >= static_cast<int>(expand.getAxis())));
    return axisOf;
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    for (int axis = 0; axis < broadcast.getType().getRank(); ++axis)
      axisOf.push_back(axis);
    return axisOf;
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    axisOf.resize(permute.getOrder().size());
    for (auto [axis, source] : llvm::enumerate(permute.getOrder()))
      axisOf[source] = static_cast<int>(axis);
    return axisOf;
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) { // one that inserts and drops axes of extent 1
    ArrayRef<int64_t> from = reshape.getSource().getType().getShape(), to = reshape.getType().getShape();
    size_t axis = 0;
    for (int64_t extent : from) {
      if (extent == 1) {
        axisOf.push_back(-1);
        continue;
      }
      while (axis < to.size() && to[axis] == 1)
        ++axis;
      if (axis == to.size() || to[axis] != extent)
        return std::nullopt;
      axisOf.push_back(static_cast<int>(axis++));
    }
    return axisOf;
  }
  return std::nullopt;
}

std::optional<AccessForm> AccessForms::computeOperation(Operation *op) {
  Value result = op->getResult(0);
  if (tile::isIntegerLike(result.getType()))
    if (IntegerRange range = axes.range(result); range.low == range.high)
      return number(range.low);
  if (auto arange = dyn_cast<tile::ArangeOp>(op)) {
    AccessForm form = number(static_cast<int64_t>(arange.getStart()));
    form.terms.emplace_back().axis = 0;
    return form;
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return *form(splat.getSource());
  if (isa<tile::HintOp>(op)) {
    const AccessForm *source = form(op->getOperand(0));
    return source ? std::optional(*source) : std::nullopt;
  }
  if (std::optional<SmallVector<int>> axisOf = axesOfOperand(op)) {
    const AccessForm *source = form(op->getOperand(0));
    return source ? std::optional(moved(*source, *axisOf)) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
           tile::AddPtrOp>(op))
    return std::nullopt;
  const AccessForm *left = form(op->getOperand(0));
  const AccessForm *right = op->getNumOperands() > 1 ? form(op->getOperand(1)) : nullptr;
  if (!left || (op->getNumOperands() > 1 && !right))
    return std::nullopt;
  std::optional<AccessForm> combined;
  bool isWhole = true;
  IntegerFacts &integers = axes.integerFacts();
  if (isa<arith::ExtSIOp>(op)) {
    combined = *left;
  } else if (isa<arith::ExtUIOp>(op)) {
    if (axes.range(op->getOperand(0)).low < 0)
      return std::nullopt; // -1 becomes a large number
    combined = *left;
  } else if (isa<tile::AddPtrOp>(op)) {
    combined = add(*left, *right, 1);
  } else if (isa<arith::ShLIOp>(op)) {
    IntegerRange shift = axes.range(op->getOperand(1));
    unsigned bits = getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth();
    if (shift.low != shift.high || shift.low < 0 || shift.low >= std::min<int64_t>(bits, 62))
      return std::nullopt;
    combined = multiply(*left, number(int64_t(1) << shift.low));
    isWhole = integers.neverWraps(op);
  } else {
    if (isa<arith::MulIOp>(op))
      combined = multiply(*left, *right);
    else if (isa<arith::TruncIOp>(op))
      combined = *left;
    else
      combined = add(*left, *right, isa<arith::SubIOp>(op) ? -1 : 1);
    isWhole = integers.neverWraps(op);
  }
  if (combined)
    combined->isWhole &= isWhole;
  // A narrow number that wraps is no address by itself.
  unsigned bits = isa<tile::AddPtrOp>(op) ? 64 : getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth();
  if (combined && !combined->isWhole && bits < 32)
    return std::nullopt;
  return combined;
}

// ---- Masks

std::optional<SignedBound> nacre::asSignedBound(arith::CmpIOp op) {
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return SignedBound{op.getLhs(), op.getRhs(), true};
  case arith::CmpIPredicate::sle:
    return SignedBound{op.getLhs(), op.getRhs(), false};
  case arith::CmpIPredicate::sgt:
    return SignedBound{op.getRhs(), op.getLhs(), true};
  case arith::CmpIPredicate::sge:
    return SignedBound{op.getRhs(), op.getLhs(), false};
  default:
    return std::nullopt;
  }
}

MaskForm AccessForms::mask(Value mask) {
  MaskForm result;
  SmallVector<int> axisOf;
  for (size_t axis = 0; axis < axes.info(mask).rank(); ++axis)
    axisOf.push_back(static_cast<int>(axis));
  Visited visited;
  collect(mask, axisOf, result, visited);
  return result;
}

// `axisOf`: where each axis of `mask` is in the whole.
void AccessForms::collect(Value mask, ArrayRef<int> axisOf, MaskForm &result, Visited &visited) {
  Operation *op = mask.getDefiningOp();
  if (op && isa<arith::AndIOp>(op)) {
    uint64_t places = 1;
    for (int axis : axisOf)
      places = places * 32 + static_cast<uint64_t>(axis + 1);
    if (visited.insert({mask, places}).second)
      for (Value operand : op->getOperands())
        collect(operand, axisOf, result, visited);
    return;
  }
  if (auto splat = mask.getDefiningOp<tile::SplatOp>())
    return collect(splat.getSource(), {}, result, visited);
  if (op)
    if (std::optional<SmallVector<int>> moves = axesOfOperand(op)) {
      SmallVector<int> inner;
      for (int axis : *moves)
        inner.push_back(axis < 0 ? -1 : axisOf[axis]);
      return collect(op->getOperand(0), inner, result, visited);
    }
  if (matchPattern(mask, m_One()))
    return;
  SmallVector<int> varies = axesOf(mask);
  if (varies.size() > 1) {
    result.others.push_back(mask);
    return;
  }
  MaskCondition condition;
  condition.condition = mask;
  if (!varies.empty()) {
    condition.conditionAxis = varies.front();
    condition.axis = axisOf[varies.front()];
  }
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  if (auto bound = compare ? asSignedBound(compare) : std::nullopt) {
    const AccessForm *low = form(bound->low), *high = form(bound->high);
    bool isBound =
        low && high && low->isWhole && high->isWhole && (axesOf(bound->low).empty() || axesOf(bound->high).empty());
    if (isBound) {
      condition.low = moved(*low, axisOf);
      condition.high = moved(*high, axisOf);
      condition.isStrict = bound->isStrict;
    }
  }
  result.conditions.push_back(condition);
}

// ---- Printing

static void printName(raw_ostream &stream, Value value, AsmState &names) { value.printAsOperand(stream, names); }

void AccessForm::print(raw_ostream &stream, AsmState &names) const {
  bool isFirst = true;
  auto separate = [&] {
    stream << (isFirst ? "" : " + ");
    isFirst = false;
  };
  if (base) {
    separate();
    printName(stream, base, names);
    if (baseAxis >= 0)
      stream << "[i" << baseAxis << "]";
  }
  for (const AccessTerm &term : terms) {
    separate();
    bool hasFactor = term.axis >= 0 || term.tile || !term.scalars.empty();
    if (term.constant != 1 || !hasFactor)
      stream << term.constant << (hasFactor ? " * " : "");
    for (auto [index, scalar] : llvm::enumerate(term.scalars)) {
      stream << (index ? " * " : "");
      printName(stream, scalar, names);
    }
    if (!term.scalars.empty() && (term.axis >= 0 || term.tile))
      stream << " * ";
    if (term.tile)
      printName(stream, term.tile, names);
    if (term.tile && term.axis >= 0)
      stream << "[i" << term.axis << "]";
    else if (term.axis >= 0)
      stream << "i" << term.axis;
  }
  if (isFirst)
    stream << "0";
  if (!isWhole)
    stream << " (where nothing wraps)";
}

void MaskForm::print(raw_ostream &stream, AsmState &names) const {
  for (auto [index, condition] : llvm::enumerate(conditions)) {
    stream << (index ? " and " : "");
    if (condition.low) {
      condition.low->print(stream, names);
      stream << (condition.isStrict ? " < " : " <= ");
      condition.high->print(stream, names);
      continue;
    }
    printName(stream, condition.condition, names);
    if (condition.axis >= 0)
      stream << "[i" << condition.axis << "]";
  }
  for (Value other : others) {
    stream << (conditions.empty() && other == others.front() ? "" : " and ");
    printName(stream, other, names);
  }
  if (conditions.empty() && others.empty())
    stream << "true";
}
