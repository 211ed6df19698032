// The texts of a kernel's stages are artifacts: made once, kept in the cache, read by whoever asks later.
#include "runtime/launch/Kernel.h"
#include "gtest/gtest.h"
#include <map>

using namespace nacre;

namespace {

class MemoryStore : public ArtifactStore {
public:
  std::optional<std::string> read(const std::string &key, const char *kind) const override {
    auto found = entries.find(key + "." + kind);
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }
  bool write(const std::string &key, const char *kind, const std::string &payload) const override {
    entries[key + "." + kind] = payload;
    return true;
  }
  mutable std::map<std::string, std::string> entries;
};

// A kernel whose origin is a text; one that cannot be compiled shows whether it was.
std::map<std::string, std::string> stagesOf(const std::string &body, const std::shared_ptr<ArtifactStore> &store) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "kernel.py";
  text->text = "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n    " + body + "\n";
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
  CompileRequest request;
  request.kernel = findFunction(*embedder, "kernel");
  request.arguments.emplace_back();
  request.arguments[0].name = "x";
  request.arguments[0].type = Type::pointer(Type::scalar(ScalarKind::Int32));
  auto record = std::make_shared<RecordingEmbedder>(request.kernel, request.arguments, *embedder);
  CompiledCode code = CompiledCode();
  if (!store->read("hash", "stages"))
    code = compileKernel(request, *record); // asks the embedder what it needs
  record->detach();
  Kernel kernel("hash", code);
  kernel.setOrigin(request, record, store);
  return kernel.stages();
}

TEST(KernelStages, AreKept) {
  auto store = std::make_shared<MemoryStore>();
  std::map<std::string, std::string> made = stagesOf("tl.store(x, 1)", store);
  EXPECT_NE(made.at("tile").find("tile.store"), std::string::npos);
  ASSERT_TRUE(store->entries.count("hash.stages"));
  EXPECT_EQ(stagesOf("tl.store(x, unknown)", store), made); // read, not compiled
}

TEST(KernelStages, AreMadeAnewWhereTheEntryIsDamaged) {
  auto store = std::make_shared<MemoryStore>();
  std::map<std::string, std::string> made = stagesOf("tl.store(x, 1)", store);
  std::string whole = store->entries["hash.stages"];
  store->entries["hash.stages"] = whole.substr(0, whole.size() / 2);
  EXPECT_THROW(stagesOf("tl.store(x, unknown)", store), CompileError);
}

} // namespace
