// Tensor maps: made by the host, changed by tensormap.replace, checked against the hardware's rules.
#include "simulator/TensorMap.h"
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/MemoryModifiers.h"
#include <algorithm>

namespace nacre::simulator {

uint32_t elementBytes(TensorMapType type) {
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return bytes[size_t(type)];
}

std::optional<std::string> wrongWith(const TensorMapBits &map) {
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (map.rank > 4)
    return "its rank is " + number(map.rank + 1u) + ", more than 5";
  if (map.type >= uint8_t(TensorMapType::Count))
    return "its element type " + number(map.type) + " is not known";
  uint32_t bytes = elementBytes(static_cast<TensorMapType>(map.type));
  if (map.interleave)
    return std::string("interleaved layouts are not simulated");
  if (map.address == 0 || map.address % 16)
    return std::string("its global address is not a multiple of 16");
  if (map.swizzle > 3)
    return "its swizzle mode " + number(map.swizzle) + " is not known";
  uint64_t inner = 0;
  for (uint32_t i = 0; i <= map.rank; ++i) {
    if (map.sizes[i] == 0)
      return "its size " + number(i) + " is 0";
    if (map.box[i] == 0 || map.box[i] > 256)
      return "its box dimension " + number(i) + " is " + number(map.box[i]) + ", not 1 to 256";
    if (map.elementStrides[i] == 0 || map.elementStrides[i] > 8)
      return "its element stride " + number(i) + " is " + number(map.elementStrides[i]) + ", not 1 to 8";
    if (i > 0 && (map.strides[i - 1] % 16 || map.strides[i - 1] >= (uint64_t(1) << 40)))
      return "its stride " + number(i - 1) + " of " + number(map.strides[i - 1]) +
             " bytes is not a multiple of 16 below 2^40";
    if (i == 0)
      inner = uint64_t((map.box[0] + map.elementStrides[0] - 1) / map.elementStrides[0]) * bytes;
  }
  if (inner % 16)
    return "the inner box dimension has " + number(inner) + " bytes, not a multiple of 16";
  static constexpr uint32_t widths[] = {0, 32, 64, 128};
  if (map.swizzle && inner > widths[map.swizzle])
    return "the inner box dimension has " + number(inner) + " bytes, more than the swizzle's " +
           number(widths[map.swizzle]);
  return std::nullopt;
}

TensorMap encodeTensorMap(const TensorMapParameters &parameters) {
  using Type = TensorMapParameters::Type;
  TensorMapBits map{};
  if (parameters.rank < 1 || parameters.rank > 5)
    throw Error("tensor map: the rank is 1 to 5, not " + std::to_string(parameters.rank));
  map.address = reinterpret_cast<uint64_t>(parameters.address);
  map.rank = static_cast<uint8_t>(parameters.rank - 1);
  for (uint32_t i = 0; i < parameters.rank; ++i) {
    if (parameters.sizes[i] == 0 || parameters.sizes[i] > (uint64_t(1) << 32) - 1)
      throw Error("tensor map: size " + std::to_string(i) + " must be 1 to 2^32 - 1");
    map.sizes[i] = static_cast<uint32_t>(parameters.sizes[i]);
    map.box[i] = parameters.box[i];
    if (parameters.elementStrides[i] > 255)
      throw Error("tensor map: element stride " + std::to_string(i) + " is not 1 to 8");
    map.elementStrides[i] = static_cast<uint8_t>(parameters.elementStrides[i]);
    if (i > 0)
      map.strides[i - 1] = parameters.strides[i - 1];
  }
  switch (parameters.type) {
  case Type::F64:
    map.type = uint8_t(TensorMapType::F64);
    break;
  case Type::BF16:
    map.type = uint8_t(TensorMapType::BF16);
    break;
  case Type::F32Flush:
    map.type = uint8_t(TensorMapType::F32Flush);
    break;
  default:
    map.type = uint8_t(parameters.type); // the numbers agree
  }
  map.interleave = parameters.interleave;
  map.swizzle = uint8_t(parameters.swizzle);
  map.fill = parameters.fillNaN;
  if (auto wrong = wrongWith(map))
    throw Error("tensor map: " + *wrong);
  TensorMap bytes;
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

void noteMapChange(Warp &warp, uint64_t address, bool released) {
  if (!warp.launch->checks)
    return;
  std::lock_guard lock(warp.launch->synchronizedMutex);
  ChangedMap &map = warp.launch->changedMaps[address];
  map.op = warp.pc;
  ++map.version;
  map.released = released;
  map.block = warp.block->linear;
}
void releaseMaps(Warp &warp) {
  std::lock_guard lock(warp.launch->synchronizedMutex);
  for (auto &[address, map] : warp.launch->changedMaps)
    map.released |= map.block == warp.block->linear;
}
void acquireMap(Warp &warp, uint64_t address) {
  std::lock_guard lock(warp.launch->synchronizedMutex);
  auto found = warp.launch->changedMaps.find(address);
  if (found == warp.launch->changedMaps.end())
    return;
  ChangedMap &map = found->second;
  std::erase_if(map.acquires, [&](const ChangedMap::Acquire &old) {
    return old.block == warp.block->linear && old.agent == warp.agent;
  });
  map.acquires.push_back({warp.block->linear, warp.agent, warp.ownClock(), map.version});
}
void checkMapFences(Warp &warp, uint32_t lane, uint64_t address) {
  if (!warp.launch->checks)
    return;
  std::string missing;
  uint32_t op = 0;
  {
    std::lock_guard lock(warp.launch->synchronizedMutex);
    auto found = warp.launch->changedMaps.find(address);
    if (found == warp.launch->changedMaps.end())
      return;
    const ChangedMap &map = found->second;
    op = map.op;
    bool acquired = std::any_of(map.acquires.begin(), map.acquires.end(), [&](const ChangedMap::Acquire &acquire) {
      return acquire.version == map.version && acquire.block == warp.block->linear &&
             (acquire.agent == warp.agent || clockOf(warp.clocks.seen, acquire.agent) >= acquire.clock);
    });
    missing = !map.released ? "release" : !acquired ? "acquire" : "";
  }
  if (!missing.empty())
    warp.launch->report(warp, lane, FindingKind::ProxyRace,
                        "a tensor copy uses a tensor map that the kernel has changed: fence.proxy.tensormap::generic." +
                            missing + " is missing between them",
                        op);
}

namespace {

enum class Field : uint8_t {
  Address,
  Rank,
  Box,
  Size,
  Stride,
  ElementStride,
  Type,
  Interleave,
  Swizzle,
  Atomicity,
  Fill
};

Status replaceHandler(Warp &warp, const Op &op, uint32_t mask) {
  uint64_t address[laneCount];
  std::byte *host[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  Access access;
  access.space = op.space;
  access.bytes = 128;
  access.alignment = 64;
  access.kind = AccessKind::Write;
  uint32_t good = resolve(warp, op, mask, address, host, access);
  overwrites.mask = 0;
  forEachLane(good, [&](unsigned lane) {
    TensorMapBits map;
    std::memcpy(&map, host[lane], sizeof map);
    uint64_t value = op.bytes == 8 ? warp.at<uint64_t>(op.b)[lane] : warp.at<uint32_t>(op.b)[lane];
    auto byte = static_cast<uint8_t>(std::min<uint64_t>(value, 255));
    switch (static_cast<Field>(op.flags)) {
    case Field::Address:
      map.address = value;
      break;
    case Field::Rank:
      map.rank = byte;
      break;
    case Field::Box:
      map.box[op.extra] = static_cast<uint32_t>(value);
      break;
    case Field::Size:
      map.sizes[op.extra] = static_cast<uint32_t>(value);
      break;
    case Field::Stride:
      map.strides[op.extra] = value;
      break;
    case Field::ElementStride:
      map.elementStrides[op.extra] = byte;
      break;
    case Field::Type:
      map.type = byte;
      break;
    case Field::Interleave:
      map.interleave = byte;
      break;
    case Field::Swizzle:
      map.swizzle = byte;
      break;
    case Field::Atomicity:
      map.atomicity = byte;
      break;
    case Field::Fill:
      map.fill = byte;
      break;
    }
    std::memcpy(host[lane], &map, sizeof map);
    if (warp.launch->find(reinterpret_cast<uint64_t>(host[lane])))
      noteMapChange(warp, reinterpret_cast<uint64_t>(host[lane]), false);
  });
  return Status::Next;
}

void decodeReplace(Decoder &decoder) {
  Op &op = decoder.op;
  if (!decoder.take("tile"))
    decoder.refuse("it is .tile");
  static constexpr std::pair<std::string_view, Field> fields[] = {{"global_address", Field::Address},
                                                                  {"rank", Field::Rank},
                                                                  {"box_dim", Field::Box},
                                                                  {"global_dim", Field::Size},
                                                                  {"global_stride", Field::Stride},
                                                                  {"element_stride", Field::ElementStride},
                                                                  {"elemtype", Field::Type},
                                                                  {"interleave_layout", Field::Interleave},
                                                                  {"swizzle_mode", Field::Swizzle},
                                                                  {"swizzle_atomicity", Field::Atomicity},
                                                                  {"fill_mode", Field::Fill}};
  bool found = false, indexed = false;
  for (auto &[name, field] : fields)
    if (decoder.take(name)) {
      op.flags = uint32_t(field);
      indexed = field == Field::Box || field == Field::Size || field == Field::Stride || field == Field::ElementStride;
      found = true;
    }
  if (!found)
    decoder.refuse("its field is not known");
  op.space = decoder.takeSpace(Space::Generic);
  if (!decoder.take("b1024"))
    decoder.refuse("it needs .b1024");
  ScalarType type = decoder.takeType();
  decoder.finishModifiers();
  decoder.expectOperands(indexed ? 3 : 2, indexed ? 3 : 2);
  decoder.address(decoder.operand(0), op.space);
  if (indexed) {
    op.extra = static_cast<uint32_t>(decoder.immediate(decoder.operand(1)));
    if (op.extra > (static_cast<Field>(op.flags) == Field::Stride ? 3u : 4u))
      decoder.refuse("there is no such dimension");
  }
  op.bytes = static_cast<uint8_t>(bytesOf(type));
  op.b = decoder.valueOf(decoder.operand(indexed ? 2 : 1), type);
  decoder.emit(replaceHandler, InstructionClass::TensorCopy);
}

// tensormap.cp_fenceproxy: 128 bytes from shared to global memory, as one for the warp.
Status copyFenceHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  uint64_t to[laneCount], from[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, to);
  addressesOf(warp, op.b, 0, op.flags & 1, from);
  unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
  SharedRange range = sharedRange(warp, lane, from[lane] + op.extra, 128, "tensormap.cp_fenceproxy");
  std::byte *target = globalRange(warp, lane, to[lane], 128, true, "tensormap.cp_fenceproxy", GenericStream);
  if (range.block && target)
    std::memcpy(target, range.data, 128), noteMapChange(warp, to[lane], true);
  progressed(warp);
  return Status::Next;
}

void decodeTensorMap(Decoder &decoder) {
  if (decoder.take("replace"))
    return decodeReplace(decoder);
  if (!decoder.take("cp_fenceproxy"))
    decoder.refuse("the simulator does not know it");
  Op &op = decoder.op;
  decoder.take("global");
  decoder.take("shared::cta");
  decoder.take("tensormap::generic");
  takeOrder(decoder, MemoryOrder::Release);
  takeScope(decoder, Scope::Gpu);
  decoder.take("sync");
  decoder.take("aligned");
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  decoder.address(decoder.operand(0), Space::Global);
  int64_t offset;
  uint8_t narrow;
  decoder.addressInto(decoder.operand(1), Space::Shared, op.b, offset, narrow);
  op.extra = static_cast<uint32_t>(offset);
  op.flags = narrow;
  decoder.emit(copyFenceHandler, InstructionClass::TensorCopy);
}

} // namespace

const std::vector<DecoderEntry> tensorDecoders = {{"tensormap", decodeTensorMap}};

} // namespace nacre::simulator
