// mma.sync: every shape and type of sm_75 to sm_90 but the sparse ones.
#include "simulator/Matrix.h"
#include <algorithm>

namespace nacre::simulator {
namespace {

struct MmaPlan {
  unsigned m, n, k;
  MatrixType a, b;
  ScalarType c, d; // F16, F32, F64, S32
  unsigned aRegisters, bRegisters, cRegisters, dRegisters;
  bool saturate = false, isXor = false;
};

uint64_t readPart(const Warp &warp, const Part &part, unsigned lane) {
  return part.bytes == 8 ? warp.at<uint64_t>(part.slot)[lane] : warp.at<uint32_t>(part.slot)[lane];
}

Status mmaHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const MmaPlan *>(op.plan);
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  if (mask != allLanes) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::SynchronizationMisuse,
                        "mma.sync needs all 32 lanes of the warp");
    return Status::Next;
  }
  ++warp.warpSyncs;
  const Part *d = warp.program->parts.data() + op.first, *a = d + plan.dRegisters, *b = a + plan.aRegisters,
             *c = b + plan.bRegisters;
  unsigned aBits = bitsOf(plan.a), bBits = bitsOf(plan.b);
  unsigned aPer = aBits == 64 ? 1 : 32 / aBits, bPer = bBits == 64 ? 1 : 32 / bBits;
  static thread_local std::vector<double> left, right, sums;
  left.assign(size_t(plan.m) * plan.k, 0);
  right.assign(size_t(plan.k) * plan.n, 0);
  for (unsigned r = 0; r < plan.aRegisters; ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      uint64_t word = readPart(warp, a[r], lane);
      for (unsigned j = 0; j < aPer; ++j) {
        FragmentPlace at = placeInA(lane, r, j, aPer);
        left[at.row * plan.k + at.column] = elementValue(plan.a, elementBits(word, j, aBits));
      }
    }
  for (unsigned r = 0; r < plan.bRegisters; ++r)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      uint64_t word = readPart(warp, b[r], lane);
      for (unsigned j = 0; j < bPer; ++j) {
        FragmentPlace at = placeInB(lane, r, j, bPer);
        right[at.row * plan.n + at.column] = elementValue(plan.b, elementBits(word, j, bBits));
      }
    }
  unsigned elements = plan.m * plan.n / laneCount; // of C and D in a lane
  auto cValue = [&](unsigned lane, unsigned i) -> double {
    switch (plan.c) {
    case ScalarType::F16:
      return halfToFloat(static_cast<uint16_t>(readPart(warp, c[i / 2], lane) >> (i % 2 * 16)));
    case ScalarType::F32:
      return std::bit_cast<float>(static_cast<uint32_t>(readPart(warp, c[i], lane)));
    case ScalarType::F64:
      return std::bit_cast<double>(readPart(warp, c[i], lane));
    default:
      return static_cast<int32_t>(readPart(warp, c[i], lane));
    }
  };
  auto put = [&](unsigned lane, unsigned i, double value) {
    switch (plan.d) {
    case ScalarType::F16: {
      uint32_t &word = warp.at<uint32_t>(d[i / 2].slot)[lane];
      uint32_t half = floatToHalf(static_cast<float>(value));
      word = i % 2 ? (word & 0xFFFF) | half << 16 : half;
      break;
    }
    case ScalarType::F32:
      warp.at<float>(d[i].slot)[lane] = static_cast<float>(value);
      break;
    case ScalarType::F64:
      warp.at<double>(d[i].slot)[lane] = value;
      break;
    default: {
      auto whole = static_cast<int64_t>(value);
      warp.at<uint32_t>(d[i].slot)[lane] = plan.saturate
                                               ? static_cast<uint32_t>(std::clamp<int64_t>(whole, INT32_MIN, INT32_MAX))
                                               : static_cast<uint32_t>(whole);
    }
    }
  };
  if (plan.a == MatrixType::B1) {
    sums.assign(size_t(plan.m) * plan.n, 0);
    for (unsigned row = 0; row < plan.m; ++row)
      for (unsigned column = 0; column < plan.n; ++column)
        for (unsigned i = 0; i < plan.k; ++i) {
          bool x = left[row * plan.k + i] != 0, y = right[i * plan.n + column] != 0;
          sums[row * plan.n + column] += plan.isXor ? x != y : x && y;
        }
    std::vector<double> results(size_t(laneCount) * elements);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i) {
        FragmentPlace at = placeInC(lane, i);
        results[lane * elements + i] = cValue(lane, i) + sums[at.row * plan.n + at.column];
      }
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i)
        put(lane, i, results[lane * elements + i]);
    return Status::Next;
  }
  if (isIntegerMatrix(plan.a) || plan.d == ScalarType::F64) {
    sums.resize(size_t(plan.m) * plan.n);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i) {
        FragmentPlace at = placeInC(lane, i);
        sums[at.row * plan.n + at.column] = cValue(lane, i);
      }
    if (plan.d == ScalarType::F64) {
      for (unsigned row = 0; row < plan.m; ++row)
        for (unsigned i = 0; i < plan.k; ++i)
          for (unsigned column = 0; column < plan.n; ++column)
            sums[row * plan.n + column] =
                std::fma(left[row * plan.k + i], right[i * plan.n + column], sums[row * plan.n + column]);
    } else {
      multiplyAdd(sums.data(), left.data(), right.data(), plan.m, plan.n, plan.k);
    }
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned i = 0; i < elements; ++i) {
        FragmentPlace at = placeInC(lane, i);
        put(lane, i, sums[at.row * plan.n + at.column]);
      }
    return Status::Next;
  }
  float accumulators[16 * 8];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      FragmentPlace at = placeInC(lane, i);
      accumulators[at.row * plan.n + at.column] = static_cast<float>(cValue(lane, i));
    }
  multiplyAddTensor(accumulators, left.data(), right.data(), plan.m, plan.n, plan.k, plan.a, TensorUnit::Mma,
                    /*halfSums=*/plan.d == ScalarType::F16);
  for (unsigned lane = 0; lane < laneCount; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      FragmentPlace at = placeInC(lane, i);
      put(lane, i, accumulators[at.row * plan.n + at.column]);
    }
  return Status::Next;
}

bool parseShape(std::string_view text, unsigned &m, unsigned &n, unsigned &k) {
  auto number = [&](char letter, unsigned &value) {
    if (text.empty() || text[0] != letter)
      return false;
    text.remove_prefix(1);
    value = 0;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9' && value < 10000) {
      value = value * 10 + static_cast<unsigned>(text[0] - '0');
      text.remove_prefix(1);
    }
    return true;
  };
  return number('m', m) && number('n', n) && number('k', k) && text.empty();
}

void decodeMma(Decoder &decoder) {
  Op &op = decoder.op;
  auto *plan = decoder.plan<MmaPlan>();
  if (decoder.take("sp") || decoder.take("sp::ordered_metadata"))
    decoder.refuse("sparse matrix products (mma.sp) are not simulated");
  if (!decoder.take("sync") || !decoder.take("aligned"))
    decoder.refuse("it needs .sync.aligned");
  std::string_view shape = decoder.takePrefixed("m");
  if (!parseShape(shape, plan->m, plan->n, plan->k))
    decoder.refuse("its shape is not known");
  if (!decoder.take("row") || !decoder.take("col"))
    decoder.refuse("it is .row.col");
  plan->saturate = decoder.take("satfinite");
  if (decoder.take("xor"))
    plan->isXor = true;
  else
    decoder.take("and");
  decoder.take("popc");
  decoder.take("rn");
  auto result = scalarType(decoder.nextWord());
  auto a = matrixType(decoder.nextWord()), b = matrixType(decoder.nextWord());
  auto c = scalarType(decoder.nextWord());
  // .popc stands at the end
  decoder.take("xor"), decoder.take("popc");
  decoder.finishModifiers();
  if (!result || !a || !b || !c)
    decoder.refuse("its types are not known");
  plan->d = *result, plan->c = *c, plan->a = *a, plan->b = *b;
  struct Known {
    unsigned m, n, k, bits;
  };
  static constexpr Known shapes[] = {{16, 8, 8, 16}, {16, 8, 16, 16}, {16, 8, 4, 32},  {16, 8, 8, 32}, {8, 8, 16, 8},
                                     {16, 8, 16, 8}, {16, 8, 32, 8},  {8, 8, 32, 4},   {16, 8, 32, 4}, {16, 8, 64, 4},
                                     {8, 8, 128, 1}, {16, 8, 128, 1}, {16, 8, 256, 1}, {8, 8, 4, 64},  {16, 8, 4, 64},
                                     {16, 8, 8, 64}, {16, 8, 16, 64}};
  unsigned bits = bitsOf(*a);
  bool known = false;
  for (const Known &candidate : shapes)
    known |= candidate.m == plan->m && candidate.n == plan->n && candidate.k == plan->k && candidate.bits == bits;
  if (plan->m == 8 && plan->k == 4 && bits == 16)
    decoder.refuse("the shape m8n8k4 of f16 is of sm_70 and is not simulated");
  if (!known || bits != bitsOf(*b))
    decoder.refuse("the simulator does not know this shape for these types");
  bool eight = *a == MatrixType::E4M3 || *a == MatrixType::E5M2;
  bool typesFit = isIntegerMatrix(*a)     ? *result == ScalarType::S32 && *c == ScalarType::S32 && isIntegerMatrix(*b)
                  : *a == MatrixType::F64 ? *result == ScalarType::F64 && *c == ScalarType::F64
                  : *a == MatrixType::F16 || eight ? (*result == ScalarType::F32 || *result == ScalarType::F16) &&
                                                         (*c == ScalarType::F32 || *c == ScalarType::F16)
                                                   : *result == ScalarType::F32 && *c == ScalarType::F32;
  if (!typesFit || (!isIntegerMatrix(*a) && !eight && *a != *b) ||
      ((eight) && (*b != MatrixType::E4M3 && *b != MatrixType::E5M2)))
    decoder.refuse("its types do not go together");
  unsigned per = bits == 64 ? 1 : 32 / bits;
  plan->aRegisters = plan->m * plan->k / laneCount / per;
  plan->bRegisters = plan->n * plan->k / laneCount / per;
  unsigned elements = plan->m * plan->n / laneCount;
  plan->cRegisters = plan->c == ScalarType::F16 ? elements / 2 : elements;
  plan->dRegisters = plan->d == ScalarType::F16 ? elements / 2 : elements;
  decoder.expectOperands(4, 4);
  unsigned counts[] = {plan->dRegisters, plan->aRegisters, plan->bRegisters, plan->cRegisters};
  uint32_t before = 0;
  for (size_t i = 0; i < 4; ++i) {
    op.type = (i == 0 || i == 3) ? (plan->d == ScalarType::F64   ? ScalarType::F64
                                    : plan->d == ScalarType::F32 ? ScalarType::F32
                                                                 : ScalarType::B32)
                                 : (bits == 64 ? ScalarType::F64 : ScalarType::B32);
    decoder.addParts(decoder.operand(i), i == 0);
    if (op.count - before != counts[i])
      decoder.refuse("operand " + std::to_string(i) + " has " + std::to_string(op.count - before) + " registers, not " +
                     std::to_string(counts[i]));
    unsigned width = (i == 0 || i == 3) ? (plan->d == ScalarType::F64 ? 8 : 4) : (bits == 64 ? 8 : 4);
    for (uint32_t j = before; j < op.count; ++j)
      if (decoder.program.parts[op.first + j].bytes != width)
        decoder.refuse("a register of operand " + std::to_string(i) + " has a wrong width");
    before = op.count;
  }
  op.plan = plan;
  decoder.emit(mmaHandler, InstructionClass::Matrix);
}

} // namespace

void decodeLoadMatrix(Decoder &decoder); // MatrixLoad.cpp
void decodeStoreMatrix(Decoder &decoder);
void decodeMoveMatrix(Decoder &decoder);
static void refuseWmma(Decoder &decoder) {
  decoder.refuse("wmma, whose fragments the ISA leaves open, is not simulated: use mma.sync");
}

const std::vector<DecoderEntry> matrixDecoders = {{"mma", decodeMma},
                                                  {"ldmatrix", decodeLoadMatrix},
                                                  {"stmatrix", decodeStoreMatrix},
                                                  {"movmatrix", decodeMoveMatrix},
                                                  {"wmma", refuseWmma}};

} // namespace nacre::simulator
