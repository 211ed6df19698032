// See KernelEntry.h.
#include "compiler/passes/cpu/KernelEntry.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Emit.h"
#include "compiler/passes/cpu/KernelABI.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Argument number `index`, read from its slot as the runtime wrote it. `type`: in the language.
static Value readArgument(Emit &b, Value arguments, size_t index, Type type) {
  Value slot = b.offsetBytes(arguments, b.index(8 * static_cast<int64_t>(index)));
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) // arrives as f32
    return convertFloat(b, b.load(b.getF32Type(), slot, 4), b.getF32Type(), type, tile::Rounding::NearestEven);
  if (type.isInteger(1))
    return b.fromMemory(b.load(b.getI8Type(), slot, 1), type);
  return b.load(registerType(type), slot, std::min<int64_t>(8, byteSize(type)));
}

namespace {

// The grid's loop becomes one over the numbers of its programs, the first axis fastest. The place of the first is
// divided out; those that follow are counted on, since a division takes as long as a small program.
struct ProgramLoop {
  Emit &b;
  scf::ForallOp grid;
  Value begin, end;
  SmallVector<Value> sizes = {}; // i32

  void emit();

private:
  SmallVector<Value> firstPlace();
  // The place `programs` further along the first axis, which it does not leave by more than its end.
  SmallVector<Value> advanced(ArrayRef<Value> place, Value programs);
  // The loop that is all a program does, but for arithmetic; null where there is more.
  scf::ForOp onlyLoop();
  void emitOneByOne(ArrayRef<Value> first);
  void emitInTurns(ArrayRef<Value> first, scf::ForOp rows, int64_t mostTurns);
  void usePlace(ArrayRef<Value> place);
};

} // namespace

SmallVector<Value> ProgramLoop::firstPlace() {
  Value x = b.toI64(sizes[0], false), y = b.toI64(sizes[1], false);
  auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(b, b.getI32Type(), value); };
  Value rest = arith::DivUIOp::create(b, begin, x);
  return {narrow(arith::RemUIOp::create(b, begin, x)), narrow(arith::RemUIOp::create(b, rest, y)),
          narrow(arith::DivUIOp::create(b, rest, y))};
}

SmallVector<Value> ProgramLoop::advanced(ArrayRef<Value> place, Value programs) {
  Value carry = programs, zero = b.constant(b.getI32Type(), 0);
  SmallVector<Value> next;
  for (auto [index, size] : llvm::zip_equal(place, sizes)) {
    Value counted = arith::AddIOp::create(b, index, carry);
    Value isOver = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, counted, size);
    next.push_back(b.select(isOver, zero, counted));
    carry = arith::ExtUIOp::create(b, b.getI32Type(), isOver);
  }
  return next;
}

void ProgramLoop::usePlace(ArrayRef<Value> place) {
  for (auto [axis, index] : llvm::enumerate(grid.getInductionVars()))
    for (Operation *user : llvm::make_early_inc_range(index.getUsers())) {
      user->getResult(0).replaceAllUsesWith(place[axis]); // arith.index_cast to i32
      user->erase();
    }
}

scf::ForOp ProgramLoop::onlyLoop() {
  scf::ForOp only;
  for (Operation &op : grid.getBody()->without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !only && loop.getNumResults() == 0)
      only = loop;
    else if (!isMemoryEffectFree(&op))
      return {};
  }
  auto isConstant = [](Value bound) { return bound.getType().isInteger(64) && Emit::known(bound); };
  return only && isConstant(only.getLowerBound()) && isConstant(only.getUpperBound()) && isConstant(only.getStep())
             ? only
             : scf::ForOp();
}

void ProgramLoop::emitOneByOne(ArrayRef<Value> first) {
  auto programs = scf::ForOp::create(b, begin, end, b.index(1), ValueRange(first));
  b.setInsertionPointToStart(programs.getBody());
  SmallVector<Value> place(programs.getRegionIterArgs());
  scf::YieldOp::create(b, advanced(place, b.constant(b.getI32Type(), 1)));
  usePlace(place);
  programs.getBody()->getOperations().splice(programs.getBody()->getTerminator()->getIterator(),
                                             grid.getBody()->getOperations());
}

// Runs of programs along the first axis: for each step of the programs' loop, that step of each program in turn.
void ProgramLoop::emitInTurns(ArrayRef<Value> first, scf::ForOp rows, int64_t mostTurns) {
  assert(rows.getNumResults() == 0 && mostTurns > 1 && "steps that hand nothing over");
  SmallVector<Value> start{begin};
  start.append(first.begin(), first.end());
  SmallVector<Type> types(ValueRange(start).getTypes());
  auto runs = scf::WhileOp::create(b, types, start);
  SmallVector<Location> places(types.size(), b.getLoc());
  b.createBlock(&runs.getBefore(), {}, types, places);
  ValueRange before = runs.getBefore().getArguments();
  scf::ConditionOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, before[0], end), before);
  b.createBlock(&runs.getAfter(), {}, types, places);
  ValueRange after = runs.getAfter().getArguments();
  SmallVector<Value> place(after.drop_front());
  // As many as are left of the range and of the first axis.
  Value beyond = b.toI64(arith::SubIOp::create(b, sizes[0], place[0]), false);
  Value count = b.minSigned(b.minSigned(b.sub(end, after[0]), beyond), b.index(mostTurns));
  auto bound = [&](Value inside) { return b.index(*Emit::known(inside)); };
  auto steps = scf::ForOp::create(b, bound(rows.getLowerBound()), bound(rows.getUpperBound()), bound(rows.getStep()));
  SmallVector<Value> next{b.add(after[0], count)};
  next.append(advanced(place, arith::TruncIOp::create(b, b.getI32Type(), count)));
  scf::YieldOp::create(b, next);

  b.setInsertionPointToStart(steps.getBody());
  auto turns = scf::ForOp::create(b, b.index(0), count, b.index(1));
  b.setInsertionPointToStart(turns.getBody());
  place[0] = arith::AddIOp::create(b, place[0], arith::TruncIOp::create(b, b.getI32Type(), turns.getInductionVar()));
  usePlace(place);
  rows.getInductionVar().replaceAllUsesWith(steps.getInductionVar());
  auto &target = turns.getBody()->getOperations();
  auto &source = grid.getBody()->getOperations();
  target.splice(turns.getBody()->getTerminator()->getIterator(), source, source.begin(), rows->getIterator());
  rows.getBody()->getTerminator()->erase();
  target.splice(turns.getBody()->getTerminator()->getIterator(), rows.getBody()->getOperations());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(source))) // arithmetic that nobody reads
    op.erase();
}

void ProgramLoop::emit() {
  b.setInsertionPoint(grid);
  for (Value size : grid.getDynamicUpperBound())
    sizes.push_back(size.getDefiningOp<arith::IndexCastUIOp>().getIn());
  auto turns = grid->getAttrOfType<IntegerAttr>(turnsAttribute);
  scf::ForOp rows = turns ? onlyLoop() : scf::ForOp();
  SmallVector<Value> first = firstPlace();
  grid.getBody()->getTerminator()->erase();
  if (rows)
    emitInTurns(first, rows, turns.getInt());
  else
    emitOneByOne(first);
  // One value may bound several axes.
  llvm::SmallSetVector<Value, 3> bounds(grid.getDynamicUpperBound().begin(), grid.getDynamicUpperBound().end());
  grid.erase();
  for (Value bound : bounds)
    if (bound.use_empty())
      bound.getDefiningOp()->erase();
}

// Whether the grid's loop is as lower-to-loops makes it: over three sizes of i32, whose numbers are used as i32.
static bool isOverPrograms(scf::ForallOp grid) {
  auto isSize = [](Value bound) {
    auto cast = bound.getDefiningOp<arith::IndexCastUIOp>();
    return cast && cast.getIn().getType().isInteger(32);
  };
  auto isNumber = [](Operation *user) {
    return isa<arith::IndexCastOp>(user) && user->getResult(0).getType().isInteger(32);
  };
  return grid.isNormalized() && grid.getOutputs().empty() && grid.getDynamicUpperBound().size() == 3 &&
         llvm::all_of(grid.getDynamicUpperBound(), isSize) &&
         llvm::all_of(grid.getInductionVars(), [&](Value index) { return llvm::all_of(index.getUsers(), isNumber); });
}

static LogicalResult addEntry(func::FuncOp loops, bool convertsHalf) {
  auto grids = loops.getOps<scf::ForallOp>();
  if (loops.isExternal() || !loops.getBody().hasOneBlock() || !llvm::hasSingleElement(grids) ||
      !isOverPrograms(*grids.begin()))
    return loops.emitError("a kernel as loops has one loop over its grid");
  scf::ForallOp grid = *grids.begin();
  bool hasContext = loops.getNumArguments() != 0 && isa<LLVM::LLVMPointerType>(loops.getArgumentTypes().back());
  auto isRead = [](Type type) {
    return isa<LLVM::LLVMPointerType>(type) || isa<tile::TileDialect>(type.getDialect()) || type.isIntOrFloat();
  };
  for (unsigned i = 0; i < loops.getNumArguments(); ++i) {
    auto type = loops.getArgAttrOfType<TypeAttr>(i, argumentTypeAttribute);
    hasContext &= isRead(loops.getArgument(i).getType()) && (!type || isRead(type.getValue()));
  }
  if (!hasContext || loops.getNumResults() != 0)
    return loops.emitError("a kernel as loops takes numbers and pointers, its context last, and returns nothing");

  Emit b(loops.getLoc(), loops.getContext());
  b.convertsHalf = convertsHalf;
  b.setInsertionPointAfter(loops);
  Type pointer = b.pointerType(), i64 = b.getI64Type(), i32 = b.getI32Type();
  std::string name = loops.getName().str();
  loops.setName(name + ".loops");
  auto entry = func::FuncOp::create(b, name, b.getFunctionType({pointer, i64, i64, pointer}, {i32}));
  Block *block = entry.addEntryBlock(), *body = &loops.getBody().front();
  b.setInsertionPointToStart(block);
  unsigned count = loops.getNumArguments() - 1;
  for (unsigned i = 0; i < count; ++i) {
    auto type = loops.getArgAttrOfType<TypeAttr>(i, argumentTypeAttribute);
    body->getArgument(i).replaceAllUsesWith(
        readArgument(b, block->getArgument(0), i, type ? type.getValue() : body->getArgument(i).getType()));
  }
  body->getArgument(count).replaceAllUsesWith(block->getArgument(3));
  block->getOperations().splice(block->end(), body->getOperations());
  Operation *end = block->getTerminator();
  b.setInsertionPoint(end);
  func::ReturnOp::create(b, ValueRange{b.constant(i32, 0)});
  end->erase();
  ProgramLoop{b, grid, block->getArgument(1), block->getArgument(2)}.emit();
  loops.erase();
  return success();
}

namespace {

struct KernelEntry : PassWrapper<KernelEntry, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelEntry)
  KernelEntry() = default;
  KernelEntry(const KernelEntry &other) : PassWrapper(other) {}
  explicit KernelEntry(bool converts) { convertsHalf = converts; }
  StringRef getArgument() const override { return "kernel-entry"; }
  StringRef getDescription() const override { return "Give a kernel of loops the CPU's calling convention"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(loopsAttribute) && failed(addEntry(function, convertsHalf)))
        return signalPassFailure();
  }
  Option<bool> convertsHalf{*this, "converts-half", llvm::cl::desc("the machine converts fp16"), llvm::cl::init(true)};
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createKernelEntry(bool convertsHalf) {
  return std::make_unique<KernelEntry>(convertsHalf);
}
void nacre::cpu::registerKernelEntry() { PassRegistration<KernelEntry>(); }
