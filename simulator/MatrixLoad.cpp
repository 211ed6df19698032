// ldmatrix, stmatrix, movmatrix: 8 x 8 tiles of 16-bit elements. Lane i gives the address of row i % 8 of tile i / 8;
// lane T holds elements 2 (T % 4) and the next of row T / 4, or of column T / 4 with .trans.
#include "simulator/Execute.h"
#include "simulator/Memory.h"
#include "simulator/Races.h"

namespace nacre::simulator {
namespace {

Status matrixHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  bool store = op.flags & 1, transposed = op.flags & 2;
  if (mask != allLanes) {
    warp.launch->report(warp, static_cast<uint32_t>(std::countr_zero(mask)), FindingKind::SynchronizationMisuse,
                        "ldmatrix and stmatrix need all 32 lanes of the warp");
    return Status::Next;
  }
  uint64_t address[laneCount];
  addressesOf(warp, op.a, op.offset, op.lanes32, address);
  if (op.space == Space::Generic)
    for (uint64_t &at : address)
      toShared(at);
  const Part *parts = warp.program->parts.data() + op.first;
  unsigned tiles = op.count;
  uint32_t rows = tiles == 4 ? allLanes : (1u << (tiles * 8)) - 1;
  std::byte *data[laneCount];
  SharedRange ranges[laneCount];
  bool good = true;
  if (!store)
    ++warp.warpSyncs;
  forEachLane(rows, [&](unsigned lane) {
    if (address[lane] % 16) {
      warp.launch->report(warp, lane, FindingKind::Misaligned,
                          std::string(store ? "stmatrix" : "ldmatrix") +
                              " with a row address that is not a multiple of 16");
      good = false;
      return;
    }
    ranges[lane] = sharedRange(warp, lane, address[lane], 16, store ? "stmatrix" : "ldmatrix");
    if (!ranges[lane].block) {
      good = false;
      return;
    }
    data[lane] = ranges[lane].data;
    if (warp.launch->checks)
      trackShared(warp, *ranges[lane].block, ranges[lane].offset, 16, genericAccess(warp, lane, store, false));
  });
  if (warp.launch->counters)
    countShared(warp, address, rows, 16, /*loads=*/false); // rows are not merged
  if (!good)
    return Status::Next;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    uint16_t elements[8][8];
    uint32_t *reg = warp.at<uint32_t>(parts[tile].slot);
    if (!store)
      for (unsigned row = 0; row < 8; ++row)
        std::memcpy(elements[row], data[tile * 8 + row], 16);
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned j = 0; j < 2; ++j) {
        unsigned major = lane / 4, minor = lane % 4 * 2 + j;
        uint16_t &element = transposed ? elements[minor][major] : elements[major][minor];
        if (store)
          element = static_cast<uint16_t>(reg[lane] >> (16 * j));
        else
          reg[lane] = j ? (reg[lane] & 0xFFFF) | uint32_t(element) << 16 : element;
      }
    if (store)
      for (unsigned row = 0; row < 8; ++row)
        std::memcpy(data[tile * 8 + row], elements[row], 16);
  }
  if (store)
    progressed(warp);
  return Status::Next;
}

Status moveHandler(Warp &warp, const Op &op, uint32_t mask) {
  if (!gather(warp, mask, warp.live))
    return Status::Blocked;
  const uint32_t *a = warp.at<uint32_t>(op.a);
  uint16_t elements[8][8];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    for (unsigned j = 0; j < 2; ++j)
      elements[lane / 4][lane % 4 * 2 + j] = static_cast<uint16_t>(a[lane] >> (16 * j));
  uint32_t *d = warp.at<uint32_t>(op.d);
  forEachLane(mask, [&](unsigned lane) {
    d[lane] = elements[lane % 4 * 2][lane / 4] | uint32_t(elements[lane % 4 * 2 + 1][lane / 4]) << 16;
  });
  ++warp.warpSyncs;
  return Status::Next;
}

void decodeTiles(Decoder &decoder, bool store) {
  Op &op = decoder.op;
  decoder.take("sync");
  decoder.take("aligned");
  if (!decoder.take("m8n8"))
    decoder.refuse("the shape m8n8 is simulated");
  std::string_view count = decoder.takeOneOf({"x1", "x2", "x4"});
  if (count.empty())
    decoder.refuse("its count of tiles is missing");
  op.flags = (store ? 1u : 0u) | (decoder.take("trans") ? 2u : 0u);
  op.space = decoder.takeSpace(Space::Generic);
  if (!decoder.take("b16"))
    decoder.refuse("its elements are .b16");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  op.type = ScalarType::B32;
  decoder.addParts(decoder.operand(store ? 1 : 0), !store);
  if (op.count != static_cast<uint32_t>(count[1] - '0'))
    decoder.refuse("its vector has a wrong number of registers");
  for (uint32_t i = 0; i < op.count; ++i)
    if (decoder.program.parts[op.first + i].bytes != 4)
      decoder.refuse("its registers have 32 bits");
  decoder.address(decoder.operand(store ? 0 : 1), op.space);
  decoder.emit(matrixHandler, InstructionClass::Matrix);
}

} // namespace

void decodeLoadMatrix(Decoder &decoder) { decodeTiles(decoder, false); }
void decodeStoreMatrix(Decoder &decoder) { decodeTiles(decoder, true); }
void decodeMoveMatrix(Decoder &decoder) {
  for (std::string_view word : {"sync", "aligned", "m8n8", "trans", "b16"})
    if (!decoder.take(word))
      decoder.refuse("it is movmatrix.sync.aligned.m8n8.trans.b16");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  decoder.op.d = decoder.destination(decoder.operand(0), 4);
  decoder.op.a = decoder.valueOf(decoder.operand(1), ScalarType::B32);
  decoder.emit(moveHandler, InstructionClass::Matrix);
}

} // namespace nacre::simulator
