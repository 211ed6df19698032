// See InlinePtx.h.
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/support/PlantedBugs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

// The constraint of a type's register, and the type that travels in it.
static const char *constraintOf(Type type) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return pointer.getAddressSpace() == 3 || pointer.getAddressSpace() == clusterSpace ? "r" : "l";
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "b";
  case 8:
  case 16:
    return "h";
  case 32:
    return "r";
  default:
    return "l";
  }
}

static Type carrierOf(Type type) { return type.isInteger(8) ? IntegerType::get(type.getContext(), 16) : type; }

static Value carried(simt::Builder &b, Value value) {
  return value.getType().isInteger(8) ? LLVM::ZExtOp::create(b, b.getIntegerType(16), value).getResult() : value;
}

std::string InlinePtx::result(Type type) {
  assert(values.empty() && "results come before operands");
  types.push_back(type);
  return next();
}

std::string InlinePtx::result(Value value) {
  initial.emplace_back(types.size(), value);
  return result(value.getType());
}

// They stand first among the operands.
void InlinePtx::addInitialValues() {
  if (!values.empty())
    return;
  for (auto &[index, first] : initial) {
    inputs += "," + std::to_string(index);
    values.push_back(carried(b, first));
    next();
  }
}

std::string InlinePtx::operand(Value value) {
  addInitialValues();
  inputs += "," + std::string(constraintOf(value.getType()));
  values.push_back(carried(b, value));
  return next();
}

bool nacre::cuda::resultsMayShare(llvm::StringRef text) {
  text = text.trim();
  bool isOne = text.find(';') == text.size() - 1 && !text.starts_with("{");
  return (isOne && !text.contains("wgmma.mma_async")) || planted(PlantedBug::WgmmaEarlyClobber);
}

llvm::SmallVector<Value> InlinePtx::emit(const std::string &text, bool hasEffects) {
  addInitialValues();
  SmallVector<Type> carriers = llvm::map_to_vector(types, carrierOf);
  Type resultType;
  if (carriers.size() == 1)
    resultType = carriers.front();
  else if (carriers.size() > 1)
    resultType = LLVM::LLVMStructType::getLiteral(b.getContext(), carriers);
  std::string constraints;
  for (Type type : types)
    constraints += std::string(resultsMayShare(text) ? ",=" : ",=&") + constraintOf(type);
  constraints += inputs;
  if (!constraints.empty())
    constraints.erase(0, 1);
  auto code =
      LLVM::InlineAsmOp::create(b, resultType ? TypeRange(resultType) : TypeRange(), values, text, constraints,
                                hasEffects, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> results;
  for (auto [index, type] : llvm::enumerate(types)) {
    Value value = code->getResult(0);
    if (types.size() > 1)
      value = LLVM::ExtractValueOp::create(b, value, ArrayRef<int64_t>{static_cast<int64_t>(index)});
    if (type.isInteger(8))
      value = LLVM::TruncOp::create(b, type, value);
    results.push_back(value);
  }
  return results;
}

std::string nacre::cuda::spaceOf(Value address) {
  unsigned space = cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  return space == 3 ? "shared" : space == clusterSpace ? "shared::cluster" : "global";
}
