// Trees, metrics and files of profiles.
#include "profiler/Profiler.h"
#include "profiler/Write.h"
#include "gtest/gtest.h"

using namespace nacre::profiler;

namespace {

void run(const char *name, uint64_t begin, uint64_t end) {
  Profiler::shared().record(
      {name, {"CUDA", "1"}, begin, end, {{0, begin, end, 0, 4}, {1, begin, end - 1, 4, 4}}, 2 * (end - begin) - 1, {}});
}

} // namespace

TEST(Profiler, KernelsStandUnderTheirScopesAndStates) {
  Profiler &profiler = Profiler::shared();
  EXPECT_FALSE(Profiler::isOn());
  int id = profiler.start("one", false, false);
  EXPECT_TRUE(Profiler::isOn());
  EXPECT_EQ(profiler.start("one", false, false), id);
  profiler.enterScope("outer");
  profiler.enterScope("inner");
  run("kernel", 100, 150);
  run("kernel", 200, 250);
  profiler.exitScope("inner");
  profiler.enterState("warm");
  run("other", 300, 310);
  profiler.exitState();
  EXPECT_THROW(profiler.exitScope("inner"), std::invalid_argument);
  profiler.exitScope("outer");
  const Node &root = profiler.find(id).current().tree.root;
  const Node &outer = *root.children[0];
  EXPECT_EQ(outer.name, "outer");
  const Node &kernel = *outer.children[0]->children[0];
  EXPECT_EQ(std::get<int64_t>(kernel.metrics.at("time (ns)")), 100);
  EXPECT_EQ(std::get<int64_t>(kernel.metrics.at("count")), 2);
  EXPECT_EQ(std::get<int64_t>(kernel.metrics.at("busy (ns)")), 198);
  EXPECT_EQ(std::get<std::string>(kernel.metrics.at("device_type")), "CUDA");
  EXPECT_EQ(std::get<std::string>(kernel.metrics.at("device_id")), "1");
  EXPECT_EQ(outer.children[1]->name, "warm");
  profiler.close(id);
  EXPECT_THROW(profiler.find(id), std::out_of_range);
  EXPECT_NE(profiler.start("one", false, false), id); // numbers are never used again
  profiler.close(profiler.sessions()[0]);
}

TEST(Metrics, TypesAndSuffixes) {
  Tree tree;
  Node &node = tree.root.child("scope");
  tree.add(node, "flops16", int64_t(2));
  tree.add(node, "flops16", 1.5);
  EXPECT_EQ(std::get<double>(node.metrics.at("flops16")), 3.5);
  tree.add(node, "bytes", 8.0);
  EXPECT_EQ(std::get<int64_t>(node.metrics.at("bytes")), 8);
  tree.add(node, "size (pty)", int64_t(3));
  tree.add(node, "size (pty)", int64_t(4));
  EXPECT_EQ(std::get<int64_t>(node.metrics.at("size")), 4);
  tree.add(node, "wait (ns)", int64_t(3));
  EXPECT_THROW(tree.add(node, "wait (ns)", 1.0), std::invalid_argument);
  tree.add(node, "list", std::vector<int64_t>{1, 2});
  tree.add(node, "list", std::vector<int64_t>{1, 2});
  EXPECT_EQ(std::get<std::vector<int64_t>>(node.metrics.at("list")), (std::vector<int64_t>{2, 4}));
  EXPECT_THROW(tree.add(node, "list", std::vector<int64_t>{1}), std::invalid_argument);
  EXPECT_TRUE(tree.inclusive.count("wait (ns)"));
  EXPECT_FALSE(tree.inclusive.count("size"));
}

TEST(Write, TreeAndTrace) {
  Profiler &profiler = Profiler::shared();
  int id = profiler.start("two", false, true);
  profiler.enterScope("scope");
  run("kernel", now(), now() + 1000);
  profiler.exitScope("");
  Phase &phase = profiler.find(id).current();
  llvm::json::Value tree = treeDocument(phase, llvm::json::Object{});
  const llvm::json::Object &root = *(*tree.getAsArray())[0].getAsObject();
  EXPECT_EQ(root.getObject("frame")->getString("name"), "ROOT");
  EXPECT_EQ(root.getObject("metrics")->getInteger("count"), 0);
  std::string trace = jsonText(traceDocument(phase));
  EXPECT_NE(trace.find("\"cat\":\"kernel\""), std::string::npos);
  EXPECT_NE(trace.find("CPU Worker 1"), std::string::npos);
  std::string packed = msgpackBytes(llvm::json::Object{{"a", 1}, {"b", 1.5}});
  EXPECT_EQ(packed.size(), 5u + 6 + 9 + 6 + 9);
  profiler.close(id);
}
