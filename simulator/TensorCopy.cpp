// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch: boxes of 1 to 5 dimensions, tiled mode.
#include "simulator/AsyncCopy.h"
#include "simulator/TensorMap.h"

namespace nacre::simulator {
namespace {

struct TensorPlan {
  AddressOperand map, shared, mbarrier;
  uint32_t rank = 1;
  std::vector<Slot> coordinates;
  bool load = false, multicast = false, reduces = false, prefetch = false;
  AtomicOperation operation = AtomicOperation::Add;
  Slot blocks;
};

ScalarType scalarOf(TensorMapType type) {
  switch (type) {
  case TensorMapType::U32:
    return ScalarType::U32;
  case TensorMapType::S32:
    return ScalarType::S32;
  case TensorMapType::U64:
    return ScalarType::U64;
  case TensorMapType::S64:
    return ScalarType::S64;
  case TensorMapType::F16:
    return ScalarType::F16;
  case TensorMapType::BF16:
    return ScalarType::BF16;
  case TensorMapType::F64:
    return ScalarType::F64;
  case TensorMapType::F32:
  case TensorMapType::F32Flush:
  case TensorMapType::TF32:
  case TensorMapType::TF32Flush:
    return ScalarType::F32;
  case TensorMapType::U16:
    return ScalarType::U16;
  default:
    return ScalarType::U8;
  }
}

// One row of the box: `count` elements along the innermost dimension, in memory from `address` on.
struct Row {
  uint64_t address;
  bool inside;       // its outer coordinates are
  uint32_t sharedAt; // bytes from the box's start
};

void fillOutside(std::byte *to, uint32_t bytes, const TensorMapBits &map) {
  std::memset(to, 0, bytes);
  if (!map.fill)
    return;
  for (uint32_t i = 0; i < bytes; i += 2) { // the NaN that an H200 fills with
    to[i] = std::byte(0xF7);
    to[i + 1] = std::byte(0x7F);
  }
}

class BoxCopy {
public:
  BoxCopy(Warp &warp, unsigned lane, const TensorPlan &plan, const TensorMapBits &map)
      : warp(warp), lane(lane), plan(plan), map(map) {
    size = elementBytes(static_cast<TensorMapType>(map.type));
    for (uint32_t i = 0; i < plan.rank; ++i) {
      start[i] = static_cast<int32_t>(warp.at<uint32_t>(plan.coordinates[i])[lane]);
      extent[i] = (map.box[i] + map.elementStrides[i] - 1) / map.elementStrides[i];
      rows *= i ? extent[i] : 1;
    }
    rowBytes = extent[0] * size;
    bytes = rows * rowBytes;
  }
  uint32_t totalBytes() const { return bytes; }

  void load(const CopyTarget &target) const {
    forEachRow([&](const Row &row) {
      std::byte staging[2048];
      fillOutside(staging, rowBytes, map);
      if (row.inside)
        forEachRun(row, [&](uint32_t at, uint64_t address, uint32_t length) {
          std::byte *from = globalRange(warp, lane, address, length, false, "tensor copy");
          if (from)
            std::memcpy(staging + at, from, length);
        });
      forEachChunk(target.offset, row, [&](uint32_t offset, uint32_t at, uint32_t length) {
        trackCopyWrite(warp, lane, target, offset, length);
        std::memcpy(target.block->shared.data + offset, staging + at, length);
      });
    });
  }

  void store(const SharedRange &range) const {
    ScalarType type = scalarOf(static_cast<TensorMapType>(map.type));
    forEachRow([&](const Row &row) {
      std::byte staging[2048];
      forEachChunk(range.offset, row, [&](uint32_t offset, uint32_t at, uint32_t length) {
        trackCopyRead(warp, lane, {range.block, offset, nullptr}, length);
        std::memcpy(staging + at, range.block->shared.data + offset, length);
      });
      if (!row.inside)
        return;
      forEachRun(row, [&](uint32_t at, uint64_t address, uint32_t length) {
        if (!plan.reduces) {
          std::byte *to = globalRange(warp, lane, address, length, true, "tensor copy");
          if (to)
            std::memcpy(to, staging + at, length);
          return;
        }
        const Allocation *allocation = warp.launch->find(address);
        if (!allocation || address + length > allocation->end || !allocation->holds(address, length) ||
            !allocation->writable) {
          globalRange(warp, lane, address, length, true, "tensor reduction"); // reports
          return;
        }
        for (uint32_t i = 0; i < length; i += size) {
          uint64_t old = 0, value = 0;
          std::lock_guard lock(atomicMutex(warp, address + i));
          std::memcpy(&old, reinterpret_cast<std::byte *>(address + i), size);
          std::memcpy(&value, staging + at + i, size);
          value = atomicResult(plan.operation, type, old, value, 0, false);
          std::memcpy(reinterpret_cast<std::byte *>(address + i), &value, size);
        }
      });
    });
  }

private:
  Warp &warp;
  unsigned lane;
  const TensorPlan &plan;
  const TensorMapBits &map;
  uint32_t size = 1, rows = 1, rowBytes = 0, bytes = 0;
  int64_t start[5] = {};
  uint32_t extent[5] = {1, 1, 1, 1, 1};

  template <typename F> void forEachRow(F &&f) const {
    uint32_t index[5] = {};
    for (uint32_t r = 0; r < rows; ++r) {
      Row row{map.address, true, r * rowBytes};
      for (uint32_t i = 1; i < plan.rank; ++i) {
        int64_t coordinate = start[i] + int64_t(index[i]) * map.elementStrides[i];
        row.inside &= coordinate >= 0 && coordinate < int64_t(map.sizes[i]);
        row.address += static_cast<uint64_t>(coordinate) * map.strides[i - 1];
      }
      f(row);
      for (uint32_t i = 1; i < plan.rank && ++index[i] == extent[i]; ++i)
        index[i] = 0;
    }
  }
  // Stretches of the row that lie inside the tensor and together in memory: (bytes from the row's start, address,
  // bytes).
  template <typename F> void forEachRun(const Row &row, F &&f) const {
    uint32_t step = map.elementStrides[0];
    if (step == 1) {
      int64_t first = std::max<int64_t>(0, -start[0]),
              last = std::min<int64_t>(extent[0], int64_t(map.sizes[0]) - start[0]);
      if (first < last)
        f(static_cast<uint32_t>(first) * size, row.address + static_cast<uint64_t>(start[0] + first) * size,
          static_cast<uint32_t>(last - first) * size);
      return;
    }
    for (uint32_t i = 0; i < extent[0]; ++i) {
      int64_t coordinate = start[0] + int64_t(i) * step;
      if (coordinate >= 0 && coordinate < int64_t(map.sizes[0]))
        f(i * size, row.address + static_cast<uint64_t>(coordinate) * size, size);
    }
  }
  // Where the row lies in shared memory: the swizzle moves chunks of 16 bytes.
  template <typename F> void forEachChunk(uint32_t base, const Row &row, F &&f) const {
    if (map.swizzle == 0)
      return f(base + row.sharedAt, 0u, rowBytes);
    for (uint32_t at = 0; at < rowBytes; at += 16) {
      uint64_t place = swizzled(uint64_t(sharedStart) + base + row.sharedAt + at, map.swizzle);
      f(static_cast<uint32_t>(place - sharedStart), at, std::min(16u, rowBytes - at));
    }
  }
};

Status tensorHandler(Warp &warp, const Op &op, uint32_t mask) {
  const auto &plan = *static_cast<const TensorPlan *>(op.plan);
  forEachLane(mask, [&](unsigned lane) {
    uint64_t mapAddress = plan.map.of(warp, lane);
    const Allocation *allocation = warp.launch->find(mapAddress);
    if (!allocation || mapAddress + 128 > allocation->end) {
      warp.launch->report(
          warp, lane, FindingKind::TensorMapError,
          "the tensor map's address is in no registered memory (it must be a parameter, constant or global)");
      return;
    }
    TensorMapBits map;
    std::memcpy(&map, reinterpret_cast<const void *>(mapAddress), sizeof map);
    auto wrong = wrongWith(map);
    if (!wrong && map.rank + 1u != plan.rank)
      wrong = "it has " + std::to_string(map.rank + 1) + " dimensions, the instruction " + std::to_string(plan.rank);
    if (!wrong && mapAddress % 64)
      wrong = "its address is not a multiple of 64";
    if (wrong) {
      warp.launch->report(warp, lane, FindingKind::TensorMapError, "the tensor map: " + *wrong);
      return;
    }
    if (plan.prefetch)
      return;
    checkMapFences(warp, lane, mapAddress);
    auto inner = static_cast<int64_t>(static_cast<int32_t>(warp.at<uint32_t>(plan.coordinates[0])[lane])) *
                 elementBytes(static_cast<TensorMapType>(map.type));
    if (inner % 16) {
      warp.launch->report(warp, lane, FindingKind::TensorMapError,
                          "the box begins at byte " + std::to_string(inner) +
                              " of the innermost dimension, which is not a multiple of 16: the hardware refuses it");
      return;
    }
    if (!plan.load)
      for (uint32_t axis = 0; axis < plan.rank; ++axis)
        if (auto begin = static_cast<int32_t>(warp.at<uint32_t>(plan.coordinates[axis])[lane]); begin < 0) {
          warp.launch->report(warp, lane, FindingKind::TensorMapError,
                              "a box is stored from coordinate " + std::to_string(begin) + " of dimension " +
                                  std::to_string(axis) + " on: the hardware refuses stores before the array");
          return;
        }
    BoxCopy copy(warp, lane, plan, map);
    uint64_t shared = plan.shared.of(warp, lane);
    uint64_t alignment = 128;
    if (shared % alignment) {
      warp.launch->report(warp, lane, FindingKind::Misaligned,
                          "a tensor copy's shared address must be a multiple of 128");
      return;
    }
    currentWorker->bulkBytes += copy.totalBytes();
    // A swizzle that is not aligned to its pattern reaches into the neighbourhood.
    uint32_t pattern = map.swizzle == 3 ? 1024 : map.swizzle == 2 ? 512 : map.swizzle == 1 ? 256 : 128;
    if (warp.launch->checks && map.swizzle && shared % pattern)
      warp.launch->report(warp, lane, FindingKind::TensorMapError,
                          "the shared address of a swizzled tensor copy is not a multiple of its pattern of " +
                              std::to_string(pattern) + " bytes");
    if (plan.load) {
      uint32_t blocks = plan.multicast ? warp.at<uint32_t>(plan.blocks)[lane] : 0;
      for (const CopyTarget &target : copyTargets(warp, lane, shared, copy.totalBytes(), plan.mbarrier.of(warp, lane),
                                                  plan.multicast, blocks, "tensor copy")) {
        copy.load(target);
        completeTransactions(warp, lane, target.mbarrier, copy.totalBytes());
      }
      return;
    }
    SharedRange range = sharedRange(warp, lane, shared, copy.totalBytes(), "tensor copy");
    if (!range.block)
      return;
    warp.bulkOpen = true;
    warp.bulkReads = warp.bulkGroups + 1;
    warp.lastBulk = warp.pc;
    copy.store(range);
    progressed(warp);
  });
  return Status::Next;
}

} // namespace

void decodeTensorCopy(Decoder &decoder, bool reduces, bool prefetches) {
  Op &op = decoder.op;
  auto *plan = decoder.plan<TensorPlan>();
  plan->reduces = reduces;
  plan->prefetch = prefetches || decoder.take("prefetch");
  std::string_view dimensions = decoder.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (dimensions.empty())
    decoder.refuse("its dimensions are missing");
  plan->rank = static_cast<uint32_t>(dimensions[0] - '0');
  for (std::string_view mode :
       {"im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"})
    if (decoder.take(mode))
      decoder.refuse("the mode ." + std::string(mode) + " is not simulated: tiled copies are");
  if (plan->prefetch) {
    decoder.take("L2");
    decoder.take("global");
  } else {
    std::string_view destination = decoder.takeOneOf({"shared::cluster", "shared::cta"});
    bool toGlobal = decoder.take("global");
    if (!toGlobal)
      decoder.refuse("one side of it is global memory");
    // shared::X.global loads, global.shared::cta stores: the order of the words says which
    bool load = decoder.instruction->opcode.find("shared::") < decoder.instruction->opcode.find(".global");
    plan->load = load;
    if (destination.empty() || (load && reduces))
      decoder.refuse("the simulator does not know a tensor copy between these spaces");
  }
  decoder.take("tile");
  bool barrier = decoder.take("mbarrier::complete_tx::bytes"), group = decoder.take("bulk_group");
  if (!plan->prefetch && (barrier != plan->load || group == plan->load))
    decoder.refuse("a load completes on an mbarrier, a store in a bulk group");
  plan->multicast = decoder.take("multicast::cluster");
  if (decoder.take("cta_group::1") || decoder.take("cta_group::2"))
    decoder.refuse(".cta_group is of later chips");
  bool policy = takeCacheModifiers(decoder);
  if (reduces) {
    auto reduction = takeBulkReduction(decoder);
    if (!reduction)
      decoder.refuse("its operation is missing");
    plan->operation = reduction->first;
    decoder.program.hasGlobalAtomics = true;
  }
  decoder.finishModifiers();
  size_t next = 0;
  auto takeMap = [&](const Operand &operand) {
    if (operand.kind != OperandKind::Address || operand.elements.size() != 2 ||
        operand.elements[1].kind != OperandKind::Vector)
      decoder.refuse("its tensor must be [map, {coordinates}]");
    plan->map = addressOperand(decoder, operand, Space::Generic);
    for (const Operand &coordinate : operand.elements[1].elements)
      plan->coordinates.push_back(decoder.valueOf(coordinate, ScalarType::S32));
    if (plan->coordinates.size() != plan->rank)
      decoder.refuse("it has " + std::to_string(plan->coordinates.size()) + " coordinates for " +
                     std::to_string(plan->rank) + " dimensions");
  };
  if (plan->prefetch) {
    takeMap(decoder.operand(next++));
  } else if (plan->load) {
    plan->shared = addressOperand(decoder, decoder.operand(next++), Space::Shared);
    takeMap(decoder.operand(next++));
    plan->mbarrier = addressOperand(decoder, decoder.operand(next++), Space::Shared);
    if (plan->multicast)
      plan->blocks = decoder.valueOf(decoder.operand(next++), ScalarType::B16);
  } else {
    takeMap(decoder.operand(next++));
    plan->shared = addressOperand(decoder, decoder.operand(next++), Space::Shared);
  }
  if (policy)
    decoder.valueOf(decoder.operand(next++), ScalarType::B64);
  decoder.expectOperands(next, next);
  op.plan = plan;
  decoder.emit(tensorHandler, InstructionClass::TensorCopy);
}

} // namespace nacre::simulator
