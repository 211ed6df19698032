// Atomics as inline PTX, with the order and the scope that the kernel asks for (LLVM's own atomicrmw loses them). What
// the hardware has no instruction for is a loop of compare-and-swap.
#include "compiler/targets/cuda/InlinePtx.h"
#include "compiler/targets/cuda/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cuda;
using tile::AtomicKind;

static const char *orderName(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return "relaxed";
  case tile::MemoryOrder::Acquire:
    return "acquire";
  case tile::MemoryOrder::Release:
    return "release";
  case tile::MemoryOrder::AcquireRelease:
    return "acq_rel";
  }
  return "";
}

static const char *scopeName(tile::MemoryScope scope) {
  switch (scope) {
  case tile::MemoryScope::CTA:
    return "cta";
  case tile::MemoryScope::GPU:
    return "gpu";
  case tile::MemoryScope::System:
    return "sys";
  }
  return "";
}

// "atom.acq_rel.gpu.global"
static std::string prefix(const char *name, const simt::AtomicAccess &access, Value address) {
  return std::string(name) + "." + orderName(access.order) + "." + scopeName(access.scope) + "." + spaceOf(address);
}

static bool isFloatKind(AtomicKind kind) {
  return kind == AtomicKind::AddF || kind == AtomicKind::MaxF || kind == AtomicKind::MinF;
}

// "add", "max", ...: the operation without its type.
static const char *operationName(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::And:
    return "and";
  case AtomicKind::Or:
    return "or";
  case AtomicKind::Xor:
    return "xor";
  case AtomicKind::AddI:
  case AtomicKind::AddF:
    return "add";
  case AtomicKind::MaxS:
  case AtomicKind::MaxU:
  case AtomicKind::MaxF:
    return "max";
  case AtomicKind::MinS:
  case AtomicKind::MinU:
  case AtomicKind::MinF:
    return "min";
  case AtomicKind::Exchange:
    return "exch";
  }
  return "";
}

// Of the operation on integers of so many bits: ".s32".
static std::string integerSuffix(AtomicKind kind, unsigned bits) {
  const char *letter = "b";
  if (kind == AtomicKind::AddI || kind == AtomicKind::MaxU || kind == AtomicKind::MinU)
    letter = "u";
  else if (kind == AtomicKind::MaxS || kind == AtomicKind::MinS)
    letter = "s";
  return "." + std::string(letter) + std::to_string(bits);
}

// "add.f32": the operation as the hardware has it; empty where it has none.
static std::string hardwareOperation(AtomicKind kind, Type element, unsigned bits, const Architecture &architecture) {
  std::string name = operationName(kind);
  if (kind == AtomicKind::AddF) {
    if (element.isF32() || element.isF64())
      return name + (element.isF32() ? ".f32" : ".f64");
    if (element.isF16())
      return name + ".noftz.f16";
    return element.isBF16() && architecture.has(90) ? name + ".noftz.bf16" : "";
  }
  if (isFloatKind(kind) || bits < 32)
    return "";
  return name + integerSuffix(kind, bits);
}

// A float's order is that of its bits as a signed integer, where it is not negative, and the opposite of that of its
// bits as an unsigned one, where it is: one of two instructions runs. They differ from the language's in NaN alone,
// whose bits are the largest.
static Value extremeByBits(simt::Builder &b, Value address, Value value, Value predicate,
                           const simt::AtomicAccess &access) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  bool isMaximum = access.kind == AtomicKind::MaxF;
  InlinePtx ptx(b);
  std::string old = ptx.result(value.getType()), place = ptx.operand(address), operand = ptx.operand(value);
  std::string text = "{ .reg .pred positive, negative; setp.ge.s" + width + " positive, " + operand +
                     ", 0; not.pred negative, positive; ";
  if (predicate) {
    std::string wanted = ptx.operand(predicate);
    text += "and.pred positive, positive, " + wanted + "; and.pred negative, negative, " + wanted + "; ";
  }
  std::string atom = prefix("atom", access, address);
  text += "@positive " + atom + (isMaximum ? ".max.s" : ".min.s") + width + " " + old + ", [" + place + "], " +
          operand + "; @negative " + atom + (isMaximum ? ".min.u" : ".max.u") + width + " " + old + ", [" + place +
          "], " + operand + "; }";
  return ptx.emit(text).front();
}

// `next` from `current` and the operand, all of them registers of 32 bits that hold an element of 8 or 16.
static std::string narrowUpdate(AtomicKind kind, Type element, bool isNarrowest, const std::string &operand,
                                const Architecture &architecture) {
  if (kind == AtomicKind::Exchange)
    return "mov.b32 next, " + operand + "; ";
  if (!isFloatKind(kind)) {
    // Both sides extended to 32 bits by their sign, or not.
    bool isSigned = kind == AtomicKind::MaxS || kind == AtomicKind::MinS;
    std::string width = isNarrowest ? "8" : "16", extend = std::string(isSigned ? "bfe.s32" : "bfe.u32");
    return extend + " left, current, 0, " + width + "; " + extend + " right, " + operand + ", 0, " + width + "; " +
           operationName(kind) + integerSuffix(kind, 32) + " next, left, right; ";
  }
  std::string compute = std::string(operationName(kind)) + ".f32 left, left, right; ";
  if (element.isF16())
    return "{ .reg .b16 half; cvt.u16.u32 half, current; cvt.f32.f16 left, half; cvt.u16.u32 half, " + operand +
           "; cvt.f32.f16 right, half; " + compute + "cvt.rn.f16.f32 half, left; cvt.u32.u16 next, half; } ";
  std::string widen = "shl.b32 left, current, 16; shl.b32 right, " + operand + ", 16; ";
  if (architecture.has(80))
    return "{ .reg .b16 half; " + widen + compute + "cvt.rn.bf16.f32 half, left; cvt.u32.u16 next, half; } ";
  // To the nearest, ties to even; NaN stays one.
  return "{ .reg .pred isNumber; .reg .b32 odd; " + widen + compute +
         "setp.num.f32 isNumber, left, left; bfe.u32 odd, left, 16, 1; add.u32 next, left, 32767; "
         "add.u32 next, next, odd; selp.b32 next, next, 0x7fff0000, isNumber; shr.u32 next, next, 16; } ";
}

// An element of 16 bits: it is replaced until nobody was faster.
static Value halfLoop(simt::Builder &b, Type element, Value address, Value value, Value predicate,
                      const simt::AtomicAccess &access, const Architecture &architecture) {
  Type i32 = b.getI32Type();
  Value wide = LLVM::ZExtOp::create(b, i32, value);
  InlinePtx ptx(b);
  std::string old = ptx.result(i32), place = ptx.operand(address), operand = ptx.operand(wide);
  std::string text = "{ .reg .pred again; .reg .b16 found, seen, replacement; .reg .b32 current, left, right, next; ";
  if (predicate)
    text += "@!" + ptx.operand(predicate) + " bra DONE; ";
  text += "ld.relaxed." + std::string(scopeName(access.scope)) + "." + spaceOf(address) + ".b16 found, [" + place +
          "]; AGAIN: cvt.u32.u16 current, found; ";
  text += narrowUpdate(access.kind, element, /*isNarrowest=*/false, operand, architecture);
  text += "cvt.u16.u32 replacement, next; " + prefix("atom", access, address) + ".cas.b16 seen, [" + place +
          "], found, replacement; setp.ne.b16 again, seen, found; mov.b16 found, seen; @again bra AGAIN; mov.b32 " +
          old + ", current; DONE: }";
  return LLVM::TruncOp::create(b, value.getType(), ptx.emit(text).front());
}

// A narrow element that is replaced, when nobody asks what it was.
static void narrowStore(simt::Builder &b, Value address, Value value, Value predicate, simt::AtomicAccess access) {
  if (access.order == tile::MemoryOrder::AcquireRelease)
    access.order = tile::MemoryOrder::Release;
  else if (access.order == tile::MemoryOrder::Acquire)
    access.order = tile::MemoryOrder::Relaxed;
  InlinePtx ptx(b);
  std::string place = ptx.operand(address), operand = ptx.operand(value), guard = ptx.guard(predicate);
  ptx.emit(guard + prefix("st", access, address) + ".b" + std::to_string(value.getType().getIntOrFloatBitWidth()) +
           " [" + place + "], " + operand + ";");
}

// An element of 8 bits: the word of 32 around it is replaced until nobody was faster.
static Value byteLoop(simt::Builder &b, Type element, Value address, Value value, Value predicate,
                      const simt::AtomicAccess &access, const Architecture &architecture) {
  bool isShared = spaceOf(address) != "global";
  Type i32 = b.getI32Type();
  Value wide = LLVM::ZExtOp::create(b, i32, value);
  InlinePtx ptx(b);
  std::string old = ptx.result(i32), place = ptx.operand(address), operand = ptx.operand(wide);
  std::string bits = isShared ? "32" : "64";
  std::string text =
      "{ .reg .pred again; .reg .b" + bits + " base; .reg .b32 shift, word, seen, current, left, right, next; ";
  if (predicate)
    text += "@!" + ptx.operand(predicate) + " bra DONE; ";
  text += isShared ? "mov.b32 shift, " + place + "; " : "cvt.u32.u64 shift, " + place + "; ";
  text += "and.b32 shift, shift, 3; shl.b32 shift, shift, 3; and.b" + bits + " base, " + place + ", -4; ";
  text += "ld.relaxed." + std::string(scopeName(access.scope)) + "." + spaceOf(address) + ".b32 word, [base]; AGAIN: ";
  text += "bfe.u32 current, word, shift, 8; ";
  text += narrowUpdate(access.kind, element, /*isNarrowest=*/true, operand, architecture);
  text += "bfi.b32 next, next, word, shift, 8; ";
  text += prefix("atom", access, address) + ".cas.b32 seen, [base], word, next; ";
  text += "setp.ne.b32 again, seen, word; mov.b32 word, seen; @again bra AGAIN; mov.b32 " + old + ", current; DONE: }";
  return LLVM::TruncOp::create(b, value.getType(), ptx.emit(text).front());
}

Value Instructions::atomic(simt::Builder &b, Type element, Value address, Value value, Value predicate,
                           const simt::AtomicAccess &access) const {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  if (!type.isInteger())
    value = LLVM::BitcastOp::create(b, word, value);
  Value old;
  std::string operation = hardwareOperation(access.kind, element, bits, architecture);
  if (!operation.empty()) {
    // Without a result a reduction does, unless it must wait for what others wrote.
    bool mayReduce = access.order == tile::MemoryOrder::Relaxed || access.order == tile::MemoryOrder::Release;
    InlinePtx ptx(b);
    if (!access.wantsResult && mayReduce && access.kind != AtomicKind::Exchange) {
      std::string place = ptx.operand(address), operand = ptx.operand(value), guard = ptx.guard(predicate);
      ptx.emit(guard + prefix("red", access, address) + "." + operation + " [" + place + "], " + operand + ";");
      return nullptr;
    }
    std::string result = ptx.result(word), place = ptx.operand(address), operand = ptx.operand(value);
    std::string guard = ptx.guard(predicate);
    old = ptx.emit(guard + prefix("atom", access, address) + "." + operation + " " + result + ", [" + place + "], " +
                   operand + ";")
              .front();
  } else if (bits < 32 && access.kind == AtomicKind::Exchange && !access.wantsResult) {
    narrowStore(b, address, value, predicate, access);
    return nullptr;
  } else if (bits < 32) {
    auto loop = bits == 8 ? byteLoop : halfLoop;
    old = loop(b, element, address, value, predicate, access, architecture);
  } else {
    old = extremeByBits(b, address, value, predicate, access);
  }
  return old.getType() == type ? old : LLVM::BitcastOp::create(b, type, old).getResult();
}

Value Instructions::compareAndSwap(simt::Builder &b, Value address, Value expected, Value desired, Value predicate,
                                   const simt::AtomicAccess &access) const {
  Type type = expected.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  if (!type.isInteger()) {
    expected = LLVM::BitcastOp::create(b, word, expected);
    desired = LLVM::BitcastOp::create(b, word, desired);
  }
  Value old;
  if (bits == 8) { // the word around it
    Type i32 = b.getI32Type();
    Value wideExpected = LLVM::ZExtOp::create(b, i32, expected), wideDesired = LLVM::ZExtOp::create(b, i32, desired);
    bool isShared = spaceOf(address) != "global";
    std::string size = isShared ? "32" : "64";
    InlinePtx ptx(b);
    std::string result = ptx.result(i32), place = ptx.operand(address), wanted = ptx.operand(wideExpected),
                replacement = ptx.operand(wideDesired);
    std::string text = "{ .reg .pred again; .reg .b" + size + " base; .reg .b32 shift, word, seen, current, next; ";
    if (predicate)
      text += "@!" + ptx.operand(predicate) + " bra DONE; ";
    text +=
        (isShared ? "mov.b32 shift, " : "cvt.u32.u64 shift, ") + place + "; and.b32 shift, shift, 3; " +
        "shl.b32 shift, shift, 3; and.b" + size + " base, " + place + ", -4; ld.relaxed." + scopeName(access.scope) +
        "." + spaceOf(address) + ".b32 word, [base]; AGAIN: bfe.u32 current, word, shift, 8; " +
        "mov.b32 next, word; setp.eq.b32 again, current, " + wanted + "; @again bfi.b32 next, " + replacement +
        ", word, shift, 8; " + prefix("atom", access, address) + ".cas.b32 seen, [base], word, next; " +
        "setp.ne.b32 again, seen, word; mov.b32 word, seen; @again bra AGAIN; mov.b32 " + result + ", current; DONE: }";
    old = LLVM::TruncOp::create(b, word, ptx.emit(text).front());
  } else {
    InlinePtx ptx(b);
    std::string result = ptx.result(word), place = ptx.operand(address), wanted = ptx.operand(expected),
                replacement = ptx.operand(desired), guard = ptx.guard(predicate);
    old = ptx.emit(guard + prefix("atom", access, address) + ".cas.b" + std::to_string(bits) + " " + result + ", [" +
                   place + "], " + wanted + ", " + replacement + ";")
              .front();
  }
  return old.getType() == type ? old : LLVM::BitcastOp::create(b, type, old).getResult();
}
