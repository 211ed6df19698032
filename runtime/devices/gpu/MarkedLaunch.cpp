// See MarkedLaunch.h.
#include "runtime/devices/gpu/MarkedLaunch.h"
#include "compiler/ir/simt/ScopeRecord.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include <algorithm>
#include <cstring>

namespace nacre::gpu {

using simt::MarkPlace;
using simt::PassedMark;
using simt::ScopeRecord;

// What a record takes, unless each warp had fewer marks than the least.
static constexpr uint64_t usualBytes = uint64_t(64) << 20, leastMarks = 32, mostMarks = 4096;

MarkedLaunch::MarkedLaunch(Device &device, const EnqueuedLaunch &launch, llvm::ArrayRef<uint64_t> arguments,
                           uint64_t stream, bool isCaptured)
    : LaunchRecord(device, arguments, stream), launch(launch) {
  if (isCaptured || !launch.watcher) {
    leaveOut();
    return;
  }
  units = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] * launch.code.metadata.warps;
  capacity = std::clamp(usualBytes / (units * sizeof(PassedMark)), leastMarks, mostMarks);
  const size_t size = sizeof(ScopeRecord) + units * (sizeof(uint64_t) + capacity * sizeof(PassedMark));
  std::vector<std::byte> empty(size);
  ScopeRecord record{capacity};
  std::memcpy(empty.data(), &record, sizeof record);
  write(empty);
}

void MarkedLaunch::finish() {
  if (!address())
    return;
  std::vector<std::byte> left(bytes());
  device.copyOut(left.data(), address(), left.size());
  const std::vector<MarkPlace> &places = launch.code.metadata.marks;
  const uint64_t warps = launch.code.metadata.warps;
  const std::byte *area = left.data() + sizeof(ScopeRecord);
  for (uint64_t unit = 0; unit < units; ++unit, area += sizeof(uint64_t) + capacity * sizeof(PassedMark)) {
    uint64_t count;
    std::memcpy(&count, area, sizeof count);
    uint64_t number = unit / warps;
    const uint32_t program[3] = {static_cast<uint32_t>(number % launch.grid[0]),
                                 static_cast<uint32_t>(number / launch.grid[0] % launch.grid[1]),
                                 static_cast<uint32_t>(number / launch.grid[0] / launch.grid[1])};
    if (count > capacity) {
      ToldEvent lost{{program, number}, ToldKind::LostMarks, "", ""};
      lost.count = static_cast<uint32_t>(std::min<uint64_t>(count - capacity, UINT32_MAX));
      launch.watcher->told(lost);
    }
    for (uint64_t i = count > capacity ? count - capacity : 0; i < count; ++i) {
      PassedMark mark;
      std::memcpy(&mark, area + sizeof(uint64_t) + i % capacity * sizeof mark, sizeof mark);
      if (mark.place >= places.size())
        continue;
      const MarkPlace &place = places[mark.place];
      ToldEvent event{{program, number}, place.kind, place.name, place.file.c_str()};
      event.line = static_cast<uint32_t>(place.line);
      event.column = static_cast<uint32_t>(place.column);
      event.warp = static_cast<uint32_t>(unit % warps);
      event.processor = mark.processor;
      event.cycles = mark.cycles;
      launch.watcher->told(event);
    }
  }
}

} // namespace nacre::gpu
