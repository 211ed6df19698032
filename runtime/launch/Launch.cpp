#include "runtime/launch/Launch.h"
#include "runtime/Events.h"

namespace nacre {

namespace {

std::string assertText(const std::string &message, const std::string &file, uint32_t line, const uint32_t *program) {
  return file + ":" + std::to_string(line) + ": device_assert failed in program " + shownProgram(program) +
         (message.empty() ? "" : ": " + message);
}

std::string faultText(const std::string &what, const std::string &kernel, const std::string &file, uint32_t line) {
  return "the kernel `" + kernel + "` " + what + (line == 0 ? "" : ", in " + file + ":" + std::to_string(line));
}

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

void launch(const Kernel &kernel, Device &device, const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments,
            const LaunchOptions &options) {
  auto enqueue = [&](const EnqueuedLaunch &enqueued) {
    if (grid[0] != 0 && grid[1] != 0 && grid[2] != 0)
      device.enqueue(kernel.on(device), enqueued);
  };
  EnqueuedLaunch enqueued{kernel.code, grid, arguments, options};
  if (!events::isWanted(LaunchEvents | LaunchTimeEvents | ProgramEvents))
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
  events::around(event, [&] { enqueue(enqueued); });
}

} // namespace nacre
