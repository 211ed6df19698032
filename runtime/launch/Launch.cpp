#include "runtime/launch/Launch.h"
#include "runtime/Events.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

std::string assertText(const std::string &message, const std::string &file, uint32_t line, const uint32_t *program) {
  return file + ":" + std::to_string(line) + ": device_assert failed in program " + shownProgram(program) +
         (message.empty() ? "" : ": " + message);
}

std::string faultText(const std::string &what, const std::string &kernel, const std::string &file, uint32_t line) {
  return "the kernel `" + kernel + "` " + what + (line == 0 ? "" : ", in " + file + ":" + std::to_string(line));
}

// All who watch one launch, told in turn.
class Watchers : public LaunchWatcher {
public:
  void add(LaunchWatcher *watcher) {
    if (watcher)
      all.push_back(watcher);
  }
  LaunchWatcher *together() { return all.empty() ? nullptr : all.size() == 1 ? all.front() : this; }

  bool access(const AccessEvent &event) override {
    bool goesOn = true;
    for (LaunchWatcher *watcher : all)
      goesOn &= watcher->access(event);
    return goesOn;
  }
  bool told(const ToldEvent &event) override {
    bool goesOn = true;
    for (LaunchWatcher *watcher : all)
      goesOn &= watcher->told(event);
    return goesOn;
  }
  uint64_t firstUnwanted() const override {
    uint64_t first = UINT64_MAX;
    for (const LaunchWatcher *watcher : all)
      first = std::min(first, watcher->firstUnwanted());
    return first;
  }

private:
  llvm::SmallVector<LaunchWatcher *, 2> all;
};

} // namespace

std::string shownProgram(const uint32_t *program) {
  return "(" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " + std::to_string(program[2]) + ")";
}

KernelFaultError::KernelFaultError(const std::string &what, std::string kernel, std::optional<uint64_t> address,
                                   std::string file, uint32_t line)
    : std::runtime_error(faultText(what, kernel, file, line) +
                         "\nhint: TRITON_INTERPRET=1 or debug=True tells which array, element and program it was"),
      summary(faultText(what, kernel, file, line)), kernel(std::move(kernel)), address(address), file(std::move(file)),
      line(line) {}

OutOfBoundsError::OutOfBoundsError(Diagnostic found, const uint32_t *program)
    : std::runtime_error(found.render()), diagnostic(std::move(found)), program{program[0], program[1], program[2]} {}

DeviceAssertError::DeviceAssertError(std::string message, std::string file, uint32_t line, uint32_t column,
                                     const uint32_t *program)
    : std::runtime_error(assertText(message, file, line, program)), message(std::move(message)), file(std::move(file)),
      line(line), column(column), program{program[0], program[1], program[2]} {}

void launch(const Kernel &compiled, Device &device, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments,
            const LaunchOptions &options) {
  const Kernel &kernel = compiled.forLaunch(grid, arguments);
  auto enqueue = [&](const EnqueuedLaunch &enqueued) {
    if (grid[0] != 0 && grid[1] != 0 && grid[2] != 0)
      device.enqueue(kernel.on(device), enqueued);
  };
  EnqueuedLaunch enqueued{kernel.code, grid, arguments, options};
  bool isWatched = kernel.code.metadata.tells && events::isWanted(AccessEvents);
  if (!isWatched && !events::isWanted(LaunchEvents | LaunchTimeEvents | ProgramEvents))
    return enqueue(enqueued);
  LaunchEvent event{.id = events::nextLaunch(),
                    .name = kernel.code.symbol,
                    .kernel = &kernel,
                    .device = &device,
                    .stream = options.stream ? *options.stream : device.currentStream(),
                    .grid = grid,
                    .arguments = arguments,
                    .caller = options.caller};
  if (events::isWanted(LaunchTimeEvents | ProgramEvents))
    enqueued.event = event.id;
  events::around(event, [&] {
    Watchers watchers;
    if (isWatched)
      events::tell(AccessEvents, [&](EventListener &listener) { watchers.add(listener.watch(event)); });
    enqueued.watcher = watchers.together();
    enqueue(enqueued);
  });
}

} // namespace nacre
