// See CheckedLaunch.h.
#include "runtime/devices/gpu/CheckedLaunch.h"
#include "compiler/ir/simt/AccessRecord.h"
#include "runtime/Device.h"
#include "runtime/launch/CheckedAccess.h"
#include <cstring>

namespace nacre::gpu {

using simt::AccessRecord;
using simt::AccessSite;
using simt::ArrayBounds;

// All memory: nothing is out of bounds.
static constexpr ArrayBounds everything{0, ~uint64_t(0), ~uint64_t(0)};

static ArrayBounds boundsOf(const MemoryMap::Range &range) {
  uint64_t length = range.end - range.begin;
  return {range.begin, length, range.isReadOnly ? 0 : length};
}

CheckedLaunch::CheckedLaunch(Device &device, const EnqueuedLaunch &launch, const KnownArrays *known, uint64_t stream,
                             bool isCaptured)
    : LaunchRecord(device, launch.arguments, stream), code(launch.code), arrays(known) {
  if (isCaptured) {
    leaveOut();
    return;
  }
  std::vector<ArrayBounds> rows;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const MemoryMap::Range *own =
        arrays && i < arrays->ofArgument.size() ? arrays->memory.numbered(arrays->ofArgument[i]) : nullptr;
    rows.push_back(own ? boundsOf(*own) : everything);
  }
  AccessRecord record;
  if (arrays && arrays->memory.isComplete) {
    for (const MemoryMap::Range &range : arrays->memory.all())
      rows.push_back(boundsOf(range));
    record.arrayCount = static_cast<uint32_t>(arrays->memory.all().size());
  } else {
    rows.push_back(everything);
    record.arrayCount = 1;
  }
  record.reportOffset = reportOffset = sizeof record + rows.size() * sizeof(ArrayBounds);
  int64_t elements = 0;
  for (const AccessSite &site : code.metadata.accessSites)
    elements = std::max(elements, site.elements());
  std::vector<std::byte> bytes(reportOffset + static_cast<uint64_t>(elements) * (sizeof(uint64_t) + 1));
  std::memcpy(bytes.data(), &record, sizeof record);
  std::memcpy(bytes.data() + sizeof record, rows.data(), rows.size() * sizeof(ArrayBounds));
  write(bytes);
}

void CheckedLaunch::finish() {
  if (!address())
    return;
  AccessRecord record;
  device.copyOut(&record, address(), sizeof record);
  if (record.refused == 0)
    return;
  const AccessSite &site = code.metadata.accessSites.at(record.site);
  if (site.isAssertion())
    throw DeviceAssertError(site.message, site.file, static_cast<uint32_t>(site.line),
                            static_cast<uint32_t>(site.column), record.program);
  assert(arrays && "nothing is refused where no arrays are known");
  auto elements = static_cast<size_t>(site.elements());
  std::vector<uint64_t> addresses(elements);
  std::vector<uint8_t> mask(elements);
  uint64_t report = address() + reportOffset;
  device.copyOut(addresses.data(), report, elements * sizeof(uint64_t));
  device.copyOut(mask.data(), report + elements * sizeof(uint64_t), elements);
  llvm::ArrayRef<int64_t> shape = site.shape;
  CheckedAccess access{record.program,
                       site.access,
                       site.writes,
                       static_cast<uint32_t>(site.kind),
                       static_cast<uint32_t>(site.size),
                       static_cast<int32_t>(site.argument),
                       site.isTile ? &shape : nullptr,
                       addresses.data(),
                       site.isMasked ? mask.data() : nullptr,
                       site.file,
                       static_cast<uint32_t>(site.line),
                       static_cast<uint32_t>(site.column)};
  if (std::optional<OutOfBoundsError> error = refusalOf(access, *arrays))
    throw *error;
}

} // namespace nacre::gpu
