#include "runtime/launch/Kernel.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "runtime/Knobs.h"

namespace nacre {

Kernel::Kernel(std::string hash, CompiledCode code) : hash(std::move(hash)), code(std::move(code)) {}

Kernel::~Kernel() = default;

KernelFunction Kernel::load() const {
  std::lock_guard<std::mutex> guard(loadLock);
  if (!loaded) {
    if (knobBoolean(KnobId::TellPerf))
      cpu::announceToPerf();
    loaded = cpu::load(code.object, code.symbol, code.externals);
    range = {loaded->codeBegin, loaded->codeEnd, code.symbol.c_str(), code.metadata.callsLibraries};
    entry.store(loaded->function, std::memory_order_release);
  }
  return loaded->function;
}

void Kernel::setOrigin(CompileRequest request, std::shared_ptr<RecordingHost> record) {
  std::lock_guard<std::mutex> guard(stageLock);
  origin = std::make_unique<Origin>(Origin{std::move(request), std::move(record)});
  origin->request.staticPrint = [](llvm::StringRef) {}; // it was printed when the kernel was compiled
  origin->request.options.reports = {};                 // so were its passes
}

const std::map<std::string, std::string> &Kernel::stages() const {
  std::lock_guard<std::mutex> guard(stageLock);
  if (stageTexts.empty() && origin)
    compileKernel(origin->request, *origin->record,
                  {.onStage = [&](const std::string &stage,
                                  const std::function<std::string()> &text) { stageTexts[stage] = text(); },
                   .replace = nullptr,
                   .fileFor = nullptr});
  return stageTexts;
}

std::string encodeKernel(const CompiledCode &code) {
  std::string bytes;
  encode(bytes, llvm::StringRef(code.symbol));
  encode(bytes, code.metadata.scratchBytes);
  encode(bytes, static_cast<uint64_t>(code.metadata.waits));
  encode(bytes, static_cast<uint64_t>(code.metadata.callsLibraries));
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
    HostObjects none;
    Decoder decoder(bytes, none);
    CompiledCode code;
    code.symbol = decoder.text();
    code.metadata.scratchBytes = decoder.number();
    code.metadata.waits = decoder.number() != 0;
    code.metadata.callsLibraries = decoder.number() != 0;
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
