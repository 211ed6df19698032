// How a tile is laid out is part of its type: every operation takes tiles with an encoding, and no builder or fold
// loses it. The texts of the lit tests are read with an encoding at each tile that has none.
#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace nacre::tile;

namespace {

std::string textOf(const std::string &name) {
  auto file = llvm::MemoryBuffer::getFile(std::string(NACRE_TILE_TESTS) + "/" + name);
  EXPECT_TRUE(static_cast<bool>(file)) << name;
  return file ? (*file)->getBuffer().str() : "";
}

// `tensor<8xf32>` becomes `tensor<8xf32, "rows">`.
std::string withEncodings(llvm::StringRef text) {
  std::string result;
  const llvm::StringRef word = "tensor<";
  for (size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word)) {
    size_t end = at + word.size();
    for (int open = 1; open > 0; ++end)
      open += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
    llvm::StringRef tensor = text.slice(at, end - 1);
    result += text.take_front(at).str() + tensor.str() + (tensor.contains('"') ? ">" : ", \"rows\">");
    text = text.drop_front(end);
  }
  return result + text.str();
}

class Encodings : public testing::Test {
protected:
  Encodings() {
    DialectRegistry registry;
    registry.insert<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, func::FuncDialect,
                    ub::UBDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) { return parseSourceString<ModuleOp>(text, &context); }

  // The tiles without an encoding, each type once.
  static std::set<std::string> tilesWithout(ModuleOp module) {
    std::set<std::string> found;
    AttrTypeWalker walker;
    walker.addWalk([&](RankedTensorType type) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      if (!type.getEncoding()) {
        stream << type;
        found.insert(text);
      }
    });
    module.walk([&](Operation *op) {
      walker.walk(op->getAttrDictionary());
      for (Type type : op->getResultTypes())
        walker.walk(type);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            walker.walk(type);
    });
    return found;
  }

  static std::map<std::string, int> countOperations(ModuleOp module) {
    std::map<std::string, int> counts;
    module.walk([&](Operation *op) { ++counts[op->getName().getStringRef().str()]; });
    return counts;
  }

  MLIRContext context;
};

TEST_F(Encodings, EveryOperationTakesThem) {
  OwningOpRef<ModuleOp> module = parse(withEncodings(textOf("ops.mlir")));
  ASSERT_TRUE(module);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(tilesWithout(*module), std::set<std::string>());
  std::map<std::string, int> counts = countOperations(*module);
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == TileDialect::getDialectNamespace()) {
      EXPECT_TRUE(counts.count(name.getStringRef().str())) << "ops.mlir has no " << name.getStringRef().str();
    }
}

TEST_F(Encodings, NoFoldLosesThem) {
  std::string text = textOf("folding.mlir");
  OwningOpRef<ModuleOp> plain = parse(text), encoded = parse(withEncodings(text));
  ASSERT_TRUE(plain && encoded);
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  ASSERT_TRUE(succeeded(passes.run(*plain)) && succeeded(passes.run(*encoded)));
  EXPECT_EQ(countOperations(*encoded), countOperations(*plain)); // the same was folded
  EXPECT_EQ(tilesWithout(*encoded), std::set<std::string>());
}

TEST_F(Encodings, BuildersThatInferTypesKeepThem) {
  OpBuilder builder(&context);
  Attribute rows = builder.getStringAttr("rows");
  Location place = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  builder.setInsertionPointToEnd(module->getBody());
  Type pointer = PointerType::get(builder.getF32Type());
  auto pointers = RankedTensorType::get({8}, pointer, rows);
  auto numbers = RankedTensorType::get({8}, builder.getF32Type(), rows);
  EXPECT_EQ(withElement(pointers, builder.getF32Type()), numbers);
  auto function = func::FuncOp::create(builder, place, "f", builder.getFunctionType({pointers}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value argument = function.getArgument(0);
  auto load = LoadOp::create(builder, place, argument, Value(), Value());
  EXPECT_EQ(load.getType(), numbers);
  Value zero = arith::ConstantOp::create(builder, place, builder.getZeroAttr(numbers.clone(builder.getI32Type())));
  EXPECT_EQ(AddPtrOp::create(builder, place, argument, zero).getType(), pointers);
  EXPECT_EQ(HintOp::create(builder, place, load, HintKind::Contiguity, ArrayRef<int64_t>{8}).getType(), numbers);
}

} // namespace
