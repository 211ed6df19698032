// Threads, numbers, and telling the host. See Instructions.h.
#include "compiler/targets/cuda/Instructions.h"
#include "compiler/ir/tile/KernelAttributes.h"
#include "compiler/targets/cuda/DeviceFunctions.h"
#include "compiler/targets/cuda/InlinePtx.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <numbers>

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;

static constexpr uint32_t allLanes = ~uint32_t(0);

static Value intrinsic(simt::Builder &b, Type result, const std::string &name, ValueRange arguments = {}) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr("llvm.nvvm." + name), arguments).getResult(0);
}
static void effect(simt::Builder &b, const std::string &name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm." + name), arguments);
}
static Value i32(simt::Builder &b, uint32_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

void Instructions::declareKernel(LLVM::LLVMFuncOp function, int64_t threads, int64_t ctas) const {
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> attributes;
  auto add = [&](StringRef name, int64_t number) {
    attributes.push_back(
        ArrayAttr::get(context, {StringAttr::get(context, name), StringAttr::get(context, std::to_string(number))}));
  };
  add("nvvm.reqntid", threads);
  if (ctas > 1) // a launch needs to say nothing of it
    attributes.push_back(ArrayAttr::get(context, {StringAttr::get(context, "nvvm.cluster_dim"),
                                                  StringAttr::get(context, std::to_string(ctas) + ",1,1")}));
  tile::LaunchOptions options = tile::LaunchOptions::of(function->getParentOfType<ModuleOp>());
  // A thread has at most 255 registers: a larger number bounds nothing, and ptxas warns of it.
  if (int64_t bound = options.maxRegisters.value_or(0); bound > 0 && bound < 256)
    add("nvvm.maxnreg", bound);
  function.setPassthroughAttr(ArrayAttr::get(context, attributes));
}

// ---- Where we are

static std::string axisOf(const char *name, int axis) {
  return std::string("read.ptx.sreg.") + name + "." + std::string(1, "xyz"[axis]);
}
Value Instructions::threadId(simt::Builder &b) const { return intrinsic(b, b.getI32Type(), axisOf("tid", 0)); }
Value Instructions::programId(simt::Builder &b, int axis) const {
  return intrinsic(b, b.getI32Type(), axisOf("ctaid", axis));
}
Value Instructions::gridSize(simt::Builder &b, int axis) const {
  return intrinsic(b, b.getI32Type(), axisOf("nctaid", axis));
}
// ---- Clusters

Value Instructions::blockRank(simt::Builder &b) const {
  return intrinsic(b, b.getI32Type(), "read.ptx.sreg.cluster.ctarank");
}
Value Instructions::inFirstBlock(simt::Builder &b, Value address) const {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), clusterSpace);
  return intrinsic(b, type, "mapa.shared.cluster", {address, i32(b, 0)});
}
void Instructions::clusterBarrier(simt::Builder &b) const {
  effect(b, "barrier.cluster.arrive.aligned", {});
  effect(b, "barrier.cluster.wait.aligned", {});
}

Value Instructions::clock(simt::Builder &b) const { return intrinsic(b, b.getI64Type(), "read.ptx.sreg.globaltimer"); }
Value Instructions::cycles(simt::Builder &b) const { return intrinsic(b, b.getI64Type(), "read.ptx.sreg.clock64"); }
Value Instructions::processor(simt::Builder &b) const { return intrinsic(b, b.getI32Type(), "read.ptx.sreg.smid"); }

// ---- Between threads

// Barrier 0 is that of all threads, 1 that of the kernel's own warps where there are others.
void Instructions::blockBarrier(simt::Builder &b, int64_t threads) const {
  if (threads == 0)
    effect(b, "barrier.cta.sync.aligned.all", i32(b, 0));
  else
    effect(b, "barrier.cta.sync.aligned.count", {i32(b, 1), i32(b, static_cast<uint32_t>(threads))});
}
void Instructions::warpBarrier(simt::Builder &b) const { effect(b, "bar.warp.sync", i32(b, allLanes)); }

// What the assembler knows to be one thread: it makes loops over the threads around copies that others may start.
Value Instructions::isElected(simt::Builder &b) const {
  assert(architecture.has(90) && "only copies of boxes ask for it");
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {b.getI32Type(), b.getI1Type()});
  return LLVM::ExtractValueOp::create(b, intrinsic(b, type, "elect.sync", {i32(b, allLanes)}), 1);
}

Value Instructions::opaque(simt::Builder &b, Value value) const {
  InlinePtx ptx(b);
  std::string result = ptx.result(value.getType()), source = ptx.operand(value);
  std::string bits = std::to_string(value.getType().getIntOrFloatBitWidth());
  return ptx.emit("mov.b" + bits + " " + result + ", " + source + ";", /*hasEffects=*/false).front();
}

Value Instructions::anyThread(simt::Builder &b, Value predicate) const {
  return intrinsic(b, b.getI1Type(), "barrier.cta.red.or.aligned.all", {i32(b, 0), predicate});
}
void Instructions::leave(simt::Builder &b) const { InlinePtx(b).emit("exit;"); }
void Instructions::setRegisters(simt::Builder &b, int64_t count, bool areMore) const {
  InlinePtx(b).emit("setmaxnreg." + std::string(areMore ? "inc" : "dec") + ".sync.aligned.u32 " +
                    std::to_string(count) + ";");
}

static Value shuffle(simt::Builder &b, const char *mode, Value value, Value argument, uint32_t clamp) {
  return intrinsic(b, b.getI32Type(), std::string("shfl.sync.") + mode + ".i32",
                   {i32(b, allLanes), value, argument, i32(b, clamp)});
}
Value Instructions::shuffleXor(simt::Builder &b, Value value, uint32_t mask) const {
  return shuffle(b, "bfly", value, i32(b, mask), 31);
}
Value Instructions::shuffleFrom(simt::Builder &b, Value value, Value from) const {
  return shuffle(b, "idx", value, from, 31);
}

// ---- Numbers

// Eight bits to a half, which holds every value that they may have.
static Value halfOfByte(simt::Builder &b, Value byte, const char *format) {
  Value pair = LLVM::ZExtOp::create(b, b.getIntegerType(16), byte);
  InlinePtx ptx(b);
  std::string result = ptx.result(b.getI32Type()), source = ptx.operand(pair);
  Value halves =
      ptx.emit("cvt.rn.f16x2." + std::string(format) + "x2 " + result + ", " + source + ";", /*hasEffects=*/false)
          .front();
  Value low = LLVM::TruncOp::create(b, b.getIntegerType(16), halves);
  return LLVM::BitcastOp::create(b, b.getF16Type(), low);
}

Value Instructions::convertFloat(simt::Builder &b, Value value, Type from, Type to, tile::Rounding rounding) const {
  const char *format = isa<Float8E4M3FNType>(from) ? "e4m3" : isa<Float8E5M2Type>(from) ? "e5m2" : nullptr;
  if (format && architecture.has(89)) {
    Value half = halfOfByte(b, value, format);
    if (to.isF16())
      return half;
    if (to.isF32())
      return LLVM::FPExtOp::create(b, to, half);
    if (to.isBF16()) // exact: no value has more than four bits
      return LLVM::FPTruncOp::create(b, to, LLVM::FPExtOp::create(b, b.getF32Type(), half));
    return nullptr;
  }
  if (from.isF32() && rounding == tile::Rounding::TowardZero && (to.isF16() || (to.isBF16() && architecture.has(80)))) {
    Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), value);
    InlinePtx ptx(b);
    std::string result = ptx.result(b.getIntegerType(16)), source = ptx.operand(bits);
    Value narrow =
        ptx.emit("cvt.rz." + std::string(to.isF16() ? "f16" : "bf16") + ".f32 " + result + ", " + source + ";",
                 /*hasEffects=*/false)
            .front();
    return LLVM::BitcastOp::create(b, to, narrow);
  }
  return nullptr;
}

static bool mayApproximate(Operation *op, arith::FastMathFlags wanted) {
  auto accurate = dyn_cast<arith::ArithFastMathInterface>(op);
  return accurate && bitEnumContainsAny(accurate.getFastMathFlagsAttr().getValue(), wanted);
}

// e^x as a power of two. What the product with log2(e) loses by rounding is x / 2^24 of the result, and is made good:
// the power times 1 + ln(2) * rest. Where that is no number (infinities on the way), the power itself is the result.
static Value exponential(simt::Builder &b, Value x) {
  Type type = x.getType();
  auto constant = [&](double value) -> Value {
    return LLVM::ConstantOp::create(b, type, b.getF32FloatAttr(static_cast<float>(value)));
  };
  auto multiplyAdd = [&](Value left, Value right, Value sum) -> Value {
    return LLVM::FMAOp::create(b, left, right, sum);
  };
  constexpr double logarithm = std::numbers::log2e;
  constexpr float high = static_cast<float>(logarithm);
  Value product = LLVM::FMulOp::create(b, x, constant(high));
  Value rest = multiplyAdd(x, constant(high), LLVM::FNegOp::create(b, product));
  rest = multiplyAdd(x, constant(logarithm - static_cast<double>(high)), rest);
  Value power = intrinsic(b, type, "ex2.approx", product);
  Value result = multiplyAdd(LLVM::FMulOp::create(b, power, constant(std::numbers::ln2)), rest, power);
  Value isNumber = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ord, result, result);
  return LLVM::SelectOp::create(b, isNumber, result, power);
}

Value Instructions::compute(simt::Builder &b, Operation *op, ArrayRef<Value> operands) const {
  using Flags = arith::FastMathFlags;
  Type type = operands.empty() ? Type() : operands.front().getType();
  if (!type || !type.isF32())
    return nullptr;
  if (isa<arith::DivFOp>(op) && mayApproximate(op, Flags::arcp | Flags::afn))
    return intrinsic(b, type, mayApproximate(op, Flags::afn) ? "div.approx.f" : "div.full", operands);
  // Measured on an H200, on all floats with normal results: exp2 is within 2.1 ulp, exp within 2.6. A power of two is
  // one instruction where results that would be subnormal may be 0, and four where not.
  if (isa<math::Exp2Op>(op))
    return intrinsic(b, type, mayApproximate(op, Flags::afn) ? "ex2.approx.ftz" : "ex2.approx", operands[0]);
  if (isa<math::ExpOp>(op))
    return exponential(b, operands[0]);
  if (!mayApproximate(op, Flags::afn))
    return nullptr;
  if (isa<math::SqrtOp>(op))
    return intrinsic(b, type, "sqrt.approx.f", operands[0]);
  if (isa<math::RsqrtOp>(op))
    return intrinsic(b, type, "rsqrt.approx.f", operands[0]);
  return nullptr;
}

// ---- Telling the host

static LLVM::LLVMFuncOp declare(simt::Builder &b, StringRef name, Type result, ArrayRef<Type> arguments) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, name, LLVM::LLVMFunctionType::get(result, arguments));
}

static Value generic(simt::Builder &b, Value pointer) {
  auto type = LLVM::LLVMPointerType::get(b.getContext());
  return pointer.getType() == type ? pointer : LLVM::AddrSpaceCastOp::create(b, type, pointer).getResult();
}

// A number as printf takes it: no shorter than an int, floats as doubles.
static Value promoted(simt::Builder &b, Value value) {
  Type type = value.getType();
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return generic(b, value);
  if (isa<FloatType>(type))
    return type.isF64() ? value : LLVM::FPExtOp::create(b, b.getF64Type(), value).getResult();
  return type.getIntOrFloatBitWidth() < 32 ? LLVM::SExtOp::create(b, b.getI32Type(), value).getResult() : value;
}

void Instructions::print(simt::Builder &b, Value format, ArrayRef<Value> arguments) const {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::LLVMFuncOp function = declare(b, printFunction, b.getI32Type(), {pointer, pointer});
  Value buffer;
  SmallVector<Value> values = llvm::map_to_vector(arguments, [&](Value value) { return promoted(b, value); });
  if (values.empty()) {
    buffer = LLVM::ZeroOp::create(b, pointer);
  } else {
    SmallVector<Type> types = llvm::map_to_vector(values, [](Value value) { return value.getType(); });
    auto layout = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    {
      OpBuilder::InsertionGuard guard(b); // one place on the stack, however often it is printed
      b.setInsertionPointToStart(&b.getInsertionBlock()->getParent()->front());
      buffer = LLVM::AllocaOp::create(b, pointer, layout, i32(b, 1), 8);
    }
    for (auto [index, value] : llvm::enumerate(values)) {
      Value place =
          LLVM::GEPOp::create(b, pointer, layout, buffer, ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
      LLVM::StoreOp::create(b, value, place);
    }
  }
  LLVM::CallOp::create(b, function, ValueRange{generic(b, format), buffer});
}

void Instructions::failAssertion(simt::Builder &b, Value message, Value file, uint32_t line, Value function) const {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  LLVM::LLVMFuncOp fail = declare(b, assertFunction, LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, b.getI32Type(), pointer, i64});
  Value characterSize = LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(1));
  LLVM::CallOp::create(
      b, fail, ValueRange{generic(b, message), generic(b, file), i32(b, line), generic(b, function), characterSize});
}
