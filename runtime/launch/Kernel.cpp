#include "runtime/launch/Kernel.h"
#include "runtime/Events.h"
#include "runtime/cache/KernelEntry.h"
#include "runtime/cache/StageEntry.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

namespace nacre {

static uint64_t nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Kernel::Kernel(std::string hash, CompiledCode made)
    : hash(std::move(hash)), code(std::move(made)), needsCheck(!code.metadata.launchCheck.empty()),
      check(LaunchCheck::parse(code.metadata.launchCheck)),
      checkedArguments(check ? check->arguments() : llvm::SmallVector<uint32_t, 0>()), number(nextNumber()) {}

Kernel::~Kernel() = default;

LoadedKernel &Kernel::load(Device &device) const {
  std::unique_lock<RenewedLock> guard(loadLock);
  Load &entry = loads[&device];
  if (entry.kernel)
    return *entry.kernel;
  uint64_t begin = events::isWanted(SpanEvents) ? events::now() : 0;
  entry = {&device, device.load(code)};
  const Load *none = nullptr;
  first.compare_exchange_strong(none, &entry, std::memory_order_release);
  LoadedKernel &loaded = *entry.kernel;
  guard.unlock();
  if (begin != 0) {
    SpanEvent span{"load", code.symbol, begin, events::now()};
    events::tell(SpanEvents, [&](EventListener &listener) { listener.span(span); });
  }
  return loaded;
}

bool Kernel::passes(const uint32_t grid[3], llvm::ArrayRef<uint64_t> arguments) const {
  // Launches with the numbers of the last one of this thread pass as that one did.
  struct Passed {
    uint64_t kernel = 0;
    std::array<uint32_t, 3> grid = {};
    llvm::SmallVector<uint64_t, 8> arguments;
  };
  static thread_local Passed last;
  std::array<uint32_t, 3> extents = {grid[0], grid[1], grid[2]};
  if (!check || llvm::any_of(checkedArguments, [&](uint32_t index) { return index >= arguments.size(); }))
    return false;
  bool isSame = last.kernel == number && last.grid == extents;
  for (size_t i = 0; isSame && i < checkedArguments.size(); ++i)
    isSame = last.arguments[i] == arguments[checkedArguments[i]];
  if (isSame)
    return true;
  if (!check->holds(grid, arguments))
    return false;
  last.kernel = number;
  last.grid = extents;
  last.arguments.clear();
  for (uint32_t index : checkedArguments)
    last.arguments.push_back(arguments[index]);
  return true;
}

const Kernel &Kernel::general() const {
  std::lock_guard<RenewedLock> guard(stageLock);
  if (generalKernel)
    return *generalKernel;
  if (!origin)
    throw std::runtime_error(
        "the kernel `" + code.symbol +
        "` was compiled for launches whose index arithmetic does not become negative, and this one's may; "
        "launch it where it was compiled, which compiles it for all launches");
  const char *kind = "general";
  std::optional<std::string> entry = origin->store ? origin->store->read(hash, kind) : std::nullopt;
  std::optional<CompiledCode> made = entry ? decodeKernel(*entry) : std::nullopt;
  CompileRequest request = origin->request;
  request.options.checksLaunches = false;
  const char *kindOfStages = "general_stages";
  KeptStages kept;
  if (!made) {
    CompileWatchers watchers;
    watchers.keep = [&](const std::string &stage, std::string form) { kept[stage] = std::move(form); };
    made = compileKernel(request, *origin->record, watchers);
    if (origin->store && origin->store->write(hash, kindOfStages, encodeStages(kept)))
      kept.clear();
    if (origin->store)
      origin->store->write(hash, kind, encodeKernel(*made));
  }
  assert(made->metadata.launchCheck.empty() && "the conservative version has no check");
  generalKernel = std::make_unique<Kernel>(hash + "-" + kind, std::move(*made));
  generalKernel->setOrigin(request, origin->record, origin->store, kept.empty() ? "" : encodeStages(kept));
  generalKernel->origin->key = hash;
  generalKernel->origin->kind = kindOfStages;
  return *generalKernel;
}

void Kernel::setOrigin(CompileRequest request, std::shared_ptr<RecordingEmbedder> record,
                       std::shared_ptr<ArtifactStore> store, std::string stages) {
  std::lock_guard<RenewedLock> guard(stageLock);
  origin = std::make_unique<Origin>(
      Origin{std::move(request), std::move(record), std::move(store), std::move(stages), hash});
  origin->request.staticPrint = [](llvm::StringRef) {}; // it was printed when the kernel was compiled
  origin->request.options.reports = {};                 // so were its passes
}

const StageTexts &Kernel::stages() const {
  std::lock_guard<RenewedLock> guard(stageLock);
  if (!stageTexts.empty() || !origin)
    return stageTexts;
  bool isInStore = origin->stages.empty() && origin->store;
  KeptStages kept =
      decodeStages(isInStore ? origin->store->read(origin->key, origin->kind).value_or("") : origin->stages);
  if (!kept.empty())
    stageTexts = textsOfKept(origin->request, kept);
  if (stageTexts.empty())
    compileKernel(origin->request, *origin->record,
                  {.onStage = [&](const std::string &stage,
                                  const std::function<std::string()> &text) { stageTexts[stage] = text(); },
                   .replace = nullptr,
                   .fileFor = nullptr,
                   .keep = nullptr});
  if (origin->store && stageTexts.size() > kept.size()) // with what had to be made: the next process reads it
    origin->store->write(origin->key, origin->kind, encodeStages(stageTexts));
  return stageTexts;
}

} // namespace nacre
