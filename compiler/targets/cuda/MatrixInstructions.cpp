// The table of matrix instructions: mma.sync of a warp, and wgmma of four, which is asynchronous and reads shared
// memory by descriptors. See Instructions.h and passes/gpu/MatrixInstruction.h.
#include "compiler/ir/layout/Constructors.h"
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/targets/cuda/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;
using simt::MatrixElement;
using simt::MatrixInstruction;

static const char *elementName(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
    return "f16";
  case MatrixElement::BF16:
    return "bf16";
  case MatrixElement::TF32:
    return "tf32";
  case MatrixElement::F64:
    return "f64";
  case MatrixElement::E4M3:
    return "e4m3";
  case MatrixElement::E5M2:
    return "e5m2";
  case MatrixElement::S8:
    return "s8";
  }
  llvm_unreachable("an element of matrices");
}

static const char *sumName(MatrixElement element) {
  return element == MatrixElement::F64 ? "f64" : element == MatrixElement::S8 ? "s32" : "f32";
}

// "m16n8k16"
static std::string shapeName(const MatrixInstruction &row) {
  return "m" + std::to_string(row.m) + "n" + std::to_string(row.n) + "k" + std::to_string(row.k);
}

// "mma.m16n8k16.f16.f16": unlike what PTX writes, without what follows from it.
static std::string instructionName(const MatrixInstruction &row) {
  return std::string(row.isAsync ? "wgmma." : "mma.") + shapeName(row) + "." + elementName(row.a) + "." +
         elementName(row.b);
}

static MatrixInstruction ofWarp(unsigned m, unsigned n, unsigned k, MatrixElement a, MatrixElement b) {
  unsigned perRegister = std::max(1u, 4 / simt::matrixElementBytes(a));
  MatrixInstruction row{"", m, n, k, a, b};
  row.aLayout = fragmentA(m, k, perRegister);
  row.bLayout = fragmentB(k, n, perRegister);
  row.resultLayout = fragmentC(m, n);
  row.name = instructionName(row);
  return row;
}

static MatrixInstruction ofWarpgroup(unsigned n, MatrixElement a, MatrixElement b) {
  unsigned bytes = simt::matrixElementBytes(a);
  MatrixInstruction row{"", 64, n, 32 / bytes, a, b};
  row.warps = 4;
  row.aInShared = row.bInShared = row.isAsync = true;
  row.takesTransposed = bytes == 2;
  row.sumsImprecisely = bytes == 1 && a != MatrixElement::S8;
  row.aLayout = fragmentA(row.m, row.k, 4 / bytes);
  row.resultLayout = fragmentC(row.m, n);
  row.name = instructionName(row);
  return row;
}

// The rows of each sixteen in the order 0, 2, ..., 14, 1, 3, ..., 15: a thread, which has rows r and r + 8, has
// neighbours.
static LinearLayout withPairsOfRows(const LinearLayout &layout) {
  LinearLayout result = layout;
  for (Place place : allPlaces)
    for (auto [bit, basis] : llvm::enumerate(layout.basesOf(place))) {
      SmallVector<uint32_t> coordinates = layout.unpack(basis);
      uint32_t row = coordinates[0];
      coordinates[0] = (row & ~15u) | (row << 1 & 15u) | (row >> 3 & 1u);
      result.setBasis(place, bit, layout.pack(coordinates));
    }
  return result;
}

// Of bytes: words of neighbours along k come from rows across it by transposing pairs of bytes.
static MatrixInstruction acrossRows(MatrixInstruction row) {
  row.name += ".pairs";
  row.aLayout = withPairsOfRows(row.aLayout);
  row.resultLayout = withPairsOfRows(row.resultLayout);
  row.aInShared = false;
  row.onlyAcross = true;
  return row;
}

std::vector<MatrixInstruction> nacre::cuda::matrixInstructionsOf(const Architecture &architecture) {
  using enum MatrixElement;
  std::vector<MatrixInstruction> rows;
  rows.push_back(ofWarp(16, 8, 8, F16, F16));
  rows.push_back(ofWarp(8, 8, 16, S8, S8));
  if (architecture.has(80)) {
    for (MatrixElement element : {F16, BF16})
      rows.push_back(ofWarp(16, 8, 16, element, element));
    rows.push_back(ofWarp(16, 8, 8, BF16, BF16));
    rows.push_back(ofWarp(16, 8, 4, TF32, TF32));
    rows.push_back(ofWarp(16, 8, 8, TF32, TF32));
    rows.push_back(ofWarp(16, 8, 16, S8, S8));
    rows.push_back(ofWarp(16, 8, 32, S8, S8));
    rows.push_back(ofWarp(8, 8, 4, F64, F64));
  }
  std::pair<MatrixElement, MatrixElement> eights[] = {{E4M3, E4M3}, {E4M3, E5M2}, {E5M2, E4M3}, {E5M2, E5M2}};
  if (architecture.has(89))
    for (auto [a, b] : eights)
      rows.push_back(ofWarp(16, 8, 32, a, b));
  if (architecture.has(90))
    for (unsigned k : {4, 8, 16})
      rows.push_back(ofWarp(16, 8, k, F64, F64));
  if (architecture.hasWarpgroupProducts)
    for (unsigned n = 8; n <= 256; n *= 2) {
      for (MatrixElement element : {F16, BF16, TF32, S8})
        rows.push_back(ofWarpgroup(n, element, element));
      for (auto [a, b] : eights)
        rows.push_back(ofWarpgroup(n, a, b));
    }
  for (size_t i = 0, count = rows.size(); i < count; ++i)
    if (rows[i].isAsync && simt::matrixElementBytes(rows[i].a) == 1) {
      rows.push_back(acrossRows(rows[i]));
      rows[i].across = rows.back().name;
    }
  return rows;
}

// "{$0, $1}"
static std::string braced(ArrayRef<std::string> names) { return "{" + llvm::join(names, ", ") + "}"; }

static std::string operands(InlinePtx &ptx, ArrayRef<Value> values) {
  return braced(llvm::map_to_vector(values, [&](Value value) { return ptx.operand(value); }));
}

llvm::SmallVector<Value> Instructions::multiply(simt::Builder &b, const MatrixInstruction &row, ArrayRef<Value> left,
                                                ArrayRef<Value> right, ArrayRef<Value> sums) const {
  InlinePtx ptx(b);
  SmallVector<std::string> results = llvm::map_to_vector(sums, [&](Value sum) { return ptx.result(sum.getType()); });
  std::string sum = sumName(row.a);
  std::string text = "mma.sync.aligned." + shapeName(row) + ".row.col." + sum + "." + elementName(row.a) + "." +
                     elementName(row.b) + "." + sum + " " + braced(results);
  for (ArrayRef<Value> values : {left, right, sums})
    text += ", " + operands(ptx, values);
  return ptx.emit(text + ";", /*hasEffects=*/false);
}

// ---- wgmma

void Instructions::commitProducts(simt::Builder &b, const MatrixInstruction &) const {
  InlinePtx(b).emit("wgmma.commit_group.sync.aligned;");
}

// The sums pass through, so that nothing looks at them before; what is held is read here, so that its registers get no
// other value before.
void Instructions::waitForProducts(simt::Builder &b, unsigned pending, llvm::MutableArrayRef<Value> sums,
                                   ArrayRef<Value> held) const {
  InlinePtx ptx(b);
  for (Value sum : sums)
    ptx.result(sum);
  for (Value word : llvm::SmallSetVector<Value, 32>(held.begin(), held.end()))
    ptx.operand(word);
  SmallVector<Value> results = ptx.emit("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";");
  llvm::copy(results, sums.begin());
}

// Bits 0 to 13: the address; 16 to 29: from one panel of rows to the next, where rows are across k; 32 to 45: from
// eight rows to the next; 62 and 63: the swizzle, 1 for rows of 128 bytes, 2 of 64, 3 of 32. Addresses and distances by
// 16 bytes.
static Value descriptorOf(simt::Builder &b, const simt::MatrixOperand &operand) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto constant = [&](Type type, uint64_t value) -> Value {
    return LLVM::ConstantOp::create(b, type, IntegerAttr::get(type, static_cast<int64_t>(value)));
  };
  uint64_t swizzle = operand.rowBytes == 128 ? 1 : operand.rowBytes == 64 ? 2 : 3;
  uint64_t leading = operand.isTransposed ? operand.panelBytes / 16 : 1, stride = operand.rowBytes * 8 / 16;
  uint64_t fixed = leading << 16 | stride << 32 | swizzle << 62;
  Value address = LLVM::PtrToIntOp::create(b, i32, operand.start);
  address = LLVM::LShrOp::create(b, LLVM::AndOp::create(b, address, constant(i32, 0x3FFFF)), constant(i32, 4));
  return LLVM::OrOp::create(b, LLVM::ZExtOp::create(b, i64, address), constant(i64, fixed));
}

llvm::SmallVector<Value> Instructions::startProducts(simt::Builder &b, const MatrixInstruction &row,
                                                     ArrayRef<simt::MatrixProduct> products, int64_t steps) const {
  auto descriptors = [&](const simt::MatrixOperand &operand) {
    SmallVector<Value> all;
    if (!operand.words.empty())
      return all;
    Value start = descriptorOf(b, operand);
    for (uint32_t bytes : operand.offsets) {
      Value distance = LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(bytes / 16));
      all.push_back(bytes ? LLVM::AddOp::create(b, start, distance).getResult() : start);
    }
    return all;
  };
  std::vector<std::pair<SmallVector<Value>, SmallVector<Value>>> places;
  for (const simt::MatrixProduct &product : products)
    places.emplace_back(descriptors(product.left), descriptors(product.right));
  InlinePtx ptx(b);
  std::vector<SmallVector<std::string>> results;
  for (const simt::MatrixProduct &product : products)
    results.push_back(llvm::map_to_vector(product.sums, [&](Value sum) { return ptx.result(sum); }));
  // One text and one fence for all of them: LLVM may copy registers before the text, which the instructions must not
  // overtake; a fence between instructions would be the end of a group for the assembler.
  std::string text = "{\n.reg .pred p;\nsetp.eq.b32 p, 0, 0;\nwgmma.fence.sync.aligned;\n";
  for (auto [product, place, sums] : llvm::zip_equal(products, places, results)) {
    bool aInRegisters = !product.left.words.empty();
    std::string form = "wgmma.mma_async.sync.aligned." + shapeName(row) + "." + sumName(row.a) + "." +
                       elementName(row.a) + "." + elementName(row.b) + " " + braced(sums) + ", ";
    std::string options = ", p"; // p: add to the sums
    if (row.a != MatrixElement::S8)
      options += ", 1, 1"; // not negated
    if (row.takesTransposed)
      options += std::string(aInRegisters                ? ""
                             : product.left.isTransposed ? ", 1"
                                                         : ", 0") +
                 (product.right.isTransposed ? ", 1" : ", 0");
    size_t perStep = product.left.words.size() / steps;
    for (int64_t step = 0; step < steps; ++step) {
      std::string a = aInRegisters ? operands(ptx, ArrayRef(product.left.words).slice(step * perStep, perStep))
                                   : ptx.operand(place.first[step]);
      text += form + a + ", " + ptx.operand(place.second[step]) + options + ";\n";
    }
  }
  return ptx.emit(text + "}");
}
