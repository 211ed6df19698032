// wgmma: matrix products of a warpgroup, with operands in shared memory named by descriptors.
//
// Each warp makes its own 16 rows of the result. The product is computed when it is issued; until it is waited for, its
// registers and its shared memory are watched.
#include "simulator/Matrix.h"
#include "simulator/Memory.h"
#include "simulator/Races.h"
#include "simulator/TensorMap.h"

namespace nacre::simulator {
namespace {

struct WgmmaPlan {
  unsigned n = 0, k = 0;
  MatrixType a = MatrixType::F16, b = MatrixType::F16;
  ScalarType d = ScalarType::F32;
  bool aInRegisters = false, saturate = false;
  Slot aDescriptor, bDescriptor, scale;
  bool scaleNegated = false;
  bool negateA = false, negateB = false, transposeA = false, transposeB = false;
  unsigned dRegisters = 0;
  std::vector<uint32_t> reads, writes; // rows of registers
};

// Where elements of an operand lie (the canonical layouts of the ISA). `outer` is the row of A or the column of B.
struct Descriptor {
  uint32_t start, leading, stride;
  uint8_t swizzle; // 0 none, 1: 32, 2: 64, 3: 128 bytes
  explicit Descriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3FFF) << 4), leading(static_cast<uint32_t>(bits >> 16 & 0x3FFF) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3FFF) << 4) {
    static constexpr uint8_t modes[] = {0, 3, 2, 1};
    swizzle = modes[bits >> 62];
  }
  uint32_t width() const { return swizzle ? 16u << swizzle : 16; }
  // The address of the 16-byte chunk that holds byte `kByte` of row `outer`.
  uint32_t alongK(uint32_t outer, uint32_t kByte) const {
    uint32_t address = start + outer / 8 * stride + outer % 8 * width();
    address += swizzle ? kByte & ~15u : kByte / 16 * leading;
    return static_cast<uint32_t>(swizzled(address, swizzle));
  }
  // The same where the outer dimension is contiguous: byte `outerByte` of k.
  uint32_t acrossK(uint32_t outerByte, uint32_t k) const {
    uint32_t chunk = outerByte / 16, chunks = width() / 16;
    uint32_t address = start + k % 8 * width();
    address +=
        swizzle ? chunk % chunks * 16 + chunk / chunks * leading + k / 8 * stride : chunk * stride + k / 8 * leading;
    return static_cast<uint32_t>(swizzled(address, swizzle));
  }
};

class OperandReader {
public:
  OperandReader(Warp &warp, uint64_t bits, MatrixType type, unsigned k, bool transposed, const char *name)
      : warp(warp), descriptor(bits), type(type), k(k), transposed(transposed), name(name) {
    bytes = bitsOf(type) / 8;
    if (bits >> 49 & 7)
      warp.launch->report(warp, 0, FindingKind::DescriptorError,
                          std::string("the descriptor of ") + name +
                              " has a base offset: only tiles aligned to their swizzle are simulated");
    if (descriptor.swizzle && !transposed && descriptor.start % descriptor.width() + k * bytes > descriptor.width())
      warp.launch->report(warp, 0, FindingKind::DescriptorError,
                          std::string("the descriptor of ") + name + " reaches beyond its swizzle's width");
  }
  // Elements [first, first + count) of the outer dimension, all k, as into[outer * outerStep + k * kStep].
  bool read(unsigned first, unsigned count, double *into, size_t outerStep, size_t kStep, unsigned trackFrom,
            unsigned trackCount) {
    unsigned per = 16 / bytes;
    if (!transposed) {
      for (unsigned outer = first; outer < first + count; ++outer)
        for (unsigned kk = 0; kk < k; kk += per) {
          const std::byte *chunk =
              fetch(descriptor.alongK(outer, kk * bytes), outer >= trackFrom && outer < trackFrom + trackCount);
          if (!chunk)
            return false;
          for (unsigned j = 0; j < per && kk + j < k; ++j)
            into[(outer - first) * outerStep + (kk + j) * kStep] = value(chunk, j);
        }
      return true;
    }
    for (unsigned kk = 0; kk < k; ++kk)
      for (unsigned outer = first; outer < first + count; outer += per) {
        const std::byte *chunk =
            fetch(descriptor.acrossK(outer * bytes, kk), outer >= trackFrom && outer < trackFrom + trackCount);
        if (!chunk)
          return false;
        for (unsigned j = 0; j < per && outer + j < first + count; ++j)
          into[(outer - first + j) * outerStep + kk * kStep] = value(chunk, j);
      }
    return true;
  }

private:
  Warp &warp;
  Descriptor descriptor;
  MatrixType type;
  unsigned k, bytes;
  bool transposed;
  const char *name;

  double value(const std::byte *chunk, unsigned index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, chunk + index * bytes, bytes);
    return elementValue(type, bits);
  }
  const std::byte *fetch(uint32_t address, bool track) {
    Block &block = *warp.block;
    uint32_t offset = address - sharedStart;
    if (address < sharedStart || offset + 16 > block.sharedBytes) {
      warp.launch->report(warp, 0, FindingKind::OutOfBounds,
                          std::string("wgmma reads ") + name + " at shared address " + std::to_string(address) +
                              ", outside the block's " + std::to_string(block.sharedBytes) + " bytes from " +
                              std::to_string(sharedStart) + " on");
      return nullptr;
    }
    if (track && warp.launch->checks)
      trackShared(warp, block, offset, 16, {false, false, true, warp.agent + WgmmaStream, warp.wgmmaGroups + 1, 0});
    return block.shared.data + offset;
  }
};

void note(Warp &warp, const WgmmaPlan &plan) {
  LaunchState &launch = *warp.launch;
  ++warp.wgmmaCount;
  warp.lastWgmma = warp.pc;
  if (!launch.checks)
    return;
  uint32_t rows = warp.frame->function->registerBytes / 64;
  if (warp.flightReads.size() < rows) {
    warp.flightReads.resize(rows);
    warp.flightWrites.resize(rows);
    warp.flightOps.resize(rows);
  }
  if (warp.writtenEpoch.size() < rows)
    warp.writtenEpoch.resize(rows);
  bool said = false;
  auto check = [&](uint32_t row) {
    if (!said && warp.writtenEpoch[row] == warp.wgmmaEpoch) {
      said = true;
      launch.report(warp, 0, FindingKind::WgmmaFence,
                    "a register of the wgmma was written since the last wgmma.fence: wgmma.fence is missing");
    }
  };
  // Wgmma of one accumulator follow each other in order; no other register of one under way may be another's.
  auto clash = [&](bool isOne, const char *text) {
    if (isOne && !said) {
      said = true;
      launch.report(warp, 0, FindingKind::WgmmaInFlight, text);
    }
  };
  for (uint32_t row : plan.writes) {
    check(row);
    clash(warp.flightReads[row], "an accumulator of the wgmma is a register of A of a wgmma that is still in flight: "
                                 "wgmma.wait_group is missing, or they need registers of their own");
    ++warp.flightWrites[row];
    warp.flightOps[row] = warp.pc;
  }
  for (uint32_t row : plan.reads) {
    check(row);
    bool isOwn = std::find(plan.writes.begin(), plan.writes.end(), row) != plan.writes.end();
    clash(isOwn, "a register of A of the wgmma is its accumulator too: it is written while A is read");
    clash(warp.flightWrites[row], "a register of A of the wgmma is an accumulator of a wgmma that is still in flight: "
                                  "wgmma.wait_group is missing");
    ++warp.flightReads[row];
    warp.flightOps[row] = warp.pc;
  }
  warp.inFlight.push_back({warp.wgmmaGroups, warp.pc, &plan.reads, &plan.writes});
}

Status wgmmaHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const WgmmaPlan *>(op.plan);
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  if (mask != allLanes) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::SynchronizationMisuse,
                        "wgmma needs all lanes of the warpgroup");
    return Status::Next;
  }
  if (warp.block->warps.size() < (warp.index / 4 + 1) * 4) {
    warp.launch->report(warp, 0, FindingKind::SynchronizationMisuse, "wgmma needs a warpgroup of four warps");
    return Status::Next;
  }
  note(warp, plan);
  const Part *d = warp.program->parts.data() + op.first, *a = d + plan.dRegisters;
  unsigned quarter = warp.index % 4;
  static thread_local std::vector<double> left, right;
  left.assign(16 * plan.k, 0);
  right.assign(size_t(plan.k) * plan.n, 0);
  if (plan.aInRegisters) {
    unsigned bits = bitsOf(plan.a), per = 32 / bits;
    for (unsigned r = 0; r < 4; ++r) {
      const uint32_t *row = warp.at<uint32_t>(a[r].slot);
      for (unsigned lane = 0; lane < laneCount; ++lane)
        for (unsigned j = 0; j < per; ++j) {
          FragmentPlace at = placeInA(lane, r, j, per);
          left[at.row * plan.k + at.column] = elementValue(plan.a, elementBits(row[lane], j, bits));
        }
    }
  } else {
    OperandReader reader(warp, warp.at<uint64_t>(plan.aDescriptor)[0], plan.a, plan.k, plan.transposeA, "A");
    if (!reader.read(quarter * 16, 16, left.data(), plan.k, 1, quarter * 16, 16))
      return Status::Next;
  }
  OperandReader reader(warp, warp.at<uint64_t>(plan.bDescriptor)[0], plan.b, plan.k, plan.transposeB, "B");
  // Every byte of B is watched once: by one of the four warps.
  unsigned share = (plan.n + 3) / 4;
  if (!reader.read(0, plan.n, right.data(), 1, plan.n, quarter * share, share))
    return Status::Next;
  if (plan.negateA != plan.negateB)
    for (double &value : left)
      value = -value;
  uint32_t scale = warp.predicate(plan.scale);
  bool accumulate = (plan.scaleNegated ? ~scale : scale) & 1;
  unsigned elements = plan.n / 2;
  if (plan.d == ScalarType::S32) {
    static thread_local std::vector<double> sums;
    sums.assign(16 * size_t(plan.n), 0);
    if (accumulate)
      for (unsigned i = 0; i < elements; ++i)
        for (unsigned lane = 0; lane < laneCount; ++lane) {
          FragmentPlace at = placeInC(lane, i);
          sums[at.row * plan.n + at.column] = warp.at<int32_t>(d[i].slot)[lane];
        }
    multiplyAdd(sums.data(), left.data(), right.data(), 16, plan.n, plan.k);
    for (unsigned i = 0; i < elements; ++i)
      for (unsigned lane = 0; lane < laneCount; ++lane) {
        FragmentPlace at = placeInC(lane, i);
        auto whole = static_cast<int64_t>(sums[at.row * plan.n + at.column]);
        if (plan.saturate)
          whole = whole < INT32_MIN ? INT32_MIN : whole > INT32_MAX ? INT32_MAX : whole;
        warp.at<uint32_t>(d[i].slot)[lane] = static_cast<uint32_t>(whole);
      }
    return Status::Next;
  }
  static thread_local std::vector<float> sums;
  sums.assign(16 * size_t(plan.n), 0);
  if (accumulate)
    for (unsigned i = 0; i < elements; ++i)
      for (unsigned lane = 0; lane < laneCount; ++lane) {
        FragmentPlace at = placeInC(lane, i);
        sums[at.row * plan.n + at.column] =
            plan.d == ScalarType::F32
                ? warp.at<float>(d[i].slot)[lane]
                : halfToFloat(static_cast<uint16_t>(warp.at<uint32_t>(d[i / 2].slot)[lane] >> (i % 2 * 16)));
      }
  multiplyAddTensor(sums.data(), left.data(), right.data(), 16, plan.n, plan.k, plan.a, TensorUnit::Wgmma);
  for (unsigned i = 0; i < elements; ++i)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      FragmentPlace at = placeInC(lane, i);
      float value = sums[at.row * plan.n + at.column];
      if (plan.d == ScalarType::F32) {
        warp.at<float>(d[i].slot)[lane] = value;
      } else {
        uint32_t &word = warp.at<uint32_t>(d[i / 2].slot)[lane];
        word = i % 2 ? (word & 0xFFFF) | uint32_t(floatToHalf(value)) << 16 : floatToHalf(value);
      }
    }
  return Status::Next;
}

Status fenceHandler(Warp &warp, const Op &, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  ++warp.wgmmaEpoch;
  return Status::Next;
}
Status commitHandler(Warp &warp, const Op &, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  ++warp.wgmmaGroups;
  progressed(warp);
  return Status::Next;
}
Status waitHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  auto pending = static_cast<uint32_t>(op.offset);
  uint32_t done = warp.wgmmaGroups > pending ? warp.wgmmaGroups - pending : 0;
  // The groups are the warpgroup's: they are done when all four warps have issued their part.
  auto group = warp.block->warps.begin() + warp.index / 4 * 4;
  size_t size = std::min<size_t>(4, warp.block->warps.size() - warp.index / 4 * 4);
  for (size_t i = 0; i < size; ++i)
    if (group[static_cast<std::ptrdiff_t>(i)]->wgmmaGroups < done)
      return Status::Blocked;
  size_t kept = 0;
  for (WgmmaInFlight &entry : warp.inFlight) {
    if (entry.group >= done) {
      warp.inFlight[kept++] = entry;
      continue;
    }
    for (uint32_t row : *entry.writes)
      --warp.flightWrites[row];
    for (uint32_t row : *entry.reads)
      --warp.flightReads[row];
  }
  warp.inFlight.resize(kept);
  if (warp.launch->checks)
    for (size_t i = 0; i < size; ++i)
      raiseClock(warp.clocks.seen, group[static_cast<std::ptrdiff_t>(i)]->agent + WgmmaStream, done);
  return Status::Next;
}

void collectRows(Decoder &decoder, const Operand &operand, std::vector<uint32_t> &into) {
  for (const Operand &element : operand.elements)
    if (element.kind == OperandKind::Register)
      into.push_back(decoder.registerOffsets[element.reg] / 64);
}

void decodeProduct(Decoder &decoder) {
  Op &op = decoder.op;
  auto *plan = decoder.plan<WgmmaPlan>();
  if (decoder.take("sp"))
    decoder.refuse("sparse matrix products (wgmma.mma_async.sp) are not simulated");
  if (!decoder.take("sync") || !decoder.take("aligned"))
    decoder.refuse("it needs .sync.aligned");
  std::string_view shape = decoder.takePrefixed("m64n");
  unsigned values[2] = {0, 0}, index = 0;
  for (char c : shape.substr(std::min<size_t>(4, shape.size()))) {
    if (c == 'k')
      index = 1;
    else if (c >= '0' && c <= '9' && values[index] < 10000)
      values[index] = values[index] * 10 + static_cast<unsigned>(c - '0');
    else
      decoder.refuse("its shape is not known");
  }
  plan->n = values[0], plan->k = values[1];
  plan->saturate = decoder.take("satfinite");
  auto result = scalarType(decoder.nextWord());
  auto a = matrixType(decoder.nextWord()), b = matrixType(decoder.nextWord());
  plan->saturate |= decoder.take("satfinite");
  if (decoder.has("and"))
    decoder.refuse("products of single bits (.b1) are not simulated for wgmma");
  decoder.finishModifiers();
  if (!result || !a || !b)
    decoder.refuse("its types are not known");
  plan->d = *result, plan->a = *a, plan->b = *b;
  unsigned bits = bitsOf(*a);
  bool integers = *a == MatrixType::S8 || *a == MatrixType::U8,
       eight = *a == MatrixType::E4M3 || *a == MatrixType::E5M2;
  bool halves = *a == MatrixType::F16 || *a == MatrixType::BF16;
  bool fits = integers ? *result == ScalarType::S32 && (*b == MatrixType::S8 || *b == MatrixType::U8)
              : eight
                  ? (*result == ScalarType::F32 || *result == ScalarType::F16) &&
                        (*b == MatrixType::E4M3 || *b == MatrixType::E5M2)
                  : *a == *b && (*result == ScalarType::F32 || (*result == ScalarType::F16 && *a == MatrixType::F16)) &&
                        (halves || *a == MatrixType::TF32);
  if (!fits || plan->k * bits != 256)
    decoder.refuse("its types and its shape do not go together");
  bool goodN = plan->n >= 8 && plan->n <= 256 && plan->n % 8 == 0 && (!integers || plan->n <= 24 || plan->n % 16 == 0);
  if (!goodN)
    decoder.refuse("n = " + std::to_string(plan->n) + " is not a shape of wgmma for these types");
  plan->dRegisters = *result == ScalarType::F16 ? plan->n / 4 : plan->n / 2;
  const Operand &destination = decoder.operand(0), &left = decoder.operand(1);
  op.type = ScalarType::B32;
  decoder.addParts(destination, true);
  if (op.count != plan->dRegisters)
    decoder.refuse("its result has " + std::to_string(op.count) + " registers, not " +
                   std::to_string(plan->dRegisters));
  collectRows(decoder, destination, plan->writes);
  plan->aInRegisters = left.kind == OperandKind::Vector;
  if (plan->aInRegisters) {
    decoder.addParts(left, false);
    if (op.count != plan->dRegisters + 4)
      decoder.refuse("A has 4 registers");
    collectRows(decoder, left, plan->reads);
  } else {
    plan->aDescriptor = decoder.valueOf(left, ScalarType::B64);
  }
  for (uint32_t i = 0; i < op.count; ++i)
    if (decoder.program.parts[op.first + i].bytes != 4)
      decoder.refuse("its registers have 32 bits");
  plan->bDescriptor = decoder.valueOf(decoder.operand(2), ScalarType::B64);
  plan->scale = decoder.predicate(decoder.operand(3));
  plan->scaleNegated = decoder.operand(3).negated;
  size_t next = 4;
  auto sign = [&] {
    auto value = static_cast<int64_t>(decoder.immediate(decoder.operand(next++)));
    if (value != 1 && value != -1)
      decoder.refuse("a scale is 1 or -1");
    return value < 0;
  };
  if (!integers) {
    plan->negateA = sign();
    plan->negateB = sign();
  }
  if (halves) {
    if (!plan->aInRegisters)
      plan->transposeA = decoder.immediate(decoder.operand(next++)) != 0;
    plan->transposeB = decoder.immediate(decoder.operand(next++)) != 0;
  }
  decoder.expectOperands(next, next);
  op.plan = plan;
  decoder.program.usesWgmma = decoder.decoded.usesWgmma = true;
  decoder.emit(wgmmaHandler, InstructionClass::WarpgroupMatrix);
}

void decodeWgmma(Decoder &decoder) {
  if (decoder.take("mma_async"))
    return decodeProduct(decoder);
  Op &op = decoder.op;
  std::string_view what = decoder.takeOneOf({"fence", "commit_group", "wait_group"});
  if (what.empty() || !decoder.take("sync") || !decoder.take("aligned"))
    decoder.refuse("the simulator does not know it");
  decoder.finishModifiers();
  if (what == "wait_group") {
    decoder.expectOperands(1, 1);
    op.offset = static_cast<int64_t>(decoder.immediate(decoder.operand(0)));
  }
  decoder.emit(what == "fence"          ? fenceHandler
               : what == "commit_group" ? commitHandler
                                        : waitHandler,
               InstructionClass::WarpgroupMatrix);
}

} // namespace

const std::vector<DecoderEntry> warpgroupDecoders = {{"wgmma", decodeWgmma}};

} // namespace nacre::simulator
