#include "runtime/launch/Kernel.h"

namespace nacre {

Kernel::Kernel(std::string hash, CompiledCode code) : hash(std::move(hash)), code(std::move(code)) {}

Kernel::~Kernel() = default;

LoadedKernel &Kernel::load(Device &device) const {
  std::lock_guard<std::mutex> guard(loadLock);
  Load &entry = loads[&device];
  if (!entry.kernel) {
    entry = {&device, device.load(code)};
    const Load *none = nullptr;
    first.compare_exchange_strong(none, &entry, std::memory_order_release);
  }
  return *entry.kernel;
}

void Kernel::setOrigin(CompileRequest request, std::shared_ptr<RecordingEmbedder> record,
                       std::shared_ptr<ArtifactStore> store) {
  std::lock_guard<std::mutex> guard(stageLock);
  origin = std::make_unique<Origin>(Origin{std::move(request), std::move(record), std::move(store)});
  origin->request.staticPrint = [](llvm::StringRef) {}; // it was printed when the kernel was compiled
  origin->request.options.reports = {};                 // so were its passes
}

using StageTexts = std::map<std::string, std::string>;

static std::string encodeStages(const StageTexts &texts) {
  std::string bytes;
  for (const auto &[stage, text] : texts) {
    encode(bytes, llvm::StringRef(stage));
    encode(bytes, llvm::StringRef(text));
  }
  return bytes;
}

// Empty when it is not what encodeStages wrote.
static StageTexts decodeStages(llvm::StringRef bytes) {
  try {
    EmbedderObjects none;
    Decoder decoder(bytes, none);
    StageTexts texts;
    while (!decoder.atEnd()) {
      std::string stage = decoder.text();
      texts[stage] = decoder.text();
    }
    return texts;
  } catch (const NotEncodable &) {
    return {};
  }
}

const std::map<std::string, std::string> &Kernel::stages() const {
  std::lock_guard<std::mutex> guard(stageLock);
  if (!stageTexts.empty() || !origin)
    return stageTexts;
  if (std::optional<std::string> kept = origin->store ? origin->store->read(hash, "stages") : std::nullopt)
    stageTexts = decodeStages(*kept);
  if (!stageTexts.empty())
    return stageTexts;
  compileKernel(origin->request, *origin->record,
                {.onStage = [&](const std::string &stage,
                                const std::function<std::string()> &text) { stageTexts[stage] = text(); },
                 .replace = nullptr,
                 .fileFor = nullptr});
  if (origin->store)
    origin->store->write(hash, "stages", encodeStages(stageTexts));
  return stageTexts;
}

std::string encodeKernel(const CompiledCode &code) {
  std::string bytes;
  encode(bytes, code.target->name());
  encode(bytes, llvm::StringRef(code.symbol));
  KernelMetadata::forEachField(code.metadata, [&](const auto &field) {
    if constexpr (std::is_same_v<decltype(field), const std::string &>)
      encode(bytes, llvm::StringRef(field));
    else
      encode(bytes, static_cast<uint64_t>(field));
  });
  for (uint64_t mask : {code.access.surelyWritten, code.access.maybeWritten, code.access.maybeRead})
    encode(bytes, mask);
  encode(bytes, static_cast<uint64_t>(code.externals.size()));
  for (const ExternalFunction &function : code.externals)
    for (const std::string &text : {function.library, function.digest, function.symbol})
      encode(bytes, llvm::StringRef(text));
  encode(bytes, llvm::StringRef(code.object));
  return bytes;
}

std::optional<CompiledCode> decodeKernel(llvm::StringRef bytes) {
  try {
    EmbedderObjects none;
    Decoder decoder(bytes, none);
    CompiledCode code;
    code.target = findTarget(decoder.text());
    if (!code.target)
      return std::nullopt;
    code.symbol = decoder.text();
    KernelMetadata::forEachField(code.metadata, [&](auto &field) {
      if constexpr (std::is_same_v<decltype(field), std::string &>)
        field = decoder.text();
      else
        field = static_cast<std::remove_reference_t<decltype(field)>>(decoder.number());
    });
    for (uint64_t *mask : {&code.access.surelyWritten, &code.access.maybeWritten, &code.access.maybeRead})
      *mask = decoder.number();
    for (uint64_t i = 0, count = decoder.number(); i < count; ++i) {
      ExternalFunction function;
      for (std::string *text : {&function.library, &function.digest, &function.symbol})
        *text = decoder.text();
      code.externals.push_back(std::move(function));
    }
    code.object = decoder.text();
    return decoder.atEnd() ? std::optional(std::move(code)) : std::nullopt;
  } catch (const NotEncodable &) {
    return std::nullopt;
  }
}

} // namespace nacre
