// The stages of a kernel are artifacts: kept by the compile, read by whoever asks later.
#include "runtime/cache/StageEntry.h"
#include "runtime/launch/Kernel.h"
#include "runtime/launch/KernelCache.h"
#include "runtime/launch/Signature.h"
#include "gtest/gtest.h"
#include <map>
#include <regex>

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

// A kernel's text with what a compile of it needs.
struct Source {
  explicit Source(const std::string &body, const std::string &target = "cpu") {
    auto text = std::make_shared<SourceText>();
    text->fileName = "kernel.py";
    text->text = "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n" + body;
    embedder = makeFileEmbedder(text);
    request.kernel = findFunction(*embedder, "kernel");
    request.arguments = parseSignature(request.kernel, "*fp32:16");
    request.options.target = findTarget(target);
    if (target != "cpu")
      request.options.launch.numWarps = 4;
    request.options.assembles = false;
    record = std::make_shared<RecordingEmbedder>(request.kernel, request.arguments, *embedder);
  }
  std::unique_ptr<Embedder> embedder;
  CompileRequest request;
  std::shared_ptr<RecordingEmbedder> record;
};

const char *const simple = "    tl.store(x, 1.0)\n";
// Loops, reductions, products, debug lines and a function that is called.
const char *const rich = "    i = tl.arange(0, 32)\n"
                         "    o = i[:, None] * 32 + i[None, :]\n"
                         "    a = tl.load(x + o)\n"
                         "    for k in range(tl.program_id(0)):\n"
                         "        a = tl.dot(a, a) + tl.sum(a, axis=1)[:, None]\n"
                         "        if tl.load(x + k) > 2:\n"
                         "            a = tl.exp(a)\n"
                         "    tl.store(x + o, tl.softmax(a), mask=o < 1000)\n";
// Not compilable: who shows its stages has them from elsewhere.
const char *const broken = "    tl.store(x, unknown)\n";

struct Compiled {
  StageTexts shown;
  KeptStages kept;
};
Compiled compiled(Source &source) {
  Compiled result;
  CompileWatchers watchers;
  watchers.onStage = [&](const std::string &stage, const std::function<std::string()> &text) {
    result.shown[stage] = text();
  };
  watchers.keep = [&](const std::string &stage, std::string form) { result.kept[stage] = std::move(form); };
  compileKernel(source.request, *source.record, watchers);
  return result;
}

StageTexts stagesOf(const char *body, const std::shared_ptr<ArtifactStore> &store) {
  Source source(body);
  source.record->detach();
  Kernel kernel("hash", CompiledCode());
  kernel.setOrigin(source.request, source.record, store);
  return kernel.stages();
}

// LLVM's reader gives intrinsics their attributes anew, without what was found out about them since. A dump's assembly
// is a copy's, in which other registers may be chosen.
StageTexts comparable(StageTexts texts) {
  EXPECT_EQ(texts.erase("asm") + texts.count("ptx"), 1u);
  std::string &text = texts["llvm"];
  text = std::regex_replace(text, std::regex("\\n(attributes #|; Function Attrs:)[^\\n]*|#[0-9]+"), "");
  return texts;
}

class KernelStages : public testing::TestWithParam<const char *> {};

TEST_P(KernelStages, AreShownAsTheCompileWouldHave) {
  for (const char *body : {simple, rich}) {
    Source source(body, GetParam());
    Compiled all = compiled(source);
    ASSERT_EQ(all.shown.size(), source.request.options.target->stages().size());
    StageTexts texts = textsOfKept(source.request, decodeStages(encodeStages(all.kept)));
    EXPECT_EQ(comparable(texts), comparable(all.shown));
  }
}
INSTANTIATE_TEST_SUITE_P(OfEveryTarget, KernelStages, testing::Values("cpu", "cuda"));

TEST(KernelStages, AreReadAndNotCompiled) {
  auto store = std::make_shared<MemoryStore>();
  Source source(rich);
  Compiled all = compiled(source);
  store->write("hash", "stages", encodeStages(all.kept));
  StageTexts texts = stagesOf(broken, store);
  EXPECT_EQ(comparable(texts), comparable(all.shown));
  // What the code generator had to be asked for is kept from then on.
  EXPECT_EQ(decodeStages(store->entries["hash.stages"]), texts);
  EXPECT_EQ(stagesOf(broken, store), texts);
}

std::string disassembled(const CompiledCode &code) {
  std::vector<DisassembledFunction> functions;
  std::string text = code.target->disassemble(code.object, "", functions);
  for (const DisassembledFunction &function : functions) {
    text += function.name + ":\n";
    for (const DisassembledInstruction &instruction : function.instructions)
      text += instruction.text + "\n";
  }
  return text;
}

TEST(KernelStages, HaveTheAssemblyOfTheBinary) {
  Source source(rich);
  KeptStages kept;
  CompileWatchers watchers;
  watchers.keep = [&](const std::string &stage, std::string form) { kept[stage] = std::move(form); };
  CompiledCode code = compileKernel(source.request, *source.record, watchers);
  ASSERT_FALSE(kept.count("asm"));
  CompileRequest assembled = source.request;
  assembled.stages["asm"] = {textsOfKept(source.request, kept).at("asm"), "kernel.asm"};
  EXPECT_EQ(disassembled(compileKernel(assembled, *source.record)), disassembled(code));
}

TEST(KernelStages, AreMadeAnewWhereTheEntryIsDamagedOrGone) {
  auto store = std::make_shared<MemoryStore>();
  Source source(simple);
  std::string whole = encodeStages(compiled(source).kept);
  store->entries["hash.stages"] = whole.substr(0, whole.size() / 2);
  EXPECT_THROW(stagesOf(broken, store), CompileError);
  store->entries["hash.stages"] = encodeStages({{"tile", "ML\xefR, and then nothing"}});
  EXPECT_THROW(stagesOf(broken, store), CompileError);
  store->entries.clear();
  EXPECT_THROW(stagesOf(broken, store), CompileError);
}

TEST(KernelStages, AreWrittenByTheFirstCompile) {
  auto store = std::make_shared<MemoryStore>();
  CacheSettings settings;
  settings.store = store;
  Source source(rich);
  std::shared_ptr<Kernel> kernel = findOrCompile(source.request, *source.embedder, settings);
  KeptStages kept = decodeStages(store->entries.at(kernel->hash + ".stages"));
  EXPECT_TRUE(kept.count("tile") && kept.count("cpu") && kept.count("llvm"));
  EXPECT_NE(kernel->stages().at("asm").find("kernel:"), std::string::npos);
}

TEST(KernelStages, AreHeldWhereNoStoreKeepsThem) {
  CacheSettings settings; // neither a store nor a folder
  Source source(simple);
  std::shared_ptr<Kernel> kernel = findOrCompile(source.request, *source.embedder, settings);
  Source again(simple);
  EXPECT_EQ(comparable(kernel->stages()), comparable(compiled(again).shown));
}

TEST(KernelStages, AreNotKeptBesideBinariesAlone) {
  auto store = std::make_shared<MemoryStore>();
  CacheSettings settings;
  settings.store = store;
  settings.binaryOnly = true;
  Source source(simple);
  std::shared_ptr<Kernel> kernel = findOrCompile(source.request, *source.embedder, settings);
  EXPECT_TRUE(kernel->stages().empty());
  EXPECT_FALSE(store->entries.count(kernel->hash + ".stages"));
}

} // namespace
