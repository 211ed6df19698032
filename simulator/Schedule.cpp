// Runs a launch: clusters of blocks on host threads, warps in turns, until all are done or nobody can go on.
#include "simulator/Machine.h"
#include "simulator/Mbarriers.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>

namespace nacre::simulator {

thread_local Worker *currentWorker = nullptr;

namespace {

constexpr uint32_t fixedSlice = 4096;      // operations of a warp before the next one gets its turn
constexpr uint64_t idlePollRounds = 20000; // rounds in which warps only looked: then nobody will change anything
constexpr uint64_t impatientRounds = 256;  // the same, before other clusters are started beside
constexpr size_t residentClusters = 4096;  // at most, where clusters wait for each other
// A loop that waits may hold barriers and stores to shared memory. So many instructions of a cluster in which it looked
// at global memory and changed none, and it counts as waiting: before other clusters are started beside it; when all
// are there, of all together, and at least of each.
constexpr uint64_t impatientInstructions = 20000, patientInstructions = 20000000, leastInstructions = 400000;

void fillRow(Warp &warp, SpecialRow row, uint32_t value) {
  auto *lanes = reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + row * specialRowBytes);
  std::fill(lanes, lanes + laneCount, value);
}
void fillWide(Warp &warp, SpecialRow row, uint64_t value) {
  auto *lanes = reinterpret_cast<uint64_t *>(warp.bases[SpecialBase] + row * specialRowBytes);
  std::fill(lanes, lanes + laneCount, value);
}

// What is the same for this warp in every block.
void fillCommon(Warp &warp, const LaunchState &state) {
  auto *tidX = reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + TidX * specialRowBytes);
  auto *tidY = reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + TidY * specialRowBytes);
  auto *tidZ = reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + TidZ * specialRowBytes);
  auto *lane = reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + LaneId * specialRowBytes);
  for (uint32_t i = 0; i < laneCount; ++i) {
    uint32_t thread = warp.index * laneCount + i;
    tidX[i] = thread % state.block.x;
    tidY[i] = thread / state.block.x % state.block.y;
    tidZ[i] = thread / state.block.x / state.block.y;
    lane[i] = i;
    auto mask = [&](SpecialRow row, uint32_t value) {
      reinterpret_cast<uint32_t *>(warp.bases[SpecialBase] + row * specialRowBytes)[i] = value;
    };
    mask(LaneMaskEq, 1u << i);
    mask(LaneMaskLt, (1u << i) - 1);
    mask(LaneMaskLe, ((1u << i) - 1) | (1u << i));
    mask(LaneMaskGe, ~((1u << i) - 1));
    mask(LaneMaskGt, ~(((1u << i) - 1) | (1u << i)));
  }
  const Dimensions &c = state.cluster;
  fillRow(warp, NtidX, state.block.x), fillRow(warp, NtidY, state.block.y), fillRow(warp, NtidZ, state.block.z);
  fillRow(warp, NctaidX, state.grid.x), fillRow(warp, NctaidY, state.grid.y), fillRow(warp, NctaidZ, state.grid.z);
  fillRow(warp, WarpId, warp.index);
  fillRow(warp, NWarpId, static_cast<uint32_t>((state.block.count() + laneCount - 1) / laneCount));
  fillRow(warp, NSmId, multiprocessors);
  fillWide(warp, GridId, 1);
  fillRow(warp, NClusterIdX, state.grid.x / c.x), fillRow(warp, NClusterIdY, state.grid.y / c.y);
  fillRow(warp, NClusterIdZ, state.grid.z / c.z);
  fillRow(warp, ClusterNctaidX, c.x), fillRow(warp, ClusterNctaidY, c.y), fillRow(warp, ClusterNctaidZ, c.z);
  fillRow(warp, ClusterNctaRank, static_cast<uint32_t>(c.count()));
  fillRow(warp, IsExplicitCluster, c.count() > 1 ? allLanes : 0);
  fillRow(warp, DynamicSmemSize, state.launch->sharedBytes);
  fillRow(warp, TotalSmemSize, state.declaredSharedBytes);
  auto workspace = reinterpret_cast<uint64_t>(state.workspace.data);
  fillRow(warp, Environment1, static_cast<uint32_t>(workspace >> 32));
  fillRow(warp, Environment2, static_cast<uint32_t>(workspace));
  fillRow(warp, ReservedSharedBegin, sharedStart + state.reservedOffset);
  fillRow(warp, ReservedSharedEnd, sharedStart + state.reservedOffset + reservedSharedBytes);
  fillRow(warp, ReservedSharedSize, reservedSharedBytes);
  fillWide(warp, ParameterBase, reinterpret_cast<uint64_t>(state.parameters.data));
  fillRow(warp, DynamicShared32, sharedStart + state.dynamicOffset);
  fillWide(warp, DynamicShared64, sharedStart + state.dynamicOffset);
  fillWide(warp, ZeroRow, 0);
}
void fillSpecials(Warp &warp) {
  const LaunchState &state = *warp.launch;
  const Block &block = *warp.block;
  const Cluster &cluster = *block.cluster;
  const Dimensions &c = state.cluster;
  std::memcpy(warp.bases[SpecialBase], state.specials[warp.index].data, state.specials[warp.index].size);
  fillRow(warp, CtaidX, block.id.x), fillRow(warp, CtaidY, block.id.y), fillRow(warp, CtaidZ, block.id.z);
  fillRow(warp, SmId, block.linear % multiprocessors);
  fillRow(warp, ClusterIdX, cluster.id.x), fillRow(warp, ClusterIdY, cluster.id.y),
      fillRow(warp, ClusterIdZ, cluster.id.z);
  fillRow(warp, ClusterCtaidX, block.id.x % c.x), fillRow(warp, ClusterCtaidY, block.id.y % c.y);
  fillRow(warp, ClusterCtaidZ, block.id.z % c.z);
  fillRow(warp, ClusterCtaRank, block.rank);
}
void makeSpecials(LaunchState &state) {
  state.specials.resize((state.block.count() + laneCount - 1) / laneCount);
  for (uint32_t i = 0; i < state.specials.size(); ++i) {
    Warp warp;
    warp.index = i;
    state.specials[i].allocate(SpecialRowCount * specialRowBytes + specialRowBytes);
    warp.bases[SpecialBase] = state.specials[i].data;
    fillCommon(warp, state);
  }
}

std::unique_ptr<Warp> makeWarp(Block &block, uint32_t index, uint32_t threads) {
  LaunchState &state = *block.launch;
  auto warp = std::make_unique<Warp>();
  warp->block = &block;
  warp->launch = &state;
  warp->program = state.program;
  warp->index = index;
  warp->agent = (block.rank * block.cluster->warpsPerBlock + index) * StreamCount;
  uint32_t lanes = std::min(laneCount, threads - index * laneCount);
  warp->present = warp->live = lanes == laneCount ? allLanes : (1u << lanes) - 1;
  warp->specials.allocate(SpecialRowCount * specialRowBytes + specialRowBytes, 64, false);
  warp->bases[SpecialBase] = warp->specials.data;
  warp->bases[ConstantBase] = state.program->constants.data;
  warp->localBytes = state.localBytes;
  warp->local.allocate(size_t(warp->localBytes) * laneCount);
  if (state.checks)
    warp->localInitialized.allocate(warp->local.size);
  warp->ownClock() = 1;
  Frame *frame = makeFrame(*warp, *state.kernel);
  frame->lanes = warp->live;
  auto *local64 = reinterpret_cast<uint64_t *>(frame->registers.data + frameLocal64);
  auto *local32 = reinterpret_cast<uint32_t *>(frame->registers.data + frameLocal32);
  std::fill(local64, local64 + laneCount, localStart);
  std::fill(local32, local32 + laneCount, localStart);
  Fragment fragment;
  fragment.pc = state.kernel->entry;
  fragment.mask = warp->live;
  fragment.frame = frame;
  warp->fragments.push_back(fragment);
  return warp;
}

std::unique_ptr<Cluster> makeCluster(LaunchState &state, uint32_t linear) {
  auto cluster = std::make_unique<Cluster>();
  cluster->launch = &state;
  cluster->linear = linear;
  const Dimensions &c = state.cluster;
  uint32_t across = state.grid.x / c.x, up = state.grid.y / c.y;
  cluster->id = {linear % across, linear / across % up, linear / across / up};
  uint32_t threads = static_cast<uint32_t>(state.block.count());
  cluster->warpsPerBlock = (threads + laneCount - 1) / laneCount;
  uint32_t blocks = static_cast<uint32_t>(c.count());
  cluster->agents = cluster->warpsPerBlock * blocks * StreamCount;
  cluster->random.seed(state.launch->seed * 0x9E3779B97F4A7C15u + linear);
  for (uint32_t rank = 0; rank < blocks; ++rank) {
    auto block = std::make_unique<Block>();
    block->cluster = cluster.get();
    block->launch = &state;
    block->rank = rank;
    uint32_t x = rank % c.x, y = rank / c.x % c.y, z = rank / c.x / c.y;
    block->id = {cluster->id.x * c.x + x, cluster->id.y * c.y + y, cluster->id.z * c.z + z};
    block->linear = block->id.x + state.grid.x * (block->id.y + state.grid.y * block->id.z);
    block->sharedBytes = state.sharedBytes;
    block->reservedOffset = state.reservedOffset;
    uint32_t bytes = state.reservedOffset == ~0u ? state.sharedBytes : state.reservedOffset + reservedSharedBytes;
    block->shared.allocate(std::max(bytes, 16u), 1024);
    if (state.checks) {
      uint32_t granule = state.program->sharedGranule;
      block->shadow.resize(bytes / granule + 1);
      for (const DecodedFunction::Gap &gap : state.kernel->sharedGaps)
        for (uint32_t at = (gap.offset + granule - 1) / granule; at < (gap.offset + gap.bytes) / granule; ++at)
          block->shadow[at].flags = ShadowGap;
      uint32_t laid = state.kernel->laidSharedBytes;
      for (uint32_t at = (laid + granule - 1) / granule; at < std::min(state.dynamicOffset, bytes) / granule; ++at)
        block->shadow[at].flags = ShadowGap;
    } else { // what is read before it is written should look like it
      std::memset(block->shared.data, 0xA5, bytes);
    }
    block->liveThreads = threads;
    block->registerPool = 65536;
    cluster->blocks.push_back(std::move(block));
  }
  for (auto &block : cluster->blocks) {
    for (uint32_t i = 0; i < cluster->warpsPerBlock; ++i)
      block->warps.push_back(makeWarp(*block, i, threads));
    for (auto &warp : block->warps)
      fillSpecials(*warp);
  }
  return cluster;
}

enum class ClusterState { Running, Stuck, Done };

// Lanes that wait for others of their warp, which cannot come: some of them go on, and that is reported. First where
// the whole warp waits; lanes that still look for something may come when others are through.
bool forceOne(Cluster &cluster) {
  for (bool whole : {true, false})
    for (auto &block : cluster.blocks)
      for (auto &warp : block->warps) {
        auto waits = [](const Fragment &fragment) { return fragment.gathering || fragment.atBarrier; };
        if (whole && !std::all_of(warp->fragments.begin(), warp->fragments.end(), waits))
          continue;
        for (Fragment &fragment : warp->fragments)
          if (fragment.gathering && !fragment.forced) {
            fragment.forced = true;
            cluster.idleRounds = 0;
            return true;
          }
      }
  return false;
}

void reportLimit(const Warp &warp) {
  LaunchState &state = *warp.launch;
  state.reportAt(FindingKind::LimitReached,
                 "the limit of " + std::to_string(state.launch->instructionLimit) + " warp instructions is reached",
                 warp.fragments[0].pc, ~0u, warp.block, &warp,
                 static_cast<uint32_t>(std::countr_zero(warp.fragments[0].mask)));
  state.completed = false;
  state.stopped = true;
}

constexpr auto betweenQuestions = std::chrono::milliseconds(50); // whether the launch is interrupted
constexpr uint32_t slicesBetweenLooks = 16;                      // at the clock

// The launch ends soon where it is interrupted.
void look(LaunchState &state, Worker &worker) {
  worker.slices = 0;
  if (!worker.asks || state.stopped)
    return;
  auto now = std::chrono::steady_clock::now();
  if (now - worker.askedAt < betweenQuestions)
    return;
  if (state.launch->interrupted())
    state.interrupted = state.stopped = true;
  worker.askedAt = std::chrono::steady_clock::now();
}

ClusterState runRounds(Cluster &cluster, unsigned rounds) {
  LaunchState &state = *cluster.launch;
  bool random = state.launch->schedule == Schedule::Random;
  std::vector<Warp *> order;
  for (auto &block : cluster.blocks)
    for (auto &warp : block->warps)
      order.push_back(warp.get());
  while (rounds-- > 0) {
    if (state.stopped)
      return ClusterState::Done;
    if (random)
      std::shuffle(order.begin(), order.end(), cluster.random);
    uint64_t before = cluster.progress;
    bool moved = false, polled = false, done = true;
    for (Warp *warp : order) {
      if (warp->fragments.empty())
        continue;
      done = false;
      uint64_t executed = warp->executed;
      uint32_t slice = random ? 1 + static_cast<uint32_t>(cluster.random() % 97) : fixedSlice;
      if (uint64_t limit = state.launch->instructionLimit) {
        if (cluster.executed >= limit && warp->live) {
          reportLimit(*warp);
          return ClusterState::Done;
        }
        slice = static_cast<uint32_t>(std::clamp<uint64_t>(limit - cluster.executed, 1, slice));
      }
      SliceEnd end = runWarp(*warp, slice);
      cluster.executed += warp->executed - executed;
      // A slice that ends within a loop that polls has not moved.
      bool computes = end == SliceEnd::Budget && warp->executed - warp->lastPoll > fixedSlice;
      moved |= computes || end == SliceEnd::Done;
      polled |= end == SliceEnd::Polling || end == SliceEnd::Budget;
      if (++currentWorker->slices >= slicesBetweenLooks)
        look(state, *currentWorker);
      if (state.stopped)
        return ClusterState::Done;
    }
    if (done)
      return ClusterState::Done;
    if (moved || cluster.changes != cluster.knownChanges) {
      cluster.knownChanges = cluster.changes;
      cluster.quietSince = cluster.executed;
    }
    if (moved || cluster.progress != before) {
      cluster.idleRounds = 0;
      bool looked = std::exchange(cluster.looksOutside, false);
      if (looked && cluster.executed - cluster.quietSince > cluster.patience)
        return ClusterState::Stuck; // and goes on looking when it is asked again
      continue;
    }
    if (!polled || ++cluster.idleRounds > (cluster.moreToStart ? impatientRounds : idlePollRounds)) {
      // What it waits for is in its own hands, unless it looks at memory that others write.
      if (!cluster.looksOutside && forceOne(cluster))
        continue;
      return ClusterState::Stuck; // and stays so until something moves in it
    }
    if (cluster.beside && cluster.idleRounds % 64 == 63)
      return ClusterState::Running; // others may have to act
  }
  return ClusterState::Running;
}

// What a fragment waits for: " (...)", or nothing.
std::string waitsFor(Warp &warp, const Fragment &fragment, uint32_t pc) {
  const Op &op = warp.program->ops[pc];
  const auto &words = warp.program->infos[pc].instruction->words;
  Block &block = *warp.block;
  std::string text;
  if (fragment.gathering) {
    text = "for other lanes of the warp";
  } else if (fragment.atBarrier) {
    const BarrierState &barrier = block.barriers[fragment.barrier];
    text = std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected ? barrier.expected : block.liveThreads) + " threads have arrived";
  } else if (words[0] == "mbarrier") {
    warp.bases[FrameBase] = fragment.frame->registers.data;
    uint64_t address[laneCount];
    addressesOf(warp, op.a, op.offset, op.lanes32, address);
    uint64_t at = address[std::countr_zero(fragment.mask)];
    if (Mbarrier *object = toShared(at) ? mbarrierAt(warp, at) : nullptr)
      text = stateOf(*object);
  } else if (words.size() > 1 && words[1] == "cluster") {
    uint32_t live = 0;
    for (auto &other : block.cluster->blocks)
      live += other->liveThreads;
    text = std::to_string(block.cluster->barrier.arrived) + " of " + std::to_string(live) + " threads have arrived";
  }
  return text.empty() ? text : ", " + text;
}

void reportDeadlock(Cluster &cluster) {
  LaunchState &state = *cluster.launch;
  std::string message = "nobody can go on.";
  const Warp *first = nullptr;
  const Fragment *firstFragment = nullptr;
  uint32_t firstPc = 0;
  unsigned shown = 0;
  for (auto &block : cluster.blocks)
    for (auto &warp : block->warps)
      for (Fragment &fragment : warp->fragments) {
        if (!fragment.mask)
          continue;
        bool waits = fragment.gathering || fragment.atBarrier || fragment.polledAt == ~0u;
        uint32_t pc = waits ? fragment.pc : fragment.polledAt;
        if (!first)
          first = warp.get(), firstPc = pc, firstFragment = &fragment;
        if (++shown > 16)
          continue;
        message += " Block " + std::to_string(block->linear) + " warp " + std::to_string(warp->index) + ": " +
                   state.program->place(pc, fragment.frame).text() + " (`" +
                   std::string(state.program->infos[pc].instruction->text.substr(0, 60)) + "`" +
                   waitsFor(*warp, fragment, pc) + ").";
      }
  if (shown > 16)
    message += " And " + std::to_string(shown - 16) + " more.";
  if (first) {
    SourcePlace place = state.program->place(firstPc, firstFragment->frame);
    state.reportAt(FindingKind::Deadlock, message, firstPc, ~0u, first->block, first,
                   static_cast<uint32_t>(std::countr_zero(firstFragment->mask)), &place);
  }
  state.completed = false;
  state.stopped = true;
}

// One host thread: takes clusters until there are none. A cluster that waits for others stays, and others are started
// beside it.
struct ClusterQueue {
  std::vector<uint32_t> order;
  std::atomic<size_t> next = 0;
  std::atomic<unsigned> stuckWorkers = 0;
  unsigned workers = 1;
};

void work(LaunchState &state, ClusterQueue &queue, Worker &worker) {
  struct Outer { // a handler of an interrupt may launch, too, and go on after a launch that failed
    Worker *worker;
    ~Outer() { currentWorker = worker; }
  } outer{std::exchange(currentWorker, &worker)};
  std::vector<std::unique_ptr<Cluster>> resident;
  auto start = [&] {
    if (resident.size() >= residentClusters)
      return false;
    size_t index = queue.next.fetch_add(1);
    if (index >= queue.order.size())
      return false;
    resident.push_back(makeCluster(state, queue.order[index]));
    return true;
  };
  std::mt19937_64 random(state.launch->seed + 77);
  bool randomOrder = state.launch->schedule == Schedule::Random;
  size_t wanted = state.launch->cooperative ? queue.order.size() : randomOrder ? 3 : 1; // clusters beside each other
  bool stuck = false;
  while (!state.stopped) {
    while (resident.size() < wanted && start()) {
    }
    if (resident.empty())
      break;
    bool anyRunning = false;
    uint64_t before = 0, after = 0;
    for (auto &cluster : resident)
      before += cluster->changes;
    if (randomOrder)
      std::shuffle(resident.begin(), resident.end(), random);
    for (size_t i = 0; i < resident.size() && !state.stopped;) {
      resident[i]->beside = resident.size() > 1;
      resident[i]->moreToStart = queue.next < queue.order.size() && resident.size() < residentClusters;
      resident[i]->patience = resident[i]->moreToStart
                                  ? impatientInstructions
                                  : std::max(patientInstructions / resident.size(), leastInstructions);
      ClusterState result = runRounds(*resident[i], randomOrder ? 8 : resident.size() > 1 ? 64 : 100000);
      if (result == ClusterState::Done) {
        if (!state.stopped && state.checks)
          checkAtEnd(*resident[i]);
        resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(i));
        anyRunning = true;
        continue;
      }
      anyRunning |= result == ClusterState::Running;
      ++i;
    }
    for (auto &cluster : resident)
      after += cluster->changes;
    if (anyRunning || before != after) {
      if (stuck)
        --queue.stuckWorkers;
      stuck = false;
      continue;
    }
    if (resident.empty())
      continue;
    // Everything here waits: perhaps for a block that has not begun.
    if (start()) {
      for (size_t more = resident.size(); more > 1 && start(); --more) {
      }
      wanted = resident.size();
      continue;
    }
    if (!stuck)
      ++queue.stuckWorkers;
    stuck = true;
    if (queue.stuckWorkers.load() == queue.workers) {
      if (std::any_of(resident.begin(), resident.end(), [](auto &cluster) { return forceOne(*cluster); }))
        continue;
      reportDeadlock(*resident.front());
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    look(state, worker);
  }
  if (state.checks && state.stopped)
    for (auto &cluster : resident)
      for (auto &block : cluster->blocks)
        reportEarlyReads(*block);
  if (!stuck)
    ++queue.stuckWorkers; // gone: it will change nothing
}

} // namespace

void runLaunch(LaunchState &state, Report &report) {
  makeSpecials(state);
  ClusterQueue queue;
  uint64_t clusters = state.grid.count() / state.cluster.count();
  queue.order.resize(clusters);
  for (uint64_t i = 0; i < clusters; ++i)
    queue.order[i] = static_cast<uint32_t>(i);
  if (state.launch->schedule == Schedule::Random) {
    std::mt19937_64 random(state.launch->seed);
    std::shuffle(queue.order.begin(), queue.order.end(), random);
  }
  unsigned threads = state.launch->threads;
  if (threads == 0)
    threads = state.program->hasGlobalAtomics || state.launch->schedule == Schedule::Random
                  ? 1
                  : std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, clusters));
  queue.workers = threads;
  std::vector<Worker> workers(threads);
  for (Worker &worker : workers)
    worker.counters.resize(state.program->ops.size());
  std::vector<std::thread> others;
  std::exception_ptr failure;
  std::mutex failureMutex;
  std::condition_variable ended;
  unsigned running = threads;
  auto guarded = [&](auto action) {
    try {
      action();
    } catch (...) {
      std::lock_guard lock(failureMutex);
      failure = std::current_exception();
      state.stopped = true;
      ++queue.stuckWorkers;
    }
  };
  auto ends = [&] {
    std::lock_guard lock(failureMutex);
    --running;
    ended.notify_one();
  };
  workers[0].asks = static_cast<bool>(state.launch->interrupted);
  workers[0].askedAt = std::chrono::steady_clock::now();
  for (unsigned i = 1; i < threads; ++i)
    try {
      others.emplace_back([&, i] {
        guarded([&] { work(state, queue, workers[i]); });
        ends();
      });
    } catch (const std::system_error &) { // no more threads are to be had: this one has nothing to do
      ++queue.stuckWorkers;
      ends();
    }
  guarded([&] { work(state, queue, workers[0]); });
  ends();
  auto haveEnded = [&] {
    std::unique_lock lock(failureMutex);
    return ended.wait_for(lock, betweenQuestions, [&] { return running == 0; });
  };
  while (!haveEnded())
    guarded([&] { look(state, workers[0]); });
  for (std::thread &thread : others)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
  if (state.interrupted)
    throw Interrupted();
  for (unsigned i = 1; i < threads; ++i) {
    for (size_t op = 0; op < workers[0].counters.size(); ++op) {
      OpCounters &into = workers[0].counters[op];
      const OpCounters &from = workers[i].counters[op];
      into.executions += from.executions, into.threads += from.threads, into.accesses += from.accesses;
      into.units += from.units, into.idealUnits += from.idealUnits, into.sharedAccesses += from.sharedAccesses;
      into.wavefronts += from.wavefronts, into.idealWavefronts += from.idealWavefronts;
    }
    workers[0].bulkBytes += workers[i].bulkBytes;
    workers[0].barriers += workers[i].barriers;
  }
  collectCounters(state, workers[0], report.counters);
}

} // namespace nacre::simulator
