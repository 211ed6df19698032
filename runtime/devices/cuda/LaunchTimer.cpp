// See LaunchTimer.h.
#include "runtime/devices/cuda/LaunchTimer.h"
#include "runtime/Events.h"

namespace nacre::cuda {

CuEvent LaunchTimer::makeEvent() {
  if (!spare.empty()) {
    CuEvent event = spare.back();
    spare.pop_back();
    return event;
  }
  CuEvent event = nullptr;
  return library.cuEventCreate(&event, 0) == code::success ? event : nullptr;
}

// Times are floats of milliseconds since the base: it must not be long ago.
void LaunchTimer::takeBase(CuStream stream) {
  constexpr uint64_t second = 1000000000;
  if (base && (!pending.empty() || events::now() - baseTime < second))
    return;
  if (!base)
    base = makeEvent();
  if (base && library.cuEventRecord(base, stream) == code::success && library.cuEventSynchronize(base) == code::success)
    baseTime = events::now();
}

CuEvent LaunchTimer::begin(CuStream stream) {
  int isCapturing = 0;
  if (library.cuStreamIsCapturing(stream, &isCapturing) != code::success || isCapturing)
    return nullptr;
  std::lock_guard<std::mutex> guard(lock);
  takeBase(stream);
  CuEvent event = makeEvent();
  if (event && library.cuEventRecord(event, stream) != code::success) {
    spare.push_back(event);
    return nullptr;
  }
  return event;
}

void LaunchTimer::end(CuEvent begin, CuStream stream, uint64_t launch) {
  {
    std::lock_guard<std::mutex> guard(lock);
    CuEvent event = makeEvent();
    if (!event || library.cuEventRecord(event, stream) != code::success)
      return;
    pending.push_back({launch, begin, event});
  }
  events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchEnqueued(launch); });
}

void LaunchTimer::tellEnded() {
  std::vector<LaunchTimes> ended;
  {
    std::lock_guard<std::mutex> guard(lock);
    for (auto measured = pending.begin(); measured != pending.end();) {
      if (library.cuEventQuery(measured->end) != code::success) {
        ++measured;
        continue;
      }
      float untilBegin = 0, lasted = 0;
      if (library.cuEventElapsedTime(&untilBegin, base, measured->begin) == code::success &&
          library.cuEventElapsedTime(&lasted, measured->begin, measured->end) == code::success) {
        auto begin = baseTime + static_cast<uint64_t>(static_cast<double>(untilBegin) * 1e6);
        auto length = static_cast<uint64_t>(static_cast<double>(lasted) * 1e6);
        ended.push_back({measured->launch, begin, begin + length, length});
      }
      spare.insert(spare.end(), {measured->begin, measured->end});
      measured = pending.erase(measured);
    }
  }
  for (const LaunchTimes &times : ended) // listeners hold no lock of ours
    events::tell(LaunchTimeEvents, [&](EventListener &listener) { listener.launchTimes(times); });
}

} // namespace nacre::cuda
