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

TEST(Write, FramesOfTheHostComeLast) {
  Profiler &profiler = Profiler::shared();
  int id = profiler.start("three", {});
  profiler.recordSpan("compile kernel", 1, 2, {});
  run("kernel", now(), now() + 1000);
  llvm::json::Value tree = treeDocument(profiler.find(id).current(), llvm::json::Object{});
  const llvm::json::Array &children = *(*tree.getAsArray())[0].getAsObject()->getArray("children");
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0].getAsObject()->getObject("frame")->getString("name"), "kernel");
  profiler.close(id);
}

namespace {
// The events of a trace that `wanted` says.
std::vector<const llvm::json::Object *> eventsOf(const llvm::json::Value &trace, llvm::StringRef key,
                                                 llvm::StringRef wanted) {
  std::vector<const llvm::json::Object *> found;
  for (const llvm::json::Value &event : *trace.getAsObject()->getArray("traceEvents"))
    if (event.getAsObject()->getString(key) == wanted)
      found.push_back(event.getAsObject());
  return found;
}
} // namespace

TEST(Write, ScopesOfGraphsHaveALane) {
  Phase phase;
  auto add = [&](const char *name, uint64_t begin, std::vector<std::string> stack) {
    phase.events.push_back(
        {TraceEvent::Kind::Kernel, name, begin, begin + 5, 0, std::move(stack), {}, 0, {}, uint64_t(7), 1000});
  };
  add("second", 2010, {"ROOT", "step", "<captured_at>", "a", "b"});
  add("first", 2000, {"ROOT", "step", "<captured_at>", "a", "b"});
  add("third", 2020, {"ROOT", "step", "<captured_at>", "a"});
  llvm::json::Value trace = traceDocument(phase);
  std::map<std::string, std::pair<double, double>> scopes;
  for (const llvm::json::Object *event : eventsOf(trace, "cat", "scope")) {
    EXPECT_EQ(event->getInteger("tid"), 100007);
    scopes[event->getString("name")->str()] = {*event->getNumber("ts"), *event->getNumber("dur")};
  }
  std::map<std::string, std::pair<double, double>> expected = {
      {"<captured_at>", {1.0, 0.025}}, {"a", {1.0, 0.025}}, {"b", {1.0, 0.015}}};
  EXPECT_EQ(scopes, expected);
  EXPECT_EQ(eventsOf(trace, "cat", "kernel").size(), 3u);
  EXPECT_NE(jsonText(trace).find("\"Graph: Stream 7\""), std::string::npos);
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

namespace {
// A scope of two marks, in a warp of a program.
void pass(KernelMarks &marks, uint64_t program, uint32_t warp, uint64_t cycles) {
  KernelMarks::Mark begin = mark(program, cycles, true), end = mark(program, cycles + 1, false);
  begin.unit = end.unit = warp;
  marks.add("scope", begin);
  marks.add("scope", end);
}
} // namespace

TEST(KernelMarks, AreThoseOfTheChosenUnits) {
  KernelMarks warps(MarkChoice{1, std::vector<uint64_t>{0, 2}});
  KernelMarks pairs(MarkChoice{2, std::vector<uint64_t>{1}});
  KernelMarks programs(MarkChoice{0, std::vector<uint64_t>{1, 9}});
  for (KernelMarks *marks : {&warps, &pairs, &programs})
    for (uint64_t program : {0, 1})
      for (uint32_t warp : {0, 1, 2, 3})
        pass(*marks, program, warp, 10);
  std::vector<KernelScope> scopes = warps.scopes();
  ASSERT_EQ(scopes.size(), 4u);
  EXPECT_EQ(scopes[1].unit, 2u);
  scopes = pairs.scopes(); // the first warp of the second pair speaks for both
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(scopes[0].unit, 1u);
  scopes = programs.scopes();
  ASSERT_EQ(scopes.size(), 1u);
  EXPECT_EQ(scopes[0].program, 1u);
  EXPECT_TRUE(programs.isSkipping());
  EXPECT_EQ(programs.choice.chosenPrograms(2), 1u);
  EXPECT_EQ(warps.choice.chosenPrograms(2), 2u);
}

TEST(KernelMarks, AreTheLatestThatHaveRoom) {
  KernelMarks marks(MarkChoice{1, std::nullopt, 8});
  for (uint64_t time = 0; time < 100; time += 10)
    for (uint32_t warp : {0, 1})
      pass(marks, 0, warp, time);
  std::vector<KernelScope> scopes = marks.scopes(); // two scopes, of four marks, for each warp
  ASSERT_EQ(scopes.size(), 4u);
  EXPECT_EQ(scopes[0].begin, 80u);
  EXPECT_EQ(marks.lost(), 32u);
}

TEST(ScopeLog, KnowsWhatWasOpen) {
  ScopeLog log;
  log.restart({"before"}, "");
  log.enter("a", 10);
  log.enter("b", 20);
  log.exit(30);
  log.exit(40);
  using Path = std::vector<std::string>;
  EXPECT_EQ(log.at(5).scopes, (Path{"before"}));
  EXPECT_EQ(log.at(10).scopes, (Path{"before", "a"}));
  EXPECT_EQ(log.at(25).scopes, (Path{"before", "a", "b"}));
  EXPECT_EQ(log.at(35).scopes, (Path{"before", "a"}));
  EXPECT_EQ(log.at(100).scopes, (Path{"before"}));
}

TEST(ScopeLog, RestartsWithWhatIsOpen) {
  ScopeLog log;
  log.enter("a", 10);
  log.enter("b", 20);
  log.restart();
  log.exit(30);
  using Path = std::vector<std::string>;
  EXPECT_EQ(log.at(25).scopes, (Path{"a", "b"}));
  EXPECT_EQ(log.at(35).scopes, (Path{"a"}));
}

TEST(ScopeLog, KnowsTheInnermostState) {
  ScopeLog log;
  using Path = std::vector<std::string>;
  log.setState("outer", 5);
  log.enter("a", 10);
  log.setState("inner", 20);
  log.setState("outer", 30);
  log.exit(40);
  log.setState("", 50);
  EXPECT_EQ(log.at(2).state, "");
  EXPECT_EQ(log.at(7).state, "outer");
  EXPECT_EQ(log.at(25).state, "inner");
  EXPECT_EQ(log.at(25).scopes, (Path{"a"}));
  EXPECT_EQ(log.at(45).state, "outer");
  EXPECT_EQ(log.at(45).scopes, Path{});
  log.setState("kept", 60);
  log.restart();
  EXPECT_EQ(log.at(1).state, "kept");
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
