// A libFuzzer target: whatever bytes a cache holds, they are a kernel, its stages, a list of questions or nothing,
// never a crash. The checksum is left aside, since who can write an entry can write its checksum too.
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/EmbedderRecord.h"
#include "runtime/cache/KernelEntry.h"
#include "runtime/cache/StageEntry.h"

using namespace nacre;

namespace {
// An embedder that knows nothing.
class EmptyEmbedder final : public Embedder {
public:
  Answer global(const FunctionSource &, llvm::StringRef) override { return {}; }
  Answer attribute(const Object &, llvm::StringRef) override { return {}; }
  Answer call(const Object &, llvm::ArrayRef<Object>, llvm::ArrayRef<std::pair<std::string, Object>>) override {
    return {};
  }
  Answer library(llvm::StringRef) override { return {}; }
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  (void)openEntry(bytes);
  (void)decodeKernel(bytes);
  (void)decodeStages(bytes);
  EmbedderObjects none;
  try {
    for (Decoder decoder(bytes, none); !decoder.atEnd();)
      (void)decoder.object();
  } catch (const NotEncodable &) {
  }
  static const FunctionSource kernel = [] {
    FunctionSource made;
    made.name = "kernel";
    auto text = std::make_shared<SourceText>();
    text->text = "def kernel():\n    pass\n";
    made.text = text;
    return made;
  }();
  EmptyEmbedder embedder;
  RecordingEmbedder record(kernel, {}, embedder);
  record.replay({bytes});
  return 0;
}
