// What the lowering states about a kernel for those who launch it: attributes of the module, arrays of the facts' texts.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace nacre::simt {

// No facts: no attribute.
template <typename Fact> void state(mlir::ModuleOp module, llvm::StringRef attribute, const std::vector<Fact> &facts) {
  llvm::SmallVector<mlir::Attribute> texts;
  for (const Fact &fact : facts)
    texts.push_back(mlir::StringAttr::get(module.getContext(), fact.text()));
  if (!texts.empty())
    module->setAttr(attribute, mlir::ArrayAttr::get(module.getContext(), texts));
}

template <typename Fact> std::vector<Fact> stated(mlir::ModuleOp module, llvm::StringRef attribute) {
  std::vector<Fact> facts;
  if (auto texts = module->getAttrOfType<mlir::ArrayAttr>(attribute))
    for (auto text : texts.getAsRange<mlir::StringAttr>()) {
      std::optional<Fact> fact = Fact::parse(text.getValue());
      assert(fact && "the text of a fact that the lowering stated");
      facts.push_back(std::move(*fact));
    }
  return facts;
}

} // namespace nacre::simt
