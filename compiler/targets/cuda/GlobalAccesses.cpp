// Loads and stores. Plain ones are LLVM's own, so that it may move and join them; those with a predicate or a hint are
// inline PTX, which keeps their order.
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/targets/cuda/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

// ".v4" and the registers in braces; one register stands by itself.
static std::string vectorSuffix(size_t count) { return count == 1 ? "" : ".v" + std::to_string(count); }
static std::string listOf(ArrayRef<std::string> names) {
  return names.size() == 1 ? names.front() : "{" + llvm::join(names, ", ") + "}";
}

static std::string typeSuffix(Type word) { return ".b" + std::to_string(word.getIntOrFloatBitWidth()); }

// What stands between the state space and the vector. Shared memory has no hints.
static std::string hintSuffix(const simt::AccessHints &hints, bool isStore) {
  switch (hints.cache) {
  case tile::CacheModifier::CA:
    return isStore ? ".wb" : ".ca";
  case tile::CacheModifier::CG:
    return ".cg";
  case tile::CacheModifier::CS:
    return ".cs";
  case tile::CacheModifier::CV:
    return isStore ? ".wt" : ".cv";
  case tile::CacheModifier::WB:
    return isStore ? ".wb" : "";
  case tile::CacheModifier::WT:
    return isStore ? ".wt" : "";
  case tile::CacheModifier::None:
    break;
  }
  switch (hints.eviction) {
  case tile::EvictionPolicy::First:
    return ".L1::evict_first";
  case tile::EvictionPolicy::Last:
    return ".L1::evict_last";
  case tile::EvictionPolicy::Normal:
    break;
  }
  return "";
}

static std::string instruction(const char *name, Value address, const simt::AccessHints &hints, bool isStore) {
  std::string space = spaceOf(address);
  if (hints.isVolatile)
    return std::string(name) + ".volatile." + space;
  return std::string(name) + "." + space + (space == "global" ? hintSuffix(hints, isStore) : "");
}

static bool isPlainAccess(Value predicate, const simt::AccessHints &hints) { return !predicate && hints.isPlain(); }

static unsigned alignmentOf(Type word, size_t count) {
  return static_cast<unsigned>(word.getIntOrFloatBitWidth() / 8 * count);
}

SmallVector<Value> Instructions::load(simt::Builder &b, Type word, Value address, Value predicate,
                                      ArrayRef<Value> otherwise, const simt::AccessHints &hints) const {
  size_t count = otherwise.size();
  if (isPlainAccess(predicate, hints)) {
    Type type = count == 1 ? word : Type(VectorType::get(static_cast<int64_t>(count), word));
    Value loaded = LLVM::LoadOp::create(b, type, address, alignmentOf(word, count));
    if (count == 1)
      return {loaded};
    SmallVector<Value> words;
    for (size_t i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractElementOp::create(
          b, loaded, LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(i)))));
    return words;
  }
  InlinePtx ptx(b);
  SmallVector<std::string> names;
  for (Value value : otherwise)
    names.push_back(predicate ? ptx.result(value) : ptx.result(word));
  std::string place = ptx.operand(address), guard = ptx.guard(predicate);
  return ptx.emit(guard + instruction("ld", address, hints, /*isStore=*/false) + vectorSuffix(count) +
                  typeSuffix(word) + " " + listOf(names) + ", [" + place + "];");
}

void Instructions::store(simt::Builder &b, ArrayRef<Value> words, Value address, Value predicate,
                         const simt::AccessHints &hints) const {
  Type word = words.front().getType();
  size_t count = words.size();
  if (isPlainAccess(predicate, hints)) {
    Value value = words.front();
    if (count > 1) {
      Type type = VectorType::get(static_cast<int64_t>(count), word);
      value = LLVM::UndefOp::create(b, type);
      for (auto [i, part] : llvm::enumerate(words))
        value = LLVM::InsertElementOp::create(
            b, value, part, LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(i))));
    }
    LLVM::StoreOp::create(b, value, address, alignmentOf(word, count));
    return;
  }
  InlinePtx ptx(b);
  std::string place = ptx.operand(address);
  SmallVector<std::string> names;
  for (Value value : words)
    names.push_back(ptx.operand(value));
  std::string guard = ptx.guard(predicate);
  ptx.emit(guard + instruction("st", address, hints, /*isStore=*/true) + vectorSuffix(count) + typeSuffix(word) + " [" +
           place + "], " + listOf(names) + ";");
}
