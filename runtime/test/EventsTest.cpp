// A listener hears what it asked for, in order, and nothing else.
#include "runtime/Events.h"
#include "nacre/nacre.h"
#include "runtime/devices/null/NullDevice.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/Signature.h"
#include "gtest/gtest.h"
#include <cstring>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

using namespace nacre;

namespace {

struct Recorder : EventListener {
  using EventListener::EventListener;
  void launchBegin(const LaunchEvent &event) override {
    if (refuses)
      throw std::runtime_error("no");
    heard.push_back("begin " + event.name.str() + " on " + event.device->name());
    launch = event.id;
    stream = event.stream;
  }
  void launchEnd(const LaunchEvent &event) override {
    heard.push_back(event.isFailed ? "failed" : "end");
    EXPECT_EQ(event.id, launch);
    EXPECT_LE(event.begin, event.end);
  }
  void launchTimes(const LaunchTimes &times) override {
    heard.push_back("times");
    EXPECT_LE(times.begin, times.end);
    timed = times.launch;
  }
  void scopeEnter(const ScopeEvent &event) override { heard.push_back("enter " + event.name.str()); }
  void scopeExit(const ScopeEvent &event) override { heard.push_back("exit " + event.name.str()); }
  void allocation(const AllocationEvent &event) override { heard.push_back(std::to_string(event.bytes) + " bytes"); }

  std::vector<std::string> heard;
  uint64_t launch = 0, timed = 0, stream = 0;
  bool refuses = false;
};

// Added while it lives.
struct Added {
  explicit Added(uint32_t interests) : listener(std::make_shared<Recorder>(interests)) { addListener(listener); }
  ~Added() { removeListener(*listener); }
  Recorder *operator->() const { return listener.get(); }
  std::shared_ptr<Recorder> listener;
};

using Heard = std::vector<std::string>;

void launchOnNull() {
  CompiledCode code;
  code.symbol = "kernel";
  Kernel kernel("hash", code);
  uint32_t grid[3] = {2, 1, 1};
  LaunchOptions options;
  options.stream = 5;
  launch(kernel, *nullDriver().device(0), grid, {}, options);
}

TEST(Events, NobodyListens) {
  EXPECT_FALSE(events::isWanted(~0u));
  {
    Added listener(ScopeEvents);
    EXPECT_TRUE(events::isWanted(ScopeEvents));
    EXPECT_FALSE(events::isWanted(LaunchEvents));
  }
  EXPECT_FALSE(events::isWanted(~0u));
}

TEST(Events, Launches) {
  Added listener(LaunchEvents | LaunchTimeEvents);
  launchOnNull();
  EXPECT_EQ(listener->heard, (Heard{"begin kernel on null:0", "times", "end"}));
  EXPECT_EQ(listener->timed, listener->launch);
  EXPECT_EQ(listener->stream, 5u);
}

TEST(Events, OfTheHost) {
  struct Watcher : Recorder {
    using Recorder::Recorder;
    void compileBegin(const CompileEvent &event) override { heard.push_back("compile " + event.name.str()); }
    void compileEnd(const CompileEvent &event) override { heard.push_back(event.kernel ? "compiled" : "not compiled"); }
    void programsRun(const ProgramsRun &run) override {
      EXPECT_LE(run.begin, run.end);
      programs += run.count;
      nanoseconds += run.end - run.begin;
    }
    void launchTimes(const LaunchTimes &times) override {
      Recorder::launchTimes(times);
      EXPECT_EQ(times.busy, nanoseconds);
    }
    std::atomic<uint64_t> programs = 0, nanoseconds = 0;
  };
  auto watcher = std::make_shared<Watcher>(CompileEvents | LaunchEvents | LaunchTimeEvents | ProgramEvents);
  addListener(watcher);
  KernelSource source = KernelSource::fromString("import triton\n"
                                                 "import triton.language as tl\n"
                                                 "@triton.jit\n"
                                                 "def number(x):\n"
                                                 "    tl.store(x + tl.program_id(0), tl.program_id(0))\n"
                                                 "@triton.jit\n"
                                                 "def wrong(x):\n"
                                                 "    tl.store(x, unknown)\n");
  std::vector<int> numbers(1000);
  source.kernel("number").launch(Grid(1000), numbers.data());
  EXPECT_THROW(source.kernel("wrong").launch(Grid(1), numbers.data()), Error);
  removeListener(*watcher);
  EXPECT_EQ(numbers[999], 999);
  EXPECT_EQ(watcher->programs, 1000u);
  EXPECT_EQ(watcher->heard, (Heard{"compile number", "compiled", "begin number on " + hostDevice().name(), "times",
                                   "end", "compile wrong", "not compiled"}));
}

// Watches every launch; ends the program `refused` before its store.
struct AccessListener : EventListener, LaunchWatcher {
  AccessListener() : EventListener(AccessEvents) {}
  LaunchWatcher *watch(const LaunchEvent &event) override {
    kernels.push_back(event.name.str());
    return this;
  }
  bool access(const AccessEvent &event) override {
    std::lock_guard<std::mutex> guard(lock);
    bool isStore = event.effects & AccessWrites;
    heard[event.program.number].push_back(event.name + (" " + std::to_string(event.addresses[0])));
    EXPECT_EQ(event.size, 4u);
    EXPECT_EQ(event.line, 4u);
    return !(isStore && event.program.number == refused);
  }
  bool told(const ToldEvent &event) override {
    std::lock_guard<std::mutex> guard(lock);
    int operands[2];
    for (int i = 0; i < 2; ++i)
      std::memcpy(&operands[i], event.data[i], 4);
    heard[event.program.number].push_back(nameOf(event.kind).str() + " " + event.subject.str() + " " +
                                          std::to_string(operands[0]) + " " + std::to_string(operands[1]));
    return true;
  }
  std::mutex lock;
  std::vector<std::string> kernels;
  std::map<uint64_t, std::vector<std::string>> heard; // by program: they run at the same time
  uint64_t refused = 1;
};

TEST(Events, LoadsAndStores) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "kernel.py";
  text->text = "import triton.language as tl\n"
               "@triton.jit\n"
               "def divide(x, y, n):\n"
               "    tl.store(y + tl.program_id(0), n // tl.load(x + tl.program_id(0)))\n";
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
  CompileRequest request;
  request.kernel = findFunction(*embedder, "divide");
  request.arguments = parseSignature(request.kernel, "*i32, *i32, i32");
  request.options = compileOptionsFor(hostDevice());
  Kernel plain("plain", compileKernel(request, *embedder));
  request.options.watchAccesses = request.options.watchArithmetic = true;
  Kernel telling("telling", compileKernel(request, *embedder));
  EXPECT_FALSE(plain.code.metadata.tells);
  EXPECT_TRUE(telling.code.metadata.tells);

  int x[] = {10, 0, 30}, y[] = {0, 0, 0};
  auto address = [](int &element) { return reinterpret_cast<uint64_t>(&element); };
  uint64_t arguments[] = {address(x[0]), address(y[0]), 60};
  uint32_t grid[3] = {3, 1, 1};
  launch(telling, hostDevice(), grid, arguments); // nobody watches
  EXPECT_EQ(y[1], -1);
  y[1] = 0;
  auto listener = std::make_shared<AccessListener>();
  addListener(listener);
  launch(plain, hostDevice(), grid, arguments);
  EXPECT_TRUE(listener->kernels.empty());
  EXPECT_EQ(y[1], -1);
  y[1] = 0;
  launch(telling, hostDevice(), grid, arguments);
  removeListener(*listener);
  EXPECT_EQ(listener->kernels, Heard{"divide"});
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(y[1], 0); // its program was ended
  EXPECT_EQ(y[2], 2);
  std::map<uint64_t, Heard> expected;
  for (int i = 0; i < 3; ++i) {
    Heard &heard = expected[static_cast<uint64_t>(i)];
    heard.push_back("load " + std::to_string(address(x[i])));
    if (x[i] == 0) // arithmetic is told where something is wrong with it
      heard.push_back("arithmetic div int32 60 0");
    heard.push_back("store " + std::to_string(address(y[i])));
  }
  EXPECT_EQ(listener->heard, expected);
}

TEST(Events, AreToldToThoseInterested) {
  Added launches(LaunchEvents), scopes(ScopeEvents);
  enterScope("outer");
  launchOnNull();
  exitScope("outer");
  EXPECT_EQ(launches->heard, (Heard{"begin kernel on null:0", "end"}));
  EXPECT_EQ(scopes->heard, (Heard{"enter outer", "exit outer"}));
}

TEST(Events, FailedLaunchesEndToo) {
  Added listener(LaunchEvents);
  failNullLaunch(0, "out of order");
  EXPECT_THROW(launchOnNull(), DeviceError);
  EXPECT_EQ(listener->heard, (Heard{"begin kernel on null:0", "failed"}));
}

TEST(Events, AListenerMayRefuseALaunch) {
  Added listener(LaunchEvents);
  listener->refuses = true;
  uint64_t before = nullLaunches(0).count;
  EXPECT_THROW(launchOnNull(), std::runtime_error);
  EXPECT_EQ(nullLaunches(0).count, before);
}

TEST(Events, Allocations) {
  Added listener(AllocationEvents);
  for (Device *device : {&hostDevice(), nullDriver().device(0)})
    device->release(device->allocate(64, 0), 0);
  EXPECT_EQ(listener->heard, (Heard{"64 bytes", "0 bytes", "64 bytes", "0 bytes"}));
}

TEST(Events, AListenerMayRemoveItself) {
  struct Once : EventListener {
    Once() : EventListener(ScopeEvents) {}
    void scopeEnter(const ScopeEvent &) override {
      ++count;
      removeListener(*this);
    }
    int count = 0;
  };
  auto once = std::make_shared<Once>();
  addListener(once);
  enterScope("a");
  enterScope("b");
  EXPECT_EQ(once->count, 1);
}

TEST(EventsTest, ListenersMayChangeWhileAProcessForks) {
  // A fork may come while the other thread is within its listener, which hears of the child's scope, too.
  struct Counter : EventListener {
    Counter() : EventListener(ScopeEvents) {}
    void scopeEnter(const ScopeEvent &) override { ++count; }
    std::atomic<int> count = 0;
  };
  std::atomic<bool> isDone = false;
  std::thread changer([&] {
    while (!isDone) {
      auto counter = std::make_shared<Counter>();
      addListener(counter);
      enterScope("parent");
      removeListener(*counter);
    }
  });
  for (int i = 0; i < 300; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(300); // one that waits forever ends by it
      Added listener(ScopeEvents);
      enterScope("child");
      _exit(listener->heard == Heard{"enter child"} ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  isDone = true;
  changer.join();
}

} // namespace
