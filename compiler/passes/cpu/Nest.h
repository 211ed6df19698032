// One loop nest over the elements of a tile, and the evaluation of tile values inside it.
//
// Levels are the tile's axes. `order` lists them from the outermost loop to the innermost; the level `lane` is taken
// `width` elements at a time, the others one by one. A value is evaluated at coordinates: for each of its own axes, the
// level that indexes it, or none where it has extent 1. What a value needs decides where its code goes: the loop of the
// innermost level it depends on, so a row's address is computed once a row, whatever chain of operations it comes from.
//
// The lane level runs in segments: first the part where every bound check is known to hold (evaluated as true), then
// the part with masks, then the part where none holds any more (evaluated as false: loads need no memory and become one
// number), then pieces of smaller width where the extent is no multiple of the width.
#pragma once

#include "compiler/passes/cpu/Lowering.h"

namespace nacre::cpu {

using Coordinates = llvm::SmallVector<int8_t, 4>; // a level, or -1

// Coordinates as one number.
uint32_t encode(const Coordinates &coordinates);
// Whether the operation gives elements of its operand new places and computes nothing.
bool movesElements(mlir::Operation *op);
// A comparison that holds for the lower values of one side: (lower side, upper side, whether equality counts).
std::optional<std::tuple<mlir::Value, mlir::Value, bool>> asUpperBound(mlir::arith::CmpIOp op);

class Nest {
public:
  Nest(Lowering &lowering, llvm::ArrayRef<int64_t> shape);

  // Emits the loops for a group of pinned operations (loads, elementwise values, stores, reductions over one axis).
  void emitGroup(llvm::ArrayRef<mlir::Operation *> members);
  // Emits loops that call `body` once a step of the lane level, with `indices` and `width` set; for packing and
  // copying. `evaluated` lists what the body will evaluate; `maxWidth` limits the lanes.
  using Body = std::function<void(Nest &)>;
  void emitLoops(const Body &body, llvm::ArrayRef<mlir::Value> evaluated, int64_t maxWidth = 0);
  // A value at the first lane, its lanes endless, without any loop: for nests of one level.
  Lanes evaluateAlone(mlir::Value value, const Coordinates &coordinates);
  // Whether the mask, where it varies along the lanes, is true for the first so many.
  bool holdsForPrefix(mlir::Value mask, const Coordinates &coordinates);
  // Whether it can be told at the first lane if the mask is true in all of them; and if so, an i1 that says it. For
  // nests of one level.
  bool tellsThroughout(mlir::Value mask, const Coordinates &coordinates);
  mlir::Value holdsThroughout(mlir::Value mask, const Coordinates &coordinates);
  // For bodies that look at several indices of one level, `movedLevel`: sets that level's index to base + offset and
  // forgets what depended on it. Its loop takes `movedStep` indices at a time.
  void moveIndex(mlir::Value base, int64_t offset);
  int movedLevel = -1;
  int64_t movedStep = 1;

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
  struct Reduction {
    mlir::Operation *op;
    llvm::SmallVector<mlir::Value> accumulators;
    llvm::SmallVector<mlir::Value> scalars; // finished pieces, when reducing over the lanes
  };

  void chooseWidth();
  void emitLevel(size_t position);
  void emitLaneSegments(const std::function<void()> &inner);
  void emitInnermost();
  void emitBody();
  void emitLaneLoop(mlir::Value from, mlir::Value to, int64_t step, const std::function<void()> &inner);
  void emitBeyondWrap(mlir::Value next, int64_t whole, const std::function<void()> &inner);
  void startAccumulators(Reduction &reduction);
  void accumulate(Reduction &reduction);
  void finishLanes();
  void writeReductions();
  void enter(size_t position);
  void leave(size_t position);

  Lanes evaluateAtRowStart(mlir::Value value, const Coordinates &coordinates);
  size_t positionOf(uint32_t levels) const;
  mlir::Value divideByUniform(mlir::Value dividend, mlir::Value divisor, size_t position);
  void prefetchNextProgram(tile::LoadOp load, const Lanes &pointer, const Coordinates &coordinates);
  mlir::Value reversed(mlir::Value vector);
  mlir::Value loadInterleaved(mlir::Type memory, mlir::Value pointer, int64_t step);
  Lanes compute(mlir::Value value, const Coordinates &coordinates);
  Lanes computeElementwise(mlir::Operation *op, unsigned result, const Coordinates &coordinates);
  Coordinates operandCoordinates(mlir::Operation *op, const Coordinates &coordinates);

  // Analysis only: the form `evaluate` would give, taking remainders to be linear; with the step when that is a
  // constant.
  struct Form {
    Lanes::Kind kind = Lanes::Kind::Uniform;
    std::optional<int64_t> stride;
    bool assumes = false; // it is so only while some remainder does not wrap
  };
  Form classify(mlir::Value value, const Coordinates &coordinates);
  Form classifyOperation(mlir::Value value, const Coordinates &coordinates);
  // The value's buffer, unless its lanes are known in closed form, which is better.
  const Buffer *bufferOf(mlir::Value value, const Coordinates &coordinates);
  // A check that grows true along the lanes: 0 <= offset.
  bool isStart(mlir::Value value, const Coordinates &coordinates);
  int64_t stepDivisor(mlir::Value value);
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
    } kind;
    mlir::Value start = {};   // a remainder's value at lane 0
    mlir::Value divisor = {}; // and what it is taken by
    mlir::Value count = {};   // the lanes it holds for
  };
  Lanes assumed(const Assumable &entry);
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
  llvm::SmallVector<Assumable> assumable;
  llvm::DenseMap<Key, Lanes> probed;
  // A load read again -> the bytes to where the next program will read.
  llvm::DenseMap<mlir::Value, mlir::Value> nextProgram;
  bool probing = false;
  llvm::DenseSet<Key> visitedAssumable;
  enum class Assumption { None, Holds, Fails, Wrapped } assumption = Assumption::None;
  int64_t fullWidth = 1;
  int64_t cost = 0;
  int64_t elementBytes = 1;
  int64_t widthLimit = 0;
};

} // namespace nacre::cpu
