// The state of a launch: clusters of blocks of warps, and what they share.
#pragma once

#include "simulator/Clocks.h"
#include "simulator/Program.h"
#include "simulator/Simulator.h"
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <unordered_map>

namespace nacre::simulator {

struct Block;
struct Cluster;
struct LaunchState;

// Zeros that cost nothing until they are touched.
struct LazyBytes {
  std::unique_ptr<std::byte, decltype(&std::free)> storage{nullptr, &std::free};
  size_t size = 0;
  void allocate(size_t bytes) {
    storage.reset(bytes ? static_cast<std::byte *>(std::calloc(bytes, 1)) : nullptr);
    if (bytes && !storage)
      throw Error("no memory for the threads' local memory");
    size = bytes;
  }
  std::byte *data() const { return storage.get(); }
};

// An activation of a function by some lanes of a warp.
struct Frame {
  const DecodedFunction *function = nullptr;
  Frame *parent = nullptr;
  uint32_t depth = 0;
  uint32_t returnPc = 0;
  const CallPlan *call = nullptr; // how results go back
  uint32_t lanes = 0;             // still in it
  uint32_t localBase = 0;
  std::array<uint32_t, laneCount> stackTop = {}; // where each lane's local memory ends
  AlignedBytes registers;
  std::vector<std::byte> parameters; // [lane][parameterBytes]
};

// Lanes of a warp that stand at one place.
struct Fragment {
  uint32_t pc = 0, mask = 0;
  Frame *frame = nullptr;
  bool blocked = false;
  bool gathering = false; // waits for lanes of its own warp
  bool forced = false;    // they will not come: goes on without them
  bool atBarrier = false; // arrived; waits for others
  uint32_t barrier = 0;   // which of the block, with its phase
  uint64_t barrierPhase = 0;
  uint32_t backwardJumps = 0;
  uint32_t polledAt = ~0u; // the op that last only looked at something
  uint64_t lastRun = 0;
};

// A wgmma that has not been waited for, and the rows of registers it uses.
struct WgmmaInFlight {
  uint32_t group = 0, op = 0;
  const std::vector<uint32_t> *reads = nullptr, *writes = nullptr;
};

// A register whose value is undefined: loaded from local memory that nothing had written, or shuffled from a lane that
// was not there. To have it is no mistake, to use it is.
struct Undefined {
  const Frame *frame = nullptr;
  uint32_t offset = 0; // of the register in the frame
  FindingKind kind = FindingKind::Uninitialized;
  uint32_t op = 0;                            // where it comes from
  SourcePlace place;                          // of it
  std::string message;                        // what to say when it is used
  std::array<uint16_t, laneCount> bytes = {}; // by lane: a bit for each byte that is undefined
  uint32_t lanes() const {
    uint32_t mask = 0;
    for (unsigned i = 0; i < laneCount; ++i)
      mask |= uint32_t(bytes[i] != 0) << i;
    return mask;
  }
};

struct Warp {
  std::byte *bases[3] = {};
  AlignedBytes specials;
  Block *block = nullptr;
  const Program *program = nullptr;
  LaunchState *launch = nullptr;
  uint32_t index = 0;   // in its block
  uint32_t agent = 0;   // of its generic stream
  uint32_t pc = 0;      // of the fragment that runs
  uint32_t active = 0;  // its lanes
  uint32_t live = 0;    // lanes that have not exited
  uint32_t present = 0; // lanes that exist
  Frame *frame = nullptr;
  size_t current = 0;
  std::vector<Fragment> fragments;
  std::vector<std::unique_ptr<Frame>> frames, freeFrames;
  LazyBytes local, localInitialized; // [lane][localBytes]
  std::vector<Undefined> undefined;  // few, mostly none
  uint32_t localBytes = 0;
  uint32_t carry[laneCount] = {};
  uint64_t executed = 0, runs = 0;
  uint64_t lastPoll = 0;  // `executed` when it last only looked at something
  uint32_t warpSyncs = 0; // how often its lanes met
  uint32_t registerQuota = 0;

  Clocks clocks;
  uint32_t copyGroups = 0, bulkGroups = 0, wgmmaGroups = 0; // committed
  bool copyOpen = false, bulkOpen = false;
  bool wgmmaOpen = false;
  Clocks fenced; // at the last fence: what relaxed writes publish
  Clocks pendingAcquire;
  bool hasFenced = false;
  uint32_t clusterArrived = 0; // lanes between barrier.cluster.arrive and wait
  uint64_t clusterPhase = 0;
  uint32_t bulkReads = 0, bulkDone = 0; // clock of the last bulk read of shared memory, and of those waited for
  uint32_t lastBulk = 0, lastWgmma = 0; // ops

  std::vector<WgmmaInFlight> inFlight;
  // By row of registers: how many wgmma in flight read and write it, the last of them, and the wgmma.fence epoch of the
  // last ordinary write.
  std::vector<uint16_t> flightReads, flightWrites;
  std::vector<uint32_t> flightOps, writtenEpoch;
  uint32_t wgmmaEpoch = 1;
  uint64_t wgmmaCount = 0;

  template <typename T> T *at(Slot slot) const { return reinterpret_cast<T *>(bases[slot.base()] + slot.offset()); }
  uint32_t &predicate(Slot slot) const { return *at<uint32_t>(slot); }
  Clock &ownClock() {
    if (clocks.seen.size() <= agent)
      clocks.seen.resize(agent + 1, 0);
    return clocks.seen[agent];
  }
};

using BlockTimes = std::unordered_map<uint32_t, Clock>; // times of blocks, by their number in the grid

// What blocks have released at an address of global memory. As a rule the last one had acquired what those before it
// released there; its own time, and what it knew then, say all. Who knows a time of a block knows all that the block
// had acquired by then: that makes most acquires a comparison of two times.
struct ReleasedTimes {
  BlockTimes others;                       // of releases that the last one had not acquired
  std::shared_ptr<const BlockTimes> known; // what it had acquired
  uint32_t block = 0;
  Clock time = 0; // 0: nobody; `others` is all there is

  // Whether it says something of this block, and of another one.
  bool cameBackTo(uint32_t own) const;
};

// A barrier of a block (bar.sync id) or of a cluster.
struct BarrierState {
  uint32_t arrived = 0; // threads
  uint32_t expected = 0;
  uint64_t phase = 0;
  uint32_t reduceAnd = 1, reduceOr = 0, reduceCount = 0;
  uint32_t lastAnd = 1, lastOr = 0, lastCount = 0;
  uint32_t firstOp = 0, firstLane = 0; // of who came first
  const Warp *firstWarp = nullptr;
  Clocks released, visible;
};

struct Mbarrier {
  uint32_t count = 0;       // arrivals a phase
  int64_t pending = 0;      // arrivals left in this phase
  int64_t transactions = 0; // bytes expected and not arrived
  uint64_t phase = 0;
  uint32_t agent = 0;
  uint32_t initOp = 0, initAgent = 0;
  Clock initClock = 0;
  Clocks released, visible;
  BlockTimes releasedBlocks, visibleBlocks;
};

// What was done to a granule of shared memory: the last plain write, and the other accesses since.
struct SharedShadow {
  Clock writeClock = 0; // 0: no plain write
  uint32_t writeOp = 0;
  uint32_t writeSync = 0; // warpSyncs of the writer at the write
  uint16_t writeAgent = 0;
  uint8_t writeLane = 0;
  uint8_t flags = 0;  // ShadowFlag
  Clock useClock = 0; // of the only access since; 0: none, or several
  uint32_t useOp = 0; // of it; with ShadowManyUses the number of their list
  uint32_t useSync = 0;
  uint16_t useAgent = 0;
  uint8_t useLane = 0, useKind = 0;
};
enum ShadowFlag : uint8_t {
  ShadowWritten = 1, // by anyone
  ShadowAsync = 2,   // the last plain write came through the async proxy
  ShadowManyUses = 4,
  ShadowBarrier = 8,
  ShadowGap = 16,      // between two variables
  ShadowReadEarly = 32 // read before anything wrote it: by writeAgent, writeLane and writeOp
};

// An access other than a plain write. `strong`: atomic, volatile or with an order.
enum UseKind : uint8_t { PlainRead = 0, StrongRead = 1, StrongWrite = 2, UseKindMask = 3, SeveralLanes = 4 };
struct SharedUse {
  Clock clock = 0;
  uint32_t op = 0;
  uint32_t sync = 0; // warpSyncs of the warp: the lanes are those since
  uint16_t agent = 0;
  uint8_t lane = 0, kind = 0; // UseKind, with SeveralLanes
};

struct Block {
  Cluster *cluster = nullptr;
  LaunchState *launch = nullptr;
  uint32_t rank = 0;   // in its cluster
  uint32_t linear = 0; // in the grid
  Dimensions id;
  AlignedBytes shared; // from sharedStart on
  uint32_t sharedBytes = 0;
  uint32_t reservedOffset = ~0u; // of the system's part, which lies behind
  bool readEarly = false;        // some of it was read before it was written
  std::vector<std::unique_ptr<Warp>> warps;
  uint32_t liveThreads = 0;
  BarrierState barriers[16];
  std::unordered_map<uint32_t, Mbarrier> mbarriers;
  std::vector<SharedShadow> shadow;
  // Of granules that several agents use: for each of these lists a place in useSlots for the plain reads of every warp
  // of the cluster, then one for its strong writes; other uses in the list itself.
  struct UseList {
    uint32_t plainReads = 0, strongWrites = 0; // places taken
    std::vector<SharedUse> others;
  };
  std::vector<UseList> useLists;
  std::vector<SharedUse> useSlots;
  std::vector<uint32_t> freeUseLists;
  std::unordered_map<uint64_t, Clocks> synchronized, synchronizedGlobal; // released at shared and at global addresses
  uint32_t registerPool = 0;
  // The last access to its shared memory by each agent of another block of the cluster, which must come before its end.
  struct RemoteAccess {
    Clock clock = 0;
    uint32_t op = 0, lane = 0;
    const Warp *warp = nullptr;
  };
  std::unordered_map<uint32_t, RemoteAccess> remote;

  // Between blocks, for races in global memory: own time, and what it has acquired of others.
  Clock globalClock = 1;
  BlockTimes acquired, globalFenced, globalPending;
  bool globalHasFenced = false;
  // A copy of `acquired`, null since it has changed; and what was joined to it last.
  std::shared_ptr<const BlockTimes> acquiredCopy, joinedLast;
};

struct Cluster {
  LaunchState *launch = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  Dimensions id;
  uint32_t linear = 0;
  BarrierState barrier;
  BlockTimes releasedBlocks, visibleBlocks; // at its barrier
  uint32_t agents = 0;                      // in use
  uint32_t warpsPerBlock = 0;
  uint64_t executed = 0;
  std::mt19937_64 random;
  uint64_t progress = 0; // changes that one of its warps may be waiting for
  uint64_t changes = 0;  // those among them that others may be waiting for: of global memory; and that time has passed
  uint64_t knownChanges = 0, quietSince = 0; // `changes` and `executed` when there was one last
  uint64_t patience = 0;                     // instructions without one, looking, after which it counts as waiting
  uint64_t idleRounds = 0;
  bool looksOutside = false; // since something moved, one of its warps has looked at what other clusters may change
  bool beside = false;       // other clusters take turns with it
  bool moreToStart = false;  // clusters that have not begun may be what it waits for
};

class AllocationShadow; // what was done to its memory (Races.h)

struct Allocation {
  uint64_t begin = 0, end = 0;
  std::string name;
  bool writable = true;
  std::shared_ptr<AllocationShadow> shadow;
  // What it was made from, where some of its bytes are no element's.
  std::vector<MemoryRange> views{};

  // Whether all of these bytes, which lie within it, may be accessed.
  bool holds(uint64_t address, uint64_t bytes) const { return views.empty() || inViews(address, bytes); }

private:
  bool inViews(uint64_t address, uint64_t bytes) const;
};

// A tensor map in global memory that the kernel has changed. Tensor copies may use it when the change was released to
// their proxy and acquired by it, at its address, since.
struct ChangedMap {
  uint32_t op = 0;      // the last change
  uint64_t version = 0; // changes so far
  bool released = false;
  uint32_t block = 0; // that changed it
  struct Acquire {
    uint32_t block, agent;
    Clock clock;
    uint64_t version;
  };
  std::vector<Acquire> acquires; // the last of each warp
};

struct OpCounters {
  uint64_t executions = 0, threads = 0;
  uint64_t accesses = 0, units = 0, idealUnits = 0; // sectors of global memory or wavefronts of shared memory
  uint64_t sharedAccesses = 0, wavefronts = 0, idealWavefronts = 0;
};

struct Worker { // one host thread
  std::vector<OpCounters> counters;
  uint64_t bulkBytes = 0, barriers = 0;
  bool asks = false;                               // whether the launch is interrupted: the thread that launched it
  std::chrono::steady_clock::time_point askedAt{}; // the last time
  uint32_t slices = 0;                             // of warps, since the clock was read
  std::map<std::pair<const CallPlan *, uint32_t>, std::unique_ptr<CallPlan>> calls; // indirect ones, by function
};

struct FindingKey {
  FindingKind kind;
  uint32_t op, other;
  auto operator<=>(const FindingKey &) const = default;
};

struct LaunchState {
  const Launch *launch = nullptr;
  const Program *program = nullptr;
  const DecodedFunction *kernel = nullptr;
  Dimensions grid, block, cluster;
  uint32_t dynamicOffset = 0;    // where dynamic shared memory begins, in the block's memory
  uint32_t reservedOffset = ~0u; // where the system's part of shared memory begins
  AlignedBytes workspace;        // of a cooperative launch
  uint32_t sharedBytes = 0;      // in all, with gaps
  uint32_t declaredSharedBytes = 0;
  AlignedBytes parameters;
  std::vector<AlignedBytes> specials;  // by warp of a block: what is the same in every block
  std::vector<Allocation> allocations; // sorted
  bool checks = true, counters = true;
  bool asksForGrid = false; // the kernel, or a function it calls, for what a cooperative launch gives
  uint32_t localBytes = 0;  // of a thread, for all frames

  std::mutex mutex; // findings, printing
  std::vector<Finding> findings;
  std::map<FindingKey, size_t> findingKeys; // to findings; those past the limit have no finding
  std::atomic<bool> stopped = false;        // a trap or a limit: everybody stops
  std::atomic<bool> completed = true;
  bool interrupted = false; // Launch::interrupted said so
  std::atomic<uint64_t> progress = 0; // changes that somebody may be waiting for
  std::mutex atomicMutexes[64];
  std::mutex synchronizedMutex;                             // of the two tables below
  std::unordered_map<uint64_t, ReleasedTimes> synchronized; // at global addresses
  std::atomic<bool> hasReleased = false;                    // something is in it
  std::unordered_map<uint64_t, ChangedMap> changedMaps;     // by address
  std::mutex heapMutex;
  std::vector<AlignedBytes> heap;
  uint64_t heapAllocate(uint64_t bytes);

  void report(const Warp &warp, uint32_t lane, FindingKind kind, std::string message, uint32_t otherOp = ~0u);
  void reportAt(FindingKind kind, std::string message, uint32_t op, uint32_t otherOp, const Block *block,
                const Warp *warp, uint32_t lane, const SourcePlace *place = nullptr);
  const Allocation *find(uint64_t address) const;
};

extern thread_local Worker *currentWorker;

// Lanes of the mask, lowest first.
template <typename F> inline void forEachLane(uint32_t mask, F &&f) {
  while (mask) {
    unsigned lane = static_cast<unsigned>(std::countr_zero(mask));
    mask &= mask - 1;
    f(lane);
  }
}

inline void progressed(Warp &warp) { ++warp.block->cluster->progress; }
// The same of what is seen outside of the cluster.
inline void progressedForAll(Warp &warp) {
  ++warp.block->cluster->progress;
  ++warp.block->cluster->changes;
}

std::string hexadecimal(uint64_t value);
// The op that stands for what the warp does now: within a function of a library the user's call of it.
uint32_t placeOf(const Warp &warp);

// --- Scheduling (Lanes.cpp, Schedule.cpp) ---
void runLaunch(LaunchState &state, Report &report);
void collectCounters(const LaunchState &state, const Worker &worker, Counters &counters); // Report.cpp
Status jumpTo(Warp &warp, uint32_t mask, uint32_t target); // lanes of the mask go to target, the others to the next op
void exitLanes(Warp &warp, uint32_t mask);
Frame *makeFrame(Warp &warp, const DecodedFunction &function);
void returnLanes(Warp &warp, uint32_t mask);
// For operations that need all named lanes at one place: true when they are there. Otherwise the fragment waits; when
// they cannot come, that is reported and it goes on without them.
bool gather(Warp &warp, uint32_t mask, uint32_t needed);
// The lanes of a fragment go to the op after the one where it stands; the rest of it stays.
void sendOn(Warp &warp, size_t fragment, uint32_t lanes);
std::string laneList(uint32_t mask); // "0-3, 7"
enum class SliceEnd : uint8_t { Budget, Waiting, Polling, Done };
SliceEnd runWarp(Warp &warp, uint32_t budget);
void recheckBarriers(Block &block); // Barriers.cpp: threads have exited
void checkAtEnd(Cluster &cluster);  // Barriers.cpp: what must not be left over

} // namespace nacre::simulator
