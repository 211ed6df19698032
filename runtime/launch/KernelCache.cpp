#include "runtime/launch/KernelCache.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/cache/KernelEntry.h"
#include "runtime/cache/StageEntry.h"
#include "runtime/compile/BuildId.h"
#include "runtime/compile/Fingerprint.h"
#include "runtime/compile/StageOverrides.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <future>
#include <thread>

namespace nacre {

namespace {

// More than this many different lists of questions for one request are not kept: the oldest goes.
constexpr size_t maximumVariants = 16;

using Manifest = std::vector<Questions>;

struct Compile {
  std::shared_future<std::shared_ptr<Kernel>> result;
  std::thread::id thread;
};

struct State {
  std::mutex lock;
  std::map<std::string, Manifest> manifests;            // by request key
  std::map<std::string, std::weak_ptr<Kernel>> kernels; // by artifact key
  std::map<std::string, Compile> underWay;              // by request key and embedder handle
  std::atomic<uint64_t> memoryHits = 0, diskHits = 0, compiles = 0;
};

std::atomic<State *> sharedState = nullptr;

State &state() {
  if (State *existing = sharedState.load(std::memory_order_acquire))
    return *existing;
  // In a child the lock may be held by a thread that does not exist there: it starts with a new state.
  static const bool registered = (onFork([] { sharedState.store(nullptr); }), true);
  (void)registered;
  auto *made = new State;
  State *expected = nullptr;
  if (sharedState.compare_exchange_strong(expected, made))
    return *made;
  delete made;
  return *expected;
}

std::string encodeManifest(const Manifest &manifest) {
  std::string bytes;
  encode(bytes, static_cast<uint64_t>(manifest.size()));
  for (const Questions &questions : manifest) {
    encode(bytes, static_cast<uint64_t>(questions.size()));
    for (const std::string &question : questions)
      encode(bytes, llvm::StringRef(question));
  }
  return bytes;
}

Manifest decodeManifest(llvm::StringRef bytes) {
  try {
    EmbedderObjects none;
    Decoder decoder(bytes, none);
    Manifest manifest;
    for (uint64_t i = 0, variants = decoder.number(); i < variants; ++i) {
      Questions questions;
      for (uint64_t j = 0, count = decoder.number(); j < count; ++j)
        questions.push_back(decoder.text());
      manifest.push_back(std::move(questions));
    }
    return manifest;
  } catch (const NotEncodable &) {
    return {};
  }
}

void addVariant(Manifest &manifest, const Questions &questions) {
  for (const Questions &known : manifest)
    if (known == questions)
      return;
  if (manifest.size() == maximumVariants)
    manifest.erase(manifest.begin());
  manifest.push_back(questions);
}

std::string artifactKey(const std::string &requestKey, const RecordingEmbedder &record) {
  return Fingerprint().add(requestKey).add(record.digestOfAnswers()).hex();
}

// The folder of a kernel among dumps and overrides: named after what was compiled, not after what compiled it, so that
// it is found again by another build.
std::string folderName(const CompileRequest &request, const RecordingEmbedder &record) {
  return Fingerprint().add(request.sourceKey()).add(record.digestOfAnswers()).hex();
}

void dump(const std::string &folder, const CompileRequest &request, const std::string &stage, const std::string &text) {
  if (llvm::sys::fs::create_directories(folder))
    return;
  std::error_code error;
  llvm::raw_fd_ostream file(folder + "/" + request.kernel.name + "." + stage, error);
  if (!error)
    file << text;
  file.clear_error(); // a full disk does not fail a compile
}

bool isTransientArgument(const ArgumentSpec &spec) {
  return spec.isConstant ? isTransient(spec.constant) : llvm::any_of(spec.elements, isTransientArgument);
}

class Lookup {
public:
  Lookup(const CompileRequest &request, Embedder &embedder, const CacheSettings &settings, std::string requestKey)
      : request(request), embedder(embedder), settings(settings), requestKey(std::move(requestKey)) {
    bool isLasting = !buildId().empty() && llvm::none_of(request.arguments, isTransientArgument);
    if (isLasting && settings.store)
      store = settings.store;
    else
      store = std::make_shared<DiskCache>(isLasting ? settings.folder : "");
  }

  std::shared_ptr<Kernel> run() {
    bool mayDiffer = !settings.overrideFolder.empty() || settings.replace;
    if (!settings.alwaysCompile && settings.dumpFolder.empty() && !mayDiffer)
      if (std::shared_ptr<Kernel> found = find()) {
        report.cacheHit = true;
        return found;
      }
    if (settings.beforeCompile)
      settings.beforeCompile();
    return compile();
  }

  CompileReport report;

private:
  std::shared_ptr<Kernel> find() {
    Manifest manifest;
    {
      std::lock_guard<std::mutex> guard(state().lock);
      manifest = state().manifests[requestKey];
    }
    if (std::shared_ptr<Kernel> found = tryVariants(manifest))
      return found;
    std::optional<std::string> stored = store->read(requestKey, "manifest");
    if (!stored)
      return nullptr;
    Manifest onDisk = decodeManifest(*stored);
    std::shared_ptr<Kernel> found = tryVariants(onDisk);
    std::lock_guard<std::mutex> guard(state().lock);
    for (const Questions &questions : onDisk)
      addVariant(state().manifests[requestKey], questions);
    return found;
  }

  std::shared_ptr<Kernel> tryVariants(const Manifest &manifest) {
    for (auto questions = manifest.rbegin(); questions != manifest.rend(); ++questions) { // the latest first
      auto record = std::make_shared<RecordingEmbedder>(request.kernel, request.arguments, embedder);
      if (!record->replay(*questions))
        continue;
      std::string key = artifactKey(requestKey, *record);
      {
        std::lock_guard<std::mutex> guard(state().lock);
        if (std::shared_ptr<Kernel> kernel = state().kernels[key].lock()) {
          ++state().memoryHits;
          return kernel;
        }
      }
      std::optional<std::string> stored = store->read(key, "kernel");
      std::optional<CompiledCode> code = stored ? decodeKernel(*stored) : std::nullopt;
      if (!code)
        continue;
      ++state().diskHits;
      return keep(key, std::move(*code), record, request);
    }
    return nullptr;
  }

  std::shared_ptr<Kernel> compile() {
    auto record = std::make_shared<RecordingEmbedder>(request.kernel, request.arguments, embedder);
    CompileRequest origin = request; // with all that took stages' places
    std::map<std::string, StageText> overrides = findOverrides();
    CompileWatchers watchers;
    if (!settings.dumpFolder.empty())
      watchers.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
        dump(settings.dumpFolder + "/" + folderName(request, *record), request, stage, text());
      };
    if (!overrides.empty() || settings.replace)
      watchers.replace = [&](const std::string &stage, const std::function<std::string()> &text) {
        std::optional<StageText> other = settings.replace ? settings.replace(stage, text) : std::nullopt;
        if (auto file = overrides.find(stage); !other && file != overrides.end())
          other = file->second;
        if (other)
          origin.stages[stage] = *other;
        return other;
      };
    if (!settings.filesFolder.empty())
      watchers.fileFor = [&](const std::string &kind) {
        std::string folder = settings.filesFolder + "/" + folderName(request, *record);
        llvm::sys::fs::create_directories(folder); // who writes the file says what went wrong
        return folder + "/" + request.kernel.name + "." + kind;
      };
    KeptStages stages;
    if (!settings.binaryOnly)
      watchers.keep = [&](const std::string &stage, std::string form) { stages[stage] = std::move(form); };
    CompiledCode code = compileKernel(request, *record, watchers);
    ++state().compiles;
    report.times = code.times;
    std::string key = artifactKey(origin.key(), *record);
    std::string stageEntry = stages.empty() ? "" : encodeStages(stages);
    if (!settings.replace && origin.stages.size() == request.stages.size() && write(key, code, stageEntry, *record))
      stageEntry.clear();
    return keep(key, std::move(code), record, origin, std::move(stageEntry));
  }

  // The files that take the places of stages: those that say something else than the kernel itself does.
  std::map<std::string, StageText> findOverrides() {
    if (settings.overrideFolder.empty())
      return {};
    RecordingEmbedder record(request.kernel, request.arguments, embedder);
    std::map<std::string, std::string> plain;
    CompileWatchers watchers;
    watchers.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
      plain[stage] = text();
    };
    CompileRequest silent = request;
    silent.staticPrint = [](llvm::StringRef) {};
    try {
      compileKernel(silent, record, watchers);
    } catch (const CompileError &) { // a file may be there to avoid it
    }
    return stageOverrides(settings.overrideFolder, folderName(request, record), request, plain);
  }

  // Whether the stages are now in the store.
  bool write(const std::string &key, const CompiledCode &code, const std::string &stages,
             const RecordingEmbedder &record) {
    auto start = std::chrono::steady_clock::now();
    bool hasStages = false;
    if (record.isLasting() && store->write(key, "kernel", encodeKernel(code))) {
      hasStages = !stages.empty() && store->write(key, "stages", stages);
      // Another process may write its own variant at the same time; the one that is lost is found again by compiling.
      Manifest manifest = decodeManifest(store->read(requestKey, "manifest").value_or(""));
      addVariant(manifest, record.asked());
      store->write(requestKey, "manifest", encodeManifest(manifest));
    }
    auto elapsed = std::chrono::steady_clock::now() - start;
    report.storeMicroseconds = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
    return hasStages;
  }

  std::shared_ptr<Kernel> keep(const std::string &key, CompiledCode code,
                               const std::shared_ptr<RecordingEmbedder> &record, const CompileRequest &origin,
                               std::string stages = "") {
    auto kernel = std::make_shared<Kernel>(key, std::move(code));
    record->detach();
    if (!settings.binaryOnly)
      kernel->setOrigin(origin, record, record->isLasting() && origin.stages.empty() ? store : nullptr,
                        std::move(stages));
    std::lock_guard<std::mutex> guard(state().lock);
    if (record->isLasting())
      addVariant(state().manifests[requestKey], record->asked());
    state().kernels[key] = kernel;
    return kernel;
  }

  const CompileRequest &request;
  Embedder &embedder;
  const CacheSettings &settings;
  std::string requestKey;
  std::shared_ptr<ArtifactStore> store;
};

} // namespace

CacheSettings defaultCacheSettings() {
  CacheSettings settings;
  settings.folder = cacheDirectory();
  settings.alwaysCompile = knobBoolean(KnobId::AlwaysCompile);
  if (knobBoolean(KnobId::DumpStages))
    settings.dumpFolder = dumpDirectory();
  if (knobBoolean(KnobId::OverrideStages))
    settings.overrideFolder = overrideDirectory();
  settings.filesFolder = dumpDirectory();
  settings.binaryOnly = knobBoolean(KnobId::StoreBinaryOnly);
  return settings;
}

static std::shared_ptr<Kernel> findOrCompileUntold(const CompileRequest &asked, Embedder &embedder,
                                                   const CacheSettings &settings, CompileReport *report) {
  CompileRequest request = asked;
  request.options.checksLaunches = !settings.binaryOnly; // it can be compiled again for launches that do not pass
  std::string requestKey = request.key();
  std::string underWayKey = requestKey + "/" + std::to_string(request.kernel.embedderHandle);
  State &shared = state();
  std::promise<std::shared_ptr<Kernel>> promise;
  {
    std::unique_lock<std::mutex> guard(shared.lock);
    if (auto found = shared.underWay.find(underWayKey); found != shared.underWay.end()) {
      Compile other = found->second;
      guard.unlock();
      if (other.thread == std::this_thread::get_id()) {
        Diagnostic diagnostic;
        diagnostic.kind = Diagnostic::Kind::Unsupported;
        diagnostic.location.source = request.kernel.text;
        diagnostic.location.line = request.kernel.text->firstLine;
        diagnostic.message = request.kernel.name + " is launched by a function that is called to compile it";
        throw CompileError(diagnostic);
      }
      if (report)
        report->cacheHit = true;
      return other.result.get();
    }
    shared.underWay.emplace(underWayKey, Compile{promise.get_future().share(), std::this_thread::get_id()});
  }
  std::shared_ptr<Kernel> kernel;
  std::exception_ptr failure;
  try {
    Lookup lookup(request, embedder, settings, requestKey);
    kernel = lookup.run();
    if (report)
      *report = std::move(lookup.report);
    promise.set_value(kernel);
  } catch (...) {
    failure = std::current_exception();
    promise.set_exception(failure);
  }
  {
    std::lock_guard<std::mutex> guard(shared.lock);
    shared.underWay.erase(underWayKey);
  }
  if (failure)
    std::rethrow_exception(failure);
  return kernel;
}

std::shared_ptr<Kernel> findOrCompile(const CompileRequest &request, Embedder &embedder, const CacheSettings &settings,
                                      CompileReport *report) {
  if (!events::isWanted(CompileEvents))
    return findOrCompileUntold(request, embedder, settings, report);
  bool isSkipped = false;
  CompileReport own;
  report = report ? report : &own;
  CompileEvent event{.name = request.kernel.name, .caller = settings.caller, .isSkipped = &isSkipped};
  events::tell(CompileEvents, [&](EventListener &listener) { listener.compileBegin(event); });
  if (isSkipped)
    return nullptr;
  auto finish = [&] {
    events::tellReversed(CompileEvents, [&](EventListener &listener) { listener.compileEnd(event); });
  };
  event.isSkipped = nullptr;
  std::shared_ptr<Kernel> kernel;
  try {
    kernel = findOrCompileUntold(request, embedder, settings, report);
  } catch (...) {
    finish();
    throw;
  }
  event.kernel = kernel.get();
  event.report = report;
  finish();
  return kernel;
}

CacheCounts cacheCounts() {
  State &shared = state();
  return {shared.memoryHits, shared.diskHits, shared.compiles};
}

} // namespace nacre
