// Trees, metrics and files of profiles.
#include "profiler/Profiler.h"
#include "profiler/ScopeLog.h"
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
  int id = profiler.start("one", {});
  EXPECT_TRUE(Profiler::isOn());
  EXPECT_EQ(profiler.start("one", {}), id);
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
  profiler.find(id).current().tree.settle();
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
  EXPECT_NE(profiler.start("one", {}), id); // numbers are never used again
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
  int id = profiler.start("two", {.isTrace = true});
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

namespace {
KernelMarks::Mark mark(uint64_t program, uint64_t cycles, bool isBegin, bool isEvent = false) {
  return {program, cycles, 0, 7, 0, 0, isBegin, isEvent};
}
} // namespace

TEST(KernelMarks, AreMatchedByProgram) {
  KernelMarks marks;
  // Two programs of one thread in turn, as when one waits for the other.
  marks.add("outer", mark(1, 10, true));
  marks.add("outer", mark(0, 11, true));
  marks.add("inner", mark(1, 12, true));
  marks.add("inner", mark(1, 15, false));
  marks.add("outer", mark(0, 21, false));
  marks.add("outer", mark(1, 30, false));
  std::vector<KernelScope> scopes = marks.scopes();
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(scopes[0].program, 0u);
  EXPECT_EQ(scopes[0].end - scopes[0].begin, 10u);
  EXPECT_EQ(scopes[1].path, std::vector<std::string>{"outer"});
  EXPECT_EQ(scopes[1].end - scopes[1].begin, 20u);
  EXPECT_EQ(scopes[2].path, (std::vector<std::string>{"outer", "inner"}));
  EXPECT_EQ(scopes[2].end - scopes[2].begin, 3u);
}

TEST(KernelMarks, MayLackOneEnd) {
  KernelMarks marks;
  marks.add("lost", mark(0, 5, false)); // its begin was never told
  marks.add("open", mark(0, 10, true));
  marks.add("left", mark(0, 11, true));
  marks.add("async", mark(0, 12, true, true));
  marks.add("open", mark(0, 14, false)); // ends what is open in it, too
  marks.add("last", mark(0, 15, true));
  marks.add("async", mark(0, 19, false, true));
  std::vector<KernelScope> scopes = marks.scopes();
  ASSERT_EQ(scopes.size(), 4u);
  EXPECT_EQ(scopes[0].path, std::vector<std::string>{"open"});
  EXPECT_EQ(scopes[1].path, (std::vector<std::string>{"open", "left"}));
  EXPECT_EQ(scopes[1].end, 14u);
  EXPECT_TRUE(scopes[2].isEvent);
  EXPECT_EQ(scopes[2].end, 19u);
  EXPECT_EQ(scopes[3].end, 19u); // with the last mark
}

TEST(ScopeLog, KnowsWhatWasOpen) {
  ScopeLog log;
  log.restart({"before"});
  log.enter("a", 10);
  log.enter("b", 20);
  log.exit(30);
  log.exit(40);
  using Path = std::vector<std::string>;
  EXPECT_EQ(log.at(5), (Path{"before"}));
  EXPECT_EQ(log.at(10), (Path{"before", "a"}));
  EXPECT_EQ(log.at(25), (Path{"before", "a", "b"}));
  EXPECT_EQ(log.at(35), (Path{"before", "a"}));
  EXPECT_EQ(log.at(100), (Path{"before"}));
}

TEST(ScopeLog, RestartsWithWhatIsOpen) {
  ScopeLog log;
  log.enter("a", 10);
  log.enter("b", 20);
  log.restart();
  log.exit(30);
  using Path = std::vector<std::string>;
  EXPECT_EQ(log.at(25), (Path{"a", "b"}));
  EXPECT_EQ(log.at(35), (Path{"a"}));
}

TEST(LaunchPlace, OfAGraphIsBelowItsReplayAndItsCapture) {
  using Path = std::vector<std::string>;
  LaunchPlace captured{"mine", {{"bytes", int64_t(4)}}, 0, 0, 1, {{7, 0, {"layer"}, {}}}};
  LaunchPlace replay{"", {}, 3, 9, 2, {{7, 1, {"step"}, {"ROOT", "step"}}, {8, 0, {"step"}, {}}}};
  LaunchPlace place = replay.replaying(captured);
  EXPECT_EQ(place.name, "mine");
  EXPECT_EQ(place.metrics.size(), 1u);
  EXPECT_EQ(place.sessions[0].path, (Path{"step", "<captured_at>", "layer"}));
  EXPECT_EQ(place.sessions[0].stack, (Path{"ROOT", "step", "<captured_at>", "layer"}));
  EXPECT_EQ(place.sessions[0].phase, 1);             // the replay's
  EXPECT_EQ(place.sessions[1].path, (Path{"step"})); // it was not there at the capture
}
