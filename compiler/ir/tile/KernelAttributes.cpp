// Attributes on other dialects' operations: names, accessors, verification.
#include "compiler/ir/tile/KernelAttributes.h"
#include "compiler/ir/tile/RoundedArithmetic.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nacre::tile;

namespace {

// Each hint once: its name and where it is kept. `visitor` is called with the name and the member.
template <typename Hints, typename Visitor> void visitHints(Hints &hints, Visitor visitor) {
  visitor("tile.num_stages", hints.numStages);
  visitor("tile.loop_unroll_factor", hints.unrollFactor);
  visitor("tile.disallow_acc_multi_buffer", hints.disallowAccMultiBuffer);
  visitor("tile.flatten", hints.flatten);
  visitor("tile.warp_specialize", hints.warpSpecialize);
  visitor("tile.disable_licm", hints.disableLicm);
}

// A count is an i32, a choice a bool, a flag that is set a unit.
struct Read {
  Operation *op;
  void operator()(StringRef name, std::optional<int32_t> &count) const {
    if (auto number = op->getAttrOfType<IntegerAttr>(name))
      count = static_cast<int32_t>(number.getInt());
  }
  void operator()(StringRef name, std::optional<bool> &choice) const {
    if (auto answer = op->getAttrOfType<BoolAttr>(name))
      choice = answer.getValue();
  }
  void operator()(StringRef name, bool &isSet) const { isSet = op->hasAttr(name); }
};

struct Write {
  Operation *op;
  void operator()(StringRef name, const std::optional<int32_t> &count) const {
    if (count)
      op->setAttr(name, Builder(op->getContext()).getI32IntegerAttr(*count));
  }
  void operator()(StringRef name, const std::optional<bool> &choice) const {
    if (choice)
      op->setAttr(name, BoolAttr::get(op->getContext(), *choice));
  }
  void operator()(StringRef name, bool isSet) const {
    if (isSet)
      op->setAttr(name, UnitAttr::get(op->getContext()));
  }
};

// Whether the attribute is one of those visited, and what is wrong with it if so.
struct Verify {
  Operation *op;
  NamedAttribute attribute;
  bool isKnown = false;
  LogicalResult result = success();

  bool is(StringRef name) {
    if (attribute.getName() != name)
      return false;
    return isKnown = true;
  }
  void require(bool holds, StringRef what) {
    if (!holds)
      result = op->emitOpError() << "attribute '" << attribute.getName().getValue() << "' must be " << what;
  }
  void operator()(StringRef name, const std::optional<int32_t> &) {
    if (!is(name))
      return;
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    require(number && number.getType().isSignlessInteger(32) && !number.getValue().isNegative(),
            "an i32 that is not negative");
  }
  void operator()(StringRef name, const std::optional<bool> &) {
    if (is(name))
      require(isa<BoolAttr>(attribute.getValue()), "true or false");
  }
  void operator()(StringRef name, bool) {
    if (is(name))
      require(isa<UnitAttr>(attribute.getValue()), "a unit attribute");
  }
};

} // namespace

LoopHints LoopHints::of(Operation *loop) {
  LoopHints hints;
  visitHints(hints, Read{loop});
  return hints;
}
void LoopHints::attachTo(Operation *loop) const { visitHints(*this, Write{loop}); }

LaunchOptions LaunchOptions::of(ModuleOp module) {
  LaunchOptions options;
  options.visit(Read{module});
  return options;
}
void LaunchOptions::attachTo(ModuleOp module) const { visit(Write{module}); }

// The calling convention of a kernel is known: a descriptor says how it arrives.
static LogicalResult verifyKernel(func::FuncOp function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<DescriptorType>(type) && !function.getArgAttr(i, fieldsAttribute))
      return function.emitOpError("argument ")
             << i << " is a descriptor and needs the attribute '" << fieldsAttribute << "'";
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  Verify verify{op, attribute};
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    LoopHints none;
    visitHints(none, [&](auto... member) { verify(member...); });
  } else if (isa<ModuleOp>(op)) {
    LaunchOptions().visit([&](auto... member) { verify(member...); });
  } else if (isa<func::FuncOp>(op)) {
    verify(kernelAttribute, false);
  } else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
    verify(roundedAttribute, false);
  }
  if (verify.isKnown && failed(verify.result))
    return failure();
  if (auto function = dyn_cast<func::FuncOp>(op); function && verify.isKnown)
    return verifyKernel(function);
  if (verify.isKnown)
    return success();
  return op->emitOpError() << "has no attribute '" << attribute.getName().getValue() << "' of the tile dialect";
}

// ---- Arguments

SmallVector<DescriptorField> nacre::tile::descriptorFields(func::FuncOp function, unsigned index) {
  SmallVector<DescriptorField> fields;
  auto types = function.getArgAttrOfType<ArrayAttr>(index, fieldsAttribute);
  auto divisors = function.getArgAttrOfType<DenseI64ArrayAttr>(index, fieldDivisibilityAttribute);
  if (!types)
    return fields;
  for (auto [i, attribute] : llvm::enumerate(types)) {
    DescriptorField &field = fields.emplace_back();
    if (auto type = dyn_cast<TypeAttr>(attribute))
      field.type = type.getValue();
    else
      field.number = cast<IntegerAttr>(attribute).getInt();
    if (divisors)
      field.divisibility = divisors[i];
  }
  return fields;
}

void nacre::tile::setDescriptorFields(func::FuncOp function, unsigned index, ArrayRef<DescriptorField> fields) {
  Builder builder(function.getContext());
  SmallVector<Attribute> types;
  SmallVector<int64_t> divisors;
  for (const DescriptorField &field : fields) {
    types.push_back(field.type ? Attribute(TypeAttr::get(field.type)) : builder.getI64IntegerAttr(field.number));
    divisors.push_back(field.divisibility);
  }
  function.setArgAttr(index, fieldsAttribute, builder.getArrayAttr(types));
  if (llvm::any_of(divisors, [](int64_t divisor) { return divisor != 1; }))
    function.setArgAttr(index, fieldDivisibilityAttribute, builder.getDenseI64ArrayAttr(divisors));
}

unsigned nacre::tile::argumentSlots(func::FuncOp function, unsigned index) {
  if (!isa<DescriptorType>(function.getArgument(index).getType()))
    return 1;
  return llvm::count_if(descriptorFields(function, index), [](const DescriptorField &field) { return field.type; });
}

static bool areFields(ArrayAttr fields, DescriptorType descriptor) {
  if (static_cast<int64_t>(fields.size()) != 2 * descriptor.getRank())
    return false;
  for (auto [i, attribute] : llvm::enumerate(fields)) {
    auto type = dyn_cast<TypeAttr>(attribute);
    bool fits = i == 0 ? type && isa<PointerType>(type.getValue()) &&
                             cast<PointerType>(type.getValue()).getPointee() == descriptor.getElementType()
                       : (type && type.getValue().isSignlessInteger()) || isa<IntegerAttr>(attribute);
    if (!fits)
      return false;
  }
  return true;
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned argument,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto refuse = [&](StringRef what) {
    return op->emitOpError() << "attribute '" << name << "' of argument " << argument << " must be " << what;
  };
  auto descriptor = dyn_cast<DescriptorType>(op->getRegion(region).getArgument(argument).getType());
  if (name == divisibilityAttribute && !descriptor) {
    auto divisor = dyn_cast<IntegerAttr>(attribute.getValue());
    bool fits = divisor && divisor.getType().isSignlessInteger(64) && divisor.getValue().isStrictlyPositive();
    return fits ? success() : LogicalResult(refuse("a positive i64"));
  }
  if (name == fieldsAttribute && descriptor) {
    auto fields = dyn_cast<ArrayAttr>(attribute.getValue());
    return fields && areFields(fields, descriptor)
               ? success()
               : LogicalResult(
                     refuse("the base's type, then one type or number for each extent and each stride but the last"));
  }
  if (name == fieldDivisibilityAttribute && descriptor) {
    auto divisors = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    bool fits = divisors && divisors.size() == 2 * descriptor.getRank() &&
                llvm::all_of(divisors.asArrayRef(), [](int64_t divisor) { return divisor > 0; });
    return fits ? success() : LogicalResult(refuse("one positive number for each field"));
  }
  if (name == paddingAttribute && descriptor)
    return isa<PaddingAttr>(attribute.getValue()) ? success() : LogicalResult(refuse("a padding"));
  return op->emitOpError() << "argument " << argument << " has no attribute '" << name << "' of the tile dialect";
}
