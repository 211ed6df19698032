// One loop nest over the elements of a tile, and the evaluation of tile values inside it.
//
// Levels are the tile's axes. `order` lists them from the outermost loop to the innermost; the level `lane` is taken
// `width` elements at a time, the others one by one (which one it is: LaneAxis.cpp). A value is evaluated at
// coordinates: for each of its own axes, the level that indexes it, or none where it has extent 1. What a value needs
// decides where its code goes: the loop of the innermost level it depends on, so a row's address is computed once a
// row, whatever chain of operations it comes from.
//
// The lane level runs in segments: first the part where every bound check is known to hold (evaluated as true), then
// the part with masks, then the part where none holds any more (evaluated as false: loads need no memory and become one
// number; left out where it would do nothing), then pieces of smaller width where the extent is no multiple of the
// width.
#pragma once

#include "compiler/passes/cpu/LaneRules.h"
#include "compiler/passes/cpu/Lowering.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

namespace nacre::cpu {

using Coordinates = llvm::SmallVector<int8_t, 4>; // a level, or -1

// Coordinates as one number.
uint32_t encode(const Coordinates &coordinates);

class Nest {
public:
  Nest(Lowering &lowering, llvm::ArrayRef<int64_t> shape);

  // Has the lanes run along the axis that most of what these operations access is contiguous in (LaneAxis.cpp).
  void chooseLane(llvm::ArrayRef<mlir::Operation *> group);
  // Emits the loops for a group of pinned operations (loads, elementwise values, stores, reductions over one axis).
  void emitGroup(llvm::ArrayRef<mlir::Operation *> members);
  // Emits loops that call `body` once a step of the lane level, with `indices` and `width` set; for packing and
  // copying. `evaluated` lists what the body will evaluate; `maxWidth` limits the lanes.
  using Body = std::function<void(Nest &)>;
  void emitLoops(const Body &body, llvm::ArrayRef<mlir::Value> evaluated, int64_t maxWidth = 0);
  // The lanes that most steps of these loops would take at once; of a nest that emits none.
  int64_t widthOfLoops(const Body &body, llvm::ArrayRef<mlir::Value> evaluated, int64_t maxWidth);
  // Takes the lanes along this level, innermost; before any loop is emitted.
  void runAlong(int level);
  // Whether what the pointers point at are neighbours along the lanes, or one place for all of them.
  bool hasNeighbours(mlir::Value pointer, mlir::Type element);
  // The step in bytes from an element to the next along an axis, where it is a constant; or where it is one while no
  // remainder wraps.
  std::optional<int64_t> strideAlong(mlir::Value pointer, int axis, bool mayAssume = false);
  // The value along the whole level, as one step of all its lanes, without any loop: for nests of one level.
  Lanes evaluateAlone(mlir::Value value, const Coordinates &coordinates);
  // Whether, along the lanes, the pointer is one number or has a constant stride, and the mask (or null) covers a
  // prefix of the lanes: proved, or where guards hold. emitRows() then calls `body` once a row, outside of the lanes,
  // with both along the whole row and an i1 that says whether the guards hold; null: always. The lane level must be the
  // innermost one.
  bool hasRows(mlir::Value pointer, mlir::Value mask);
  using RowBody =
      llvm::function_ref<void(const Lanes &pointer, const std::optional<Lanes> &mask, mlir::Value guardsHold)>;
  void emitRows(mlir::Value pointer, mlir::Value mask, RowBody body);
  // Whether the mask, where it varies along the lanes, is proved to cover a prefix of the lanes.
  bool holdsForPrefix(mlir::Value mask, const Coordinates &coordinates);
  // Whether the value is proved to grow by `step` from lane to lane, along the whole level.
  bool growsBy(mlir::Value value, const Coordinates &coordinates, int64_t step);
  // Whether it can be told at the first lane if the mask is true in all of them; and if so, an i1 that says it. For
  // nests of one level.
  bool tellsThroughout(mlir::Value mask, const Coordinates &coordinates);
  mlir::Value holdsThroughout(mlir::Value mask, const Coordinates &coordinates);
  // For bodies that look at several indices of one level, `movedLevel`: sets that level's index to base + offset and
  // forgets what depended on it. Its loop takes `movedStep` indices at a time.
  void moveIndex(mlir::Value base, int64_t offset);
  int movedLevel = -1;
  int64_t movedStep = 1;
  // For bodies that do nothing where a mask is false: that mask.
  mlir::Value bodyMask;
  // The load is read where its address, taken apart by axis, says; in one access where that grows evenly along the
  // lanes (SplitAddress.h).
  void splitAddressOf(mlir::Operation *load, const AccessForm &form) { splitAddresses[load] = &form; }
  // The body runs this load, which stands in no group.
  void runs(mlir::Operation *load) { members.push_back(load); }

  Lanes evaluate(mlir::Value value, const Coordinates &coordinates);
  Coordinates identity(int64_t rank) const;
  // The levels that the value depends on, as a bit set.
  uint32_t dependencies(mlir::Value value, const Coordinates &coordinates);
  // Whether some memory that evaluating the value reads is contiguous along the lane level.
  bool readsNeighbours(mlir::Value value, const Coordinates &coordinates);
  mlir::Value vectorOf(const Lanes &lanes, mlir::Type element); // scalar when the width is 1
  mlir::Value maskVector(const Lanes &lanes);

  Lanes load(mlir::Type element, const Lanes &pointer, std::optional<Lanes> mask, std::optional<Lanes> other,
             bool isVolatile);
  // `streaming`, an i1, says that what is written will not be read again soon: it then bypasses the caches.
  void store(mlir::Type element, const Lanes &pointer, const Lanes &value, std::optional<Lanes> mask,
             mlir::Value streaming = {});
  Lanes readBuffer(const Buffer &buffer, const Coordinates &coordinates);
  void writeBuffer(const Buffer &buffer, const Lanes &value, const Coordinates &coordinates);

  Lowering &lowering;
  Emit &b;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int> order;
  int lane;
  int64_t width = 1;                      // of the segment being emitted
  llvm::SmallVector<mlir::Value> indices; // per level; the lane level's is the first lane's

private:
  using Key = std::pair<mlir::Value, uint32_t>;
  struct Position {
    mlir::Operation *anchor = nullptr; // code at this position goes before it
    llvm::DenseMap<Key, Lanes> known;
  };
  // What the code being emitted may rely on: that of a part of the lane loop, or of the place before it. A segment is
  // never changed; each part is given its own.
  struct Segment {
    enum class Assumption {
      None,
      Holds,   // what is assumable holds in all lanes
      Fails,   // every bound fails in all lanes
      Wrapped, // the remainders have wrapped once
    } assumption = Assumption::None;
    bool guardsHold = true;                            // so lines that are guarded are whole numbers
    mlir::Value runStart = {};                         // the lane that the run starts at (Runs.cpp)
    mlir::Value spanLeft = {};                         // the lanes of the step that belong to its run, where not all do
    llvm::DenseMap<Key, Lanes> *beforeLanes = nullptr; // before the loop: what is known of the lanes asked for there
  };
  struct Reduction {
    mlir::Operation *op;
    llvm::SmallVector<mlir::Value> accumulators;
    llvm::SmallVector<mlir::Value> scalars; // finished pieces, when reducing over the lanes
  };

  int64_t costOfAccesses();
  bool storesEachPlaceOnce(tile::StoreOp store);
  void layWriteBacks();
  void turnLoads();
  void chooseWidth();
  void settleLoops(const Body &body, llvm::ArrayRef<mlir::Value> evaluated, int64_t maxWidth);
  void emitLevel(size_t position);
  // A loop over a level that is not the lanes', with its index set inside.
  void emitIndexLoop(int level, llvm::function_ref<void()> inner);
  void emitLanes(const std::function<void()> &inner);
  void emitLaneSegments(Segment base, const std::function<void()> &inner);
  void emitInnermost();
  void emitBody();
  void emitLaneLoop(mlir::Value from, mlir::Value to, int64_t step, const Segment &part,
                    const std::function<void()> &inner);
  void emitFewSteps(int64_t end, mlir::Value beyond, const std::function<void()> &inner);
  void emitBeyondWrap(mlir::Value next, mlir::Value last, const Segment &base, const std::function<void()> &inner);
  void startAccumulators(Reduction &reduction);
  void accumulate(Reduction &reduction);
  void finishLanes();
  void writeReductions();
  void enter(size_t position);
  void leave(size_t position);

  // Emitted at the position outside the lane loop: the row as one step of all its lanes; or its element `index` alone.
  Lanes evaluateRow(mlir::Value value, const Coordinates &coordinates);
  mlir::Value evaluateElement(mlir::Value value, const Coordinates &coordinates, int64_t index);
  Lanes evaluateOutside(mlir::Value value, const Coordinates &coordinates, int64_t index, int64_t lanes);
  size_t positionOf(uint32_t levels) const;
  // The levels that change within the lane loop, as a bit set.
  uint32_t levelsInside() const;
  mlir::Value wideStart(mlir::Value line, const Coordinates &coordinates, const Lanes &lanes);
  mlir::Value divideByUniform(mlir::Value dividend, mlir::Value divisor, size_t position);
  void prefetchNext(mlir::Value key, mlir::Value pointers, const Lanes &pointer, const Coordinates &coordinates,
                    bool isWrite);
  bool hasShortRows(int64_t elementSize);
  Lanes loadSplit(tile::LoadOp load, const AccessForm &form, const Coordinates &coordinates);
  mlir::Value evaluateTerm(const AccessTerm &term, const Coordinates &coordinates);
  mlir::Value reversed(mlir::Value vector);
  mlir::Value loadInterleaved(mlir::Type memory, mlir::Value pointer, int64_t step, const std::optional<Lanes> &mask);
  Lanes compute(mlir::Value value, const Coordinates &coordinates);
  Lanes computeElementwise(mlir::Operation *op, unsigned result, const Coordinates &coordinates);
  Coordinates operandCoordinates(mlir::Operation *op, const Coordinates &coordinates);

  // What is known of a value's lanes before any code is emitted; decided by classify() alone.
  //
  // Integers wrap, so an integer line is in general one modulo 2^bits only. That is all that addition, scaling and
  // truncation ask for. Widening, comparing, dividing, and addressing with few bits or large steps ask for more: that
  // no lane lies beyond the largest number of the type. It is proved (`wraps` is false), or checked at run time before
  // the lane loop (a guard, see requireGuards), or the operation is left to vectors (LaneRule::whole).
  struct Form {
    Lanes::Kind kind = Lanes::Kind::Uniform;
    std::optional<int64_t> stride;   // the step, when it is a constant
    std::optional<int64_t> mostStep; // no step of an integer line is larger, its sign apart, where that is known
    bool wraps = false;              // an integer line, but perhaps only modulo 2^bits
    bool assumes = false;            // it is so only while some remainder does not wrap
    bool guarded = false;            // it is so only where the guards it rests on hold
    // So along the whole level, whatever the kernel's arguments are.
    bool isProved() const { return !assumes && !guarded; }
  };
  Form classify(mlir::Value value, const Coordinates &coordinates);
  // Forms depend on which loops stand inside the lanes and on what is in memory: asked anew once those are settled.
  void forgetForms() { formCache.clear(), dependencyCache.clear(); }
  Form classifyOperation(mlir::Value value, const Coordinates &coordinates);
  bool mayWrap(mlir::Operation *op, llvm::ArrayRef<Form> operands, const Form &form, const Coordinates &coordinates);
  // The rule for the operation's lanes, by what is known of its operands' before any code is emitted.
  LaneRule ruleOf(mlir::Operation *op, llvm::ArrayRef<Form> operands) const;
  LaneRule ruleOf(mlir::Operation *op, const Coordinates &coordinates);
  std::optional<int64_t> mostFactor(mlir::Operation *op, mlir::Value factor);
  // What a line is multiplied by, where it is a constant.
  std::optional<int64_t> constantFactor(mlir::Operation *op, mlir::Value factor);
  bool areAsClassified(const Lanes &lanes, mlir::Value value, const Coordinates &coordinates);
  // Guards: integer lines that are checked before the lane loop not to wrap. Where the check fails the lanes are taken
  // one by one.
  bool canGuard(mlir::Value line, const Coordinates &coordinates);
  void requireGuards(mlir::Value value, const Coordinates &coordinates);
  void requireGuardsOfAccess(mlir::Value pointer, mlir::Value mask, const Coordinates &coordinates);
  // Whether the line does not wrap in the loops being emitted: proved, or guarded.
  bool staysInRange(mlir::Value line, const Coordinates &coordinates);
  mlir::Value guardsHold();
  // The value's buffer, unless its lanes are known in closed form, which is better, and it may be computed anew.
  const Buffer *bufferOf(mlir::Value value, const Coordinates &coordinates);
  // A check that grows true along the lanes: 0 <= offset.
  bool isStart(mlir::Value value, const Coordinates &coordinates);
  // The largest power of two known to divide a value at the first lane of every row.
  int64_t rowDivisor(mlir::Value value, const Coordinates &coordinates);
  int64_t stepDivisor(mlir::Operation *op, const Coordinates &coordinates);
  static constexpr int64_t leastStepDivisor = 8; // narrower steps are not worth it
  // The bound checks and remainders of the members' trees that hold for a prefix of the lanes.
  void collectAssumable(mlir::Value value, const Coordinates &coordinates);
  struct Assumable {
    mlir::Value value;
    Coordinates coordinates;
    enum class Kind {
      Bound,     // a mask that is true for the first lanes
      Start,     // a mask that is true from some lane on
      Remainder, // linear until it wraps
      Stepwise,  // a remainder or quotient of multiples of the step: linear, or one number, within each step
      Run,       // a remainder or quotient, the same within each run (Runs.cpp)
    } kind;
    mlir::Value start = {};    // a remainder's value at lane 0, or at the start of the run
    mlir::Value divisor = {};  // and what it is taken by
    mlir::Value first = {};    // of a run's: the dividend at lane 0
    mlir::Value quotient = {}; // in the run
    mlir::Value count = {};    // the lanes it holds for
  };
  Lanes assumed(const Assumable &entry);
  // By which assumption the quotient or remainder of a line by a number has lanes in closed form, if by any.
  std::optional<Assumable::Kind> division(mlir::Operation *op, const Coordinates &coordinates);
  bool movesInBody(mlir::Value value, const Coordinates &coordinates);
  // Whether the group does nothing in steps where every bound fails: no store writes, and carried sums stay as they
  // are.
  bool isIdleBeyondBounds();
  bool failsBeyondBounds(mlir::Value mask, const Coordinates &coordinates);
  bool isZeroBeyondBounds(mlir::Value value, const Coordinates &coordinates);
  // Runs.cpp
  bool takesRuns() const;
  bool hasLongRuns(mlir::Value divisor);
  void settleRemainders();
  void emitSpan(mlir::Value from, mlir::Value to, const Segment &part, const std::function<void()> &inner);
  void emitRuns(const Segment &base, const std::function<void()> &inner);
  std::optional<Lanes> withinSpan(std::optional<Lanes> mask);
  // The number of lanes, from lane 0 of the row, that the entry holds for; emitted at the position outside the lane
  // loop.
  mlir::Value probe(Assumable &entry);

  llvm::SmallVector<mlir::Operation *> members;
  Body customBody;
  llvm::SmallVector<Reduction> reductions;
  llvm::SmallVector<std::pair<mlir::Value, Buffer>> writeBacks;
  llvm::SmallVector<Position> positions;
  llvm::DenseMap<Key, uint32_t> dependencyCache;
  llvm::DenseMap<Key, Form> formCache;
  llvm::SetVector<Key> guards;
  llvm::DenseMap<Key, Coordinates> guardCoordinates;
  llvm::DenseSet<Key> visitedGuards;
  llvm::SmallVector<Assumable> assumable;
  // A load or a store's pointer -> the bytes to where the next program will access.
  llvm::DenseMap<mlir::Value, mlir::Value> nextProgram;
  llvm::DenseMap<mlir::Operation *, const AccessForm *> splitAddresses;
  llvm::DenseSet<Key> visitedAssumable;
  Segment segment; // of the code being emitted
  // Narrower vectors are not worth it; and LLVM 22's X86 code generator, given an index stored as one of two 32-bit
  // lanes, has been seen to use both lanes as the index.
  static constexpr int64_t narrowest = 4;
  int64_t fullWidth = 1;
  int64_t cost = 0;
  int64_t elementBytes = 1;
  int64_t widthLimit = 0;
  bool gathers = false; // a load of the group reads from addresses that have nothing to do with each other
};

} // namespace nacre::cpu
