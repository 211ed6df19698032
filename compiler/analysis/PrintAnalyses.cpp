// See PrintAnalyses.h.
#include "compiler/analysis/PrintAnalyses.h"
#include "compiler/analysis/AccessForm.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nacre;

namespace {

struct PrintAxisInfo : PassWrapper<PrintAxisInfo, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfo)
  PrintAxisInfo() = default;
  PrintAxisInfo(const PrintAxisInfo &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "print-axis-info"; }
  StringRef getDescription() const override { return "Write contiguity, constancy and divisibility beside each value"; }
  Option<bool> trusts{*this, "trust", llvm::cl::desc("Take what is divided for not negative"), llvm::cl::init(false)};

  void runOnOperation() override {
    using Remainders = AxisAnalysis::Remainders;
    AxisAnalysis axes(getOperation(), trusts ? Remainders::Trusted : Remainders::Proved);
    OpBuilder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      for (Value result : op->getResults()) {
        Type element = getElementTypeOrSelf(result.getType());
        if (!isa<IntegerType, tile::PointerType>(element))
          continue;
        stream << (text.empty() ? "" : "; ");
        axes.info(result).print(stream);
        if (isa<tile::PointerType>(element) || element.isInteger(1))
          continue;
        IntegerRange range = axes.range(result);
        unsigned bits = element.getIntOrFloatBitWidth();
        if (range.low != llvm::minIntN(bits) || range.high != llvm::maxIntN(bits))
          stream << " range [" << range.low << ", " << range.high << "]";
      }
      if (!text.empty())
        op->setAttr("axis_info", builder.getStringAttr(text));
      for (Value trusted : axes.trustedNonNegative())
        if (trusted.getDefiningOp() == op)
          op->setAttr("trusted_non_negative", builder.getUnitAttr());
    });
  }
};

struct PrintAccessForms : PassWrapper<PrintAccessForms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAccessForms)
  StringRef getArgument() const override { return "print-access-forms"; }
  StringRef getDescription() const override {
    return "Write beside each access its address and mask, taken apart by axis";
  }

  void runOnOperation() override {
    AxisAnalysis axes(getOperation());
    AccessForms forms(axes);
    OpBuilder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      AsmState names(function);
      SmallVector<std::tuple<Operation *, std::string, std::string>> found;
      function.walk([&](Operation *op) {
        Value pointer, mask;
        if (auto load = dyn_cast<tile::LoadOp>(op))
          pointer = load.getPointer(), mask = load.getMask();
        else if (auto store = dyn_cast<tile::StoreOp>(op))
          pointer = store.getPointer(), mask = store.getMask();
        else if (auto atomic = dyn_cast<tile::AtomicRmwOp>(op))
          pointer = atomic.getPointer(), mask = atomic.getMask();
        else
          return;
        std::string access, conditions;
        llvm::raw_string_ostream accessStream(access), conditionStream(conditions);
        if (const AccessForm *form = forms.form(pointer))
          form->print(accessStream, names);
        else
          accessStream << "not separable";
        if (mask)
          forms.mask(mask).print(conditionStream, names);
        found.emplace_back(op, access, conditions);
      });
      for (auto &[op, access, conditions] : found) {
        op->setAttr("access", builder.getStringAttr(access));
        if (!conditions.empty())
          op->setAttr("mask_form", builder.getStringAttr(conditions));
      }
    }
  }
};

} // namespace

void nacre::registerPrintAnalyses() {
  PassRegistration<PrintAxisInfo>();
  PassRegistration<PrintAccessForms>();
}
