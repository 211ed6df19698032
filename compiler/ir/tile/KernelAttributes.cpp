// Attributes on other dialects' operations: names, accessors, verification.
#include "compiler/ir/tile/KernelAttributes.h"
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nacre::tile;

namespace {

// Each hint and each option once: its name and where it is kept. `visitor` is called with the name and the member.
template <typename Hints, typename Visitor> void visitHints(Hints &hints, Visitor visitor) {
  visitor("tile.num_stages", hints.numStages);
  visitor("tile.loop_unroll_factor", hints.unrollFactor);
  visitor("tile.disallow_acc_multi_buffer", hints.disallowAccMultiBuffer);
  visitor("tile.flatten", hints.flatten);
  visitor("tile.warp_specialize", hints.warpSpecialize);
  visitor("tile.disable_licm", hints.disableLicm);
}

template <typename Options, typename Visitor> void visitOptions(Options &options, Visitor visitor) {
  visitor("tile.num_warps", options.numWarps);
  visitor("tile.num_stages", options.numStages);
  visitor("tile.num_ctas", options.numCtas);
  visitor("tile.maxnreg", options.maxRegisters);
  visitor("tile.enable_fp_fusion", options.fpFusion);
  visitor("tile.launch_cooperative_grid", options.cooperativeGrid);
  visitor("tile.launch_pdl", options.dependentLaunch);
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
  visitOptions(options, Read{module});
  return options;
}
void LaunchOptions::attachTo(ModuleOp module) const { visitOptions(*this, Write{module}); }

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  Verify verify{op, attribute};
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    LoopHints none;
    visitHints(none, [&](auto... member) { verify(member...); });
  } else if (isa<ModuleOp>(op)) {
    LaunchOptions none;
    visitOptions(none, [&](auto... member) { verify(member...); });
  } else if (isa<func::FuncOp>(op)) {
    verify(kernelAttribute, false);
  }
  if (verify.isKnown)
    return verify.result;
  return op->emitOpError() << "has no attribute '" << attribute.getName().getValue() << "' of the tile dialect";
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != divisibilityAttribute)
    return op->emitOpError() << "argument " << argument << " has no attribute '" << attribute.getName().getValue()
                             << "' of the tile dialect";
  auto divisor = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!divisor || !divisor.getType().isSignlessInteger(64) || !divisor.getValue().isStrictlyPositive())
    return op->emitOpError() << "attribute '" << divisibilityAttribute << "' of argument " << argument
                             << " must be a positive i64";
  return success();
}
