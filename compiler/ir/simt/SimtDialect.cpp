// Registration of the simt dialect, its attributes and types, and what is asked of the module.
#include "compiler/ir/simt/LayoutRules.h"
#include "compiler/ir/simt/Simt.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

#include "compiler/ir/simt/SimtDialect.cpp.inc"
#include "compiler/ir/simt/SimtInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/simt/SimtAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/simt/SimtTypes.cpp.inc"

namespace {
// A layout is printed once, at the top of the text: #layout, #layout1.
struct LayoutNames : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &stream) const override {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    stream << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void SimtDialect::initialize() {
  addInterfaces<LayoutNames>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/simt/SimtAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/simt/SimtTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/simt/Simt.cpp.inc"
      >();
  attachLayoutRules(getContext());
}

// ---- #simt.layout<"[8, 16] register b1 b2 lane b4 b8 a1 a2 a4">

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text, problem;
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &problem);
  if (!layout) {
    parser.emitError(parser.getCurrentLocation(), "no layout: ") << problem;
    return {};
  }
  return get(parser.getContext(), std::move(*layout));
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<\"" << getValue().text() << "\">"; }

// ---- !simt.shared<64x32xf16, #simt.layout<...>, 3>

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  LayoutAttr layout;
  int64_t stages = 1;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseInteger(stages))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), shape, element, layout,
                    stages);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << (getShape().empty() ? "" : "x") << getElementType() << ", " << getLayout();
  if (getStages() != 1)
    printer << ", " << getStages();
  printer << ">";
}

LogicalResult SharedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type,
                                 LayoutAttr layout, int64_t stages) {
  const LinearLayout &map = layout.getValue();
  if (LinearLayout::paddedBits(shape) != SmallVector<unsigned>(map.axisBits()))
    return emitError() << "a shared tile's layout is of another shape: " << layout;
  std::optional<LinearLayout> own = map.ofOneBlock();
  if (map.bits(Place::Offset) + map.bits(Place::Block) != map.inputBits() || !own || !own->isInjective() ||
      !own->isSurjective())
    return emitError() << "a shared tile's layout gives every offset one element: " << layout;
  if (stages < 1)
    return emitError() << "a ring has at least one stage, not " << stages;
  return success();
}

// Both powers of two.
int64_t SharedType::stageBytes() const {
  int64_t elements = getLayout().getValue().count(Place::Offset);
  return std::max(elements * elementBytes(getElementType()), leastAlignment);
}

int64_t SharedType::alignment() const { return std::min(stageBytes(), mostAlignment); }

SharedType SharedType::withStages(int64_t stages) const {
  return get(getContext(), getShape(), getElementType(), getLayout(), stages);
}

int64_t nacre::simt::elementBytes(Type element) {
  if (isa<tile::PointerType>(element))
    return 8;
  if (isa<tile::Float8E4B15Type>(element))
    return 1;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

// ---- The module

static int64_t numberOf(ModuleOp module, StringRef name, int64_t otherwise) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

BlockShape BlockShape::of(ModuleOp module) {
  BlockShape shape;
  return {numberOf(module, numWarpsAttribute, shape.warps), numberOf(module, lanesAttribute, shape.lanes),
          numberOf(module, numCtasAttribute, shape.ctas)};
}

int64_t nacre::simt::producerWarps(ModuleOp module) { return numberOf(module, producerWarpsAttribute, 0); }

void BlockShape::attachTo(ModuleOp module) const {
  Type i32 = IntegerType::get(module.getContext(), 32);
  module->setAttr(numWarpsAttribute, IntegerAttr::get(i32, warps));
  module->setAttr(lanesAttribute, IntegerAttr::get(i32, lanes));
  if (ctas > 1)
    module->setAttr(numCtasAttribute, IntegerAttr::get(i32, ctas));
}

const LinearLayout &nacre::simt::layoutOf(Type type) {
  return cast<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()).getValue();
}

RankedTensorType nacre::simt::withLayout(Type type, const LinearLayout &layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), LayoutAttr::get(type.getContext(), layout));
}
