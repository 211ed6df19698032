#include "runtime/KernelCache.h"
#include "runtime/BuildId.h"
#include "runtime/DiskCache.h"
#include "runtime/Fingerprint.h"
#include "runtime/ForkSafety.h"
#include "runtime/Knobs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
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
  std::map<std::string, Compile> underWay;              // by request key and host handle
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
    HostObjects none;
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

std::string artifactKey(const std::string &requestKey, const RecordingHost &record) {
  return Fingerprint().add(requestKey).add(record.digestOfAnswers()).hex();
}

void dump(const CacheSettings &settings, const CompileRequest &request, const std::string &hash,
          const std::string &stage, const std::string &text) {
  std::string folder = settings.dumpFolder + "/" + hash;
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
  Lookup(const CompileRequest &request, Host &host, const CacheSettings &settings, std::string requestKey)
      : request(request), host(host), settings(settings), requestKey(std::move(requestKey)),
        disk(buildId().empty() || llvm::any_of(request.arguments, isTransientArgument) ? "" : settings.folder) {}

  std::shared_ptr<Kernel> run() {
    if (!settings.alwaysCompile && settings.dumpFolder.empty())
      if (std::shared_ptr<Kernel> found = find())
        return found;
    return compile();
  }

private:
  std::shared_ptr<Kernel> find() {
    Manifest manifest;
    {
      std::lock_guard<std::mutex> guard(state().lock);
      manifest = state().manifests[requestKey];
    }
    if (std::shared_ptr<Kernel> found = tryVariants(manifest))
      return found;
    std::optional<std::string> stored = disk.read(requestKey, "manifest");
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
      auto record = std::make_shared<RecordingHost>(request.kernel, request.arguments, host);
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
      std::optional<std::string> stored = disk.read(key, "kernel");
      std::optional<CompiledCode> code = stored ? decodeKernel(*stored) : std::nullopt;
      if (!code)
        continue;
      ++state().diskHits;
      return keep(key, std::move(*code), record);
    }
    return nullptr;
  }

  std::shared_ptr<Kernel> compile() {
    auto record = std::make_shared<RecordingHost>(request.kernel, request.arguments, host);
    std::vector<std::pair<std::string, std::string>> stages;
    StageSink sink;
    if (!settings.dumpFolder.empty())
      sink = [&](const std::string &stage, const std::function<std::string()> &text) {
        stages.emplace_back(stage, text());
      };
    CompiledCode code = compileKernel(request, *record, sink);
    ++state().compiles;
    std::string key = artifactKey(requestKey, *record);
    for (const auto &[stage, text] : stages)
      dump(settings, request, key, stage, text);
    if (record->isLasting() && disk.write(key, "kernel", encodeKernel(code))) {
      // Another process may write its own variant at the same time; the one that is lost is found again by compiling.
      Manifest manifest = decodeManifest(disk.read(requestKey, "manifest").value_or(""));
      addVariant(manifest, record->asked());
      disk.write(requestKey, "manifest", encodeManifest(manifest));
    }
    return keep(key, std::move(code), record);
  }

  std::shared_ptr<Kernel> keep(const std::string &key, CompiledCode code,
                               const std::shared_ptr<RecordingHost> &record) {
    auto kernel = std::make_shared<Kernel>(key, std::move(code));
    record->detach();
    kernel->setOrigin(request, record);
    std::lock_guard<std::mutex> guard(state().lock);
    if (record->isLasting())
      addVariant(state().manifests[requestKey], record->asked());
    state().kernels[key] = kernel;
    return kernel;
  }

  const CompileRequest &request;
  Host &host;
  const CacheSettings &settings;
  std::string requestKey;
  DiskCache disk;
};

} // namespace

CacheSettings defaultCacheSettings() {
  CacheSettings settings;
  settings.folder = cacheDirectory();
  settings.alwaysCompile = knobBoolean(KnobId::AlwaysCompile);
  if (knobBoolean(KnobId::DumpStages))
    settings.dumpFolder = dumpDirectory();
  return settings;
}

std::shared_ptr<Kernel> findOrCompile(const CompileRequest &request, Host &host, const CacheSettings &settings) {
  std::string requestKey = request.key();
  std::string underWayKey = requestKey + "/" + std::to_string(request.kernel.hostHandle);
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
      return other.result.get();
    }
    shared.underWay.emplace(underWayKey, Compile{promise.get_future().share(), std::this_thread::get_id()});
  }
  std::shared_ptr<Kernel> kernel;
  std::exception_ptr failure;
  try {
    kernel = Lookup(request, host, settings, requestKey).run();
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

CacheCounts cacheCounts() {
  State &shared = state();
  return {shared.memoryHits, shared.diskHits, shared.compiles};
}

} // namespace nacre
