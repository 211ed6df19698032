// Threads, moves between lanes, numbers. See Instructions.h.
#include "compiler/targets/amd/Instructions.h"
#include "compiler/ir/simt/Simt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::amd;

static Value intrinsic(simt::Builder &b, Type result, const std::string &name, ValueRange arguments = {}) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr("llvm." + name), arguments).getResult(0);
}
static void effect(simt::Builder &b, const std::string &name, ValueRange arguments = {}) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm." + name), arguments);
}
static Value i32(simt::Builder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
}
static Value boolean(simt::Builder &b, bool value) {
  return LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(value));
}

void Instructions::declareKernel(LLVM::LLVMFuncOp function, int64_t threads, int64_t /*ctas*/) const {
  function.setCConv(LLVM::cconv::CConv::AMDGPU_KERNEL);
  MLIRContext *context = function.getContext();
  auto pair = [&](StringRef name, const std::string &value) -> Attribute {
    return ArrayAttr::get(context, {StringAttr::get(context, name), StringAttr::get(context, value)});
  };
  std::string count = std::to_string(threads);
  function.setPassthroughAttr(ArrayAttr::get(
      context, {pair("amdgpu-flat-work-group-size", count + "," + count), pair("uniform-work-group-size", "true")}));
}

// ---- Where we are

Value Instructions::threadId(simt::Builder &b) const { return intrinsic(b, b.getI32Type(), "amdgcn.workitem.id.x"); }
Value Instructions::programId(simt::Builder &b, int axis) const {
  return intrinsic(b, b.getI32Type(), std::string("amdgcn.workgroup.id.") + "xyz"[axis]);
}

// The first three words of the hidden arguments: how many work-groups there are along each axis.
Value Instructions::gridSize(simt::Builder &b, int axis) const {
  auto constantMemory = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value hidden = intrinsic(b, constantMemory, "amdgcn.implicitarg.ptr");
  Value place = LLVM::GEPOp::create(b, constantMemory, b.getI32Type(), hidden, ArrayRef<LLVM::GEPArg>{axis});
  return LLVM::LoadOp::create(b, b.getI32Type(), place, /*alignment=*/4, /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

// The constant clock counts 100 MHz.
Value Instructions::clock(simt::Builder &b) const {
  Value ticks = intrinsic(b, b.getI64Type(), "readsteadycounter");
  return LLVM::MulOp::create(b, ticks, LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(10)));
}
Value Instructions::cycles(simt::Builder &b) const { return intrinsic(b, b.getI64Type(), "readcyclecounter"); }

// The number of the compute unit within the GPU, as the hardware writes it: bits 8 to 15 of HW_ID; of RDNA, bits 10 to 20
// of HW_ID1.
Value Instructions::processor(simt::Builder &b) const {
  auto field = [](unsigned number, unsigned first, unsigned bits) { return number | first << 6 | (bits - 1) << 11; };
  return intrinsic(b, b.getI32Type(), "amdgcn.s.getreg",
                   i32(b, architecture.generation == 9 ? field(4, 8, 8) : field(23, 10, 11)));
}

// ---- Between threads

static void fenceOf(simt::Builder &b, LLVM::AtomicOrdering ordering, StringRef scope) {
  LLVM::FenceOp::create(b, ordering, scope);
}

void Instructions::blockBarrier(simt::Builder &b, int64_t threads) const {
  assert(threads == 0 && "only warps that start copies of boxes stay away");
  (void)threads;
  fenceOf(b, LLVM::AtomicOrdering::release, "workgroup");
  effect(b, "amdgcn.s.barrier");
  fenceOf(b, LLVM::AtomicOrdering::acquire, "workgroup");
}

// The lanes of a wave run together, and its accesses of shared memory stay in their order: only the compiler must keep it.
void Instructions::warpBarrier(simt::Builder &b) const {
  fenceOf(b, LLVM::AtomicOrdering::release, "wavefront");
  effect(b, "amdgcn.wave.barrier");
  fenceOf(b, LLVM::AtomicOrdering::acquire, "wavefront");
}

// A word of shared memory beside the kernel's own.
static Value wordOfBlock(simt::Builder &b) {
  constexpr StringLiteral name = "any_thread";
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol<LLVM::GlobalOp>(name)) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto global = LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), b.getI32Type(), /*isConstant=*/false,
                                         LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/4, /*addrSpace=*/3);
    Block *body = builder.createBlock(&global.getInitializer());
    builder.setInsertionPointToStart(body);
    Value nothing = LLVM::PoisonOp::create(builder, builder.getUnknownLoc(), b.getI32Type());
    LLVM::ReturnOp::create(builder, builder.getUnknownLoc(), nothing);
  }
  return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 3), name);
}

// Of a warp, one word has a bit for each lane. Of several, a word in shared memory is set by those that have such a lane;
// every thread reads it between the last two barriers.
Value Instructions::anyThread(simt::Builder &b, Value predicate) const {
  Type mask = b.getIntegerType(static_cast<unsigned>(architecture.lanes));
  Value lanes = intrinsic(b, mask, "amdgcn.ballot", predicate);
  Value ofWarp = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, lanes, LLVM::ZeroOp::create(b, mask));
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (simt::BlockShape::of(module).warps == 1) {
    blockBarrier(b, 0);
    return ofWarp;
  }
  Value word = wordOfBlock(b), zero = i32(b, 0);
  blockBarrier(b, 0);
  Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadId(b), zero);
  store(b, zero, word, isFirst, {});
  blockBarrier(b, 0);
  simt::AtomicAccess set{.kind = tile::AtomicKind::Or, .scope = tile::MemoryScope::CTA, .wantsResult = false};
  atomic(b, b.getI32Type(), word, i32(b, 1), predicate, set);
  blockBarrier(b, 0);
  Value found = load(b, b.getI32Type(), word, {}, {}, {}).front();
  // It is the same in all lanes, which the branch after it is to see.
  found = intrinsic(b, b.getI32Type(), "amdgcn.readfirstlane", found);
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, found, zero);
}

void Instructions::leave(simt::Builder &b) const { effect(b, "amdgcn.endpgm"); }

// Within rows of 16 lanes an instruction reads another lane's register; farther away, and for the distances for which
// there is no such form, the crossbar of shared memory moves the value.
Value Instructions::shuffleXor(simt::Builder &b, Value value, uint32_t mask) const {
  assert(mask < static_cast<uint32_t>(architecture.lanes) && "within the warp");
  auto dpp = [&](uint32_t control) {
    return intrinsic(b, value.getType(), "amdgcn.update.dpp",
                     {value, value, i32(b, control), i32(b, 0xf), i32(b, 0xf), boolean(b, true)});
  };
  if (mask == 0)
    return value;
  if (mask < 4) { // of four lanes each
    uint32_t control = 0;
    for (uint32_t lane = 0; lane < 4; ++lane)
      control |= (lane ^ mask) << 2 * lane;
    return dpp(control);
  }
  constexpr uint32_t rotatedByEight = 0x128, mirrored = 0x140, halfMirrored = 0x141, flipped = 0x160;
  if (mask < 16 && architecture.generation > 9)
    return dpp(flipped + mask);
  if (mask == 7 || mask == 8 || mask == 15)
    return dpp(mask == 7 ? halfMirrored : mask == 8 ? rotatedByEight : mirrored);
  if (mask < 32) // of 32 lanes each: all bits of the lane's number, then those of the mask flipped
    return intrinsic(b, value.getType(), "amdgcn.ds.swizzle", {value, i32(b, 0x1f | mask << 10)});
  Value lane = LLVM::AndOp::create(b, threadId(b), i32(b, architecture.lanes - 1));
  return shuffleFrom(b, value, LLVM::XOrOp::create(b, lane, i32(b, mask)));
}

Value Instructions::shuffleFrom(simt::Builder &b, Value value, Value from) const {
  Value byte = LLVM::ShlOp::create(b, from, i32(b, 2));
  return intrinsic(b, value.getType(), "amdgcn.ds.bpermute", {byte, value});
}

// ---- Numbers

Value Instructions::opaque(simt::Builder &b, Value value) const {
  return LLVM::InlineAsmOp::create(b, value.getType(), value, "", "=v,0", /*has_side_effects=*/false,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
      .getResult(0);
}

llvm::SmallVector<Value> Instructions::multiply(simt::Builder &, const simt::MatrixInstruction &, ArrayRef<Value>,
                                                ArrayRef<Value>, ArrayRef<Value>) const {
  llvm_unreachable("the machine has no rows of matrix instructions");
}

// ---- Telling the host

void Instructions::print(simt::Builder &, Value, ArrayRef<Value>) const {
  llvm_unreachable("kernels that print are refused");
}

void Instructions::failAssertion(simt::Builder &b, Value, Value, uint32_t, Value) const { effect(b, "trap"); }
