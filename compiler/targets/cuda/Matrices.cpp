// Matrices in shared memory. See Instructions.h.
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/targets/cuda/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

void Instructions::fence(simt::Builder &b, bool isGlobal) const {
  if (architecture.has(90)) // before, there is no async proxy
    InlinePtx(b).emit(isGlobal ? "fence.proxy.async;" : "fence.proxy.async.shared::cta;");
}

// "{$0, $1}"
static std::string braced(ArrayRef<std::string> names) { return "{" + llvm::join(names, ", ") + "}"; }

static std::string matrixForm(unsigned count, bool isTransposed) {
  return ".sync.aligned.m8n8.x" + std::to_string(count) + (isTransposed ? ".trans" : "") + ".shared.b16 ";
}

llvm::SmallVector<Value> Instructions::loadMatrices(simt::Builder &b, Value address, unsigned count,
                                                    bool isTransposed) const {
  InlinePtx ptx(b);
  SmallVector<std::string> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(ptx.result(b.getI32Type()));
  std::string from = ptx.operand(address);
  return ptx.emit("ldmatrix" + matrixForm(count, isTransposed) + braced(words) + ", [" + from + "];");
}

void Instructions::storeMatrices(simt::Builder &b, ArrayRef<Value> values, Value address, bool isTransposed) const {
  InlinePtx ptx(b);
  std::string to = ptx.operand(address);
  SmallVector<std::string> words = llvm::map_to_vector(values, [&](Value word) { return ptx.operand(word); });
  ptx.emit("stmatrix" + matrixForm(words.size(), isTransposed) + "[" + to + "], " + braced(words) + ";");
}
