// The record of an embedder's answers: what is asked again, what changes the digest, what survives as bytes.
#include "runtime/cache/EmbedderRecord.h"
#include "runtime/cache/KernelEntry.h"
#include <gtest/gtest.h>

using namespace nacre;

namespace {

std::shared_ptr<FunctionSource> function(const std::string &name, const std::string &text) {
  auto source = std::make_shared<FunctionSource>();
  source->key = "module." + name;
  source->name = name;
  auto made = std::make_shared<SourceText>();
  made->fileName = "module.py";
  made->text = text;
  source->text = made;
  return source;
}

// Knows one number, one helper, and one callable object.
struct TestEmbedder : Embedder {
  int64_t number = 5;
  std::string helperText = "def helper(): pass\n";
  int questions = 0;

  Answer global(const FunctionSource &, llvm::StringRef name) override {
    ++questions;
    if (name == "NUMBER")
      return {Object(number), ""};
    if (name == "helper") {
      auto source = function("helper", helperText);
      return {Object(JitReference{source->key, source}), ""};
    }
    if (name == "callable")
      return {Object(OpaqueReference{"module.callable", 1}), ""};
    if (name == "refused")
      return {std::nullopt, "a list"};
    if (name == "transient")
      return {Object(OpaqueReference{"transient:1", 2}), ""};
    return {};
  }
  Answer attribute(const Object &, llvm::StringRef name) override {
    ++questions;
    return {Object(name.str()), ""};
  }
  Answer call(const Object &, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>>) override {
    ++questions;
    return {positional.empty() ? Object() : positional[0], ""};
  }
};

class EmbedderRecordTest : public testing::Test {
protected:
  std::shared_ptr<RecordingEmbedder> record() {
    return std::make_shared<RecordingEmbedder>(*kernel, llvm::ArrayRef<ArgumentSpec>(), embedder);
  }

  std::shared_ptr<FunctionSource> kernel = function("kernel", "def kernel(): pass\n");
  TestEmbedder embedder;
};

TEST_F(EmbedderRecordTest, AsksOnceAndTellsChangesApart) {
  auto first = record();
  EXPECT_EQ(first->global(*kernel, "NUMBER").object->repr(), "5");
  embedder.number = 6;
  EXPECT_EQ(first->global(*kernel, "NUMBER").object->repr(), "5");
  EXPECT_EQ(embedder.questions, 1);

  auto second = record(), third = record();
  ASSERT_TRUE(second->replay(first->asked()));
  EXPECT_NE(second->digestOfAnswers(), first->digestOfAnswers());
  embedder.number = 5;
  ASSERT_TRUE(third->replay(first->asked()));
  EXPECT_EQ(third->digestOfAnswers(), first->digestOfAnswers());
}

TEST_F(EmbedderRecordTest, FollowsHelpersObjectsAndCalls) {
  auto first = record();
  Object helper = *first->global(*kernel, "helper").object;
  first->global(*static_cast<FunctionSource *>(helper.as<JitReference>().function.get()), "NUMBER");
  Object callable = *first->global(*kernel, "callable").object;
  first->attribute(callable, "name");
  first->call(callable, {Object(1), Object(2.5), Object("text"), Object(true), Object()}, {{"other", helper}});
  first->global(*kernel, "missing");
  ASSERT_TRUE(first->isLasting());

  auto second = record();
  ASSERT_TRUE(second->replay(first->asked()));
  EXPECT_EQ(second->digestOfAnswers(), first->digestOfAnswers());

  embedder.helperText = "def helper(): return 1\n";
  auto third = record();
  ASSERT_TRUE(third->replay(first->asked()));
  EXPECT_NE(third->digestOfAnswers(), first->digestOfAnswers());
}

TEST_F(EmbedderRecordTest, ProblemsAndTransientObjectsDoNotLast) {
  auto refused = record(), transient = record();
  refused->global(*kernel, "refused");
  EXPECT_FALSE(refused->isLasting());
  EXPECT_FALSE(record()->replay(refused->asked()));
  transient->global(*kernel, "transient");
  EXPECT_FALSE(transient->isLasting());
}

TEST_F(EmbedderRecordTest, AnswersWithoutItsEmbedder) {
  auto first = record();
  first->global(*kernel, "NUMBER");
  first->detach();
  EXPECT_EQ(first->global(*kernel, "NUMBER").object->repr(), "5");
  EXPECT_FALSE(first->global(*kernel, "other").object.has_value());
}

TEST_F(EmbedderRecordTest, DamagedQuestionsAreNotAsked) {
  auto first = record();
  Object callable = *first->global(*kernel, "callable").object;
  first->call(callable, {Object(12345678901234)}, {});
  for (const std::string &question : first->asked())
    for (size_t length = 0; length < question.size(); ++length)
      EXPECT_FALSE(record()->replay({question.substr(0, length)}));
}

TEST(KernelCodec, GivesBackWhatWasWritten) {
  CompiledCode code;
  code.object = std::string("\x7f"
                            "ELF\0...",
                            8);
  code.symbol = "kernel";
  code.metadata.scratchBytes = 4096;
  code.metadata.waits = true;
  code.metadata.accessSites = {{"load", "a\tb.py", "", 3, 7, 1, 5, 4, true, false, true, {2, 64}},
                               {simt::AccessSite::assertion.str(), "", "i < n\nline"}};
  code.metadata.marks = {{ToldKind::StartEvent, "a\tname", 3, 1, "file.py"}};
  code.metadata.tensorMaps = {
      *simt::TensorMapRecipe::parse("type=f16 base=a0 shape=a2,a3:s32 strides=a3:s32 box=64,32")};
  code.metadata.movedLines = {{"name", 3, "of line 4"}};
  code.metadata.remarks = {"(C7510) Potential Performance Loss"};
  std::string bytes = encodeKernel(code);
  std::optional<CompiledCode> found = decodeKernel(bytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, code.object);
  EXPECT_EQ(found->symbol, code.symbol);
  EXPECT_EQ(found->metadata.scratchBytes, 4096u);
  EXPECT_TRUE(found->metadata.waits);
  ASSERT_EQ(found->metadata.accessSites.size(), 2u);
  EXPECT_EQ(found->metadata.accessSites[0].file, "a\tb.py");
  EXPECT_EQ(found->metadata.accessSites[0].argument, 1);
  EXPECT_EQ(found->metadata.accessSites[0].shape, (std::vector<int64_t>{2, 64}));
  EXPECT_EQ(found->metadata.accessSites[1].message, "i < n\nline");
  EXPECT_TRUE(found->metadata.accessSites[1].isAssertion());
  ASSERT_EQ(found->metadata.marks.size(), 1u);
  EXPECT_EQ(found->metadata.marks[0].kind, ToldKind::StartEvent);
  EXPECT_EQ(found->metadata.marks[0].name, "a\tname");
  ASSERT_EQ(found->metadata.tensorMaps.size(), 1u);
  EXPECT_EQ(found->metadata.tensorMaps[0].text(), code.metadata.tensorMaps[0].text());
  ASSERT_EQ(found->metadata.movedLines.size(), 1u);
  EXPECT_EQ(found->metadata.movedLines[0].text, "of line 4");
  EXPECT_EQ(found->metadata.remarks, code.metadata.remarks);
  EXPECT_EQ(encodeKernel(*found), bytes);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decodeKernel(llvm::StringRef(bytes).take_front(length)));
  EXPECT_FALSE(decodeKernel(bytes + "x"));
}

} // namespace
