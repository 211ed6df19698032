// See SplitBlocks.h.
#include "compiler/passes/cpu/SplitBlocks.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/cpu/OutlinedFunction.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr size_t mostResults = 4, mostArguments = 16;
// A loop or a branch is a few blocks of its function. Where it is asked whether there is too much in one, it counts as
// so many operations more.
static constexpr int64_t sizeOfBranch = 8;

static int64_t sizeOf(Operation *op, int64_t branch = 0) {
  if (op->getNumRegions() == 0)
    return 1;
  int64_t size = 0;
  op->walk([&](Operation *inner) { size += inner->getNumRegions() == 0 ? 1 : 1 + branch; });
  return size;
}

static bool isConstant(Operation *op) { return op && op->hasTrait<OpTrait::ConstantLike>(); }

// The address that this is a constant distance from; null: it is no such address.
static Value baseOf(Operation *op) {
  auto address = dyn_cast_or_null<LLVM::GEPOp>(op);
  return address && address.getDynamicIndices().empty() ? address.getBase() : Value();
}

static bool onlyReads(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return isMemoryEffectFree(op) || (effects && effects.onlyHasEffect<MemoryEffects::Read>());
}

// What has one user, later in the block, moves down to it.
static void moveToUsers(Block &block) {
  DenseMap<Operation *, int64_t> writesBefore;
  int64_t writes = 0;
  for (Operation &op : block) {
    writesBefore[&op] = writes;
    writes += !onlyReads(&op);
  }
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    order.push_back(&op);
  for (Operation *op : llvm::reverse(order)) {
    if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse() || isConstant(op) || !onlyReads(op))
      continue;
    Operation *user = *op->user_begin();
    if (user->getBlock() != &block || op->getNextNode() == user)
      continue;
    if (isMemoryEffectFree(op) || writesBefore.lookup(op) == writesBefore.lookup(user)) {
      op->moveBefore(user);
      writesBefore[op] = writesBefore.lookup(user);
    }
  }
}

namespace {

// Operations of one block that follow each other, from `first` to before `end`.
struct Part {
  Operation *first, *end;
};

class Splitter {
public:
  Splitter(func::FuncOp function, SymbolTable &symbols, int64_t operations, int64_t levels)
      : function(function), symbols(symbols), operations(operations), mostLevels(levels) {}

  void split(Block &block) {
    int64_t flat = 0, nested = 0;
    for (Operation &op : block)
      ++flat, nested += sizeOf(&op, sizeOfBranch);
    if (nested <= 2 * operations)
      return;
    // The inner ones first: what remains of them is short.
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          split(inner);
    if (flat <= 2 * operations && nested <= 6 * operations)
      return;
    moveToUsers(block);
    SmallVector<Part> parts = partsOf(block, flat > 2 * operations ? operations : 3 * operations);
    if (parts.size() > 1)
      for (const Part &part : parts)
        outline(block, part);
  }

  // Cuts nests that are very deep, from the inside; the levels that are left.
  int64_t cutNests(Block &block) {
    int64_t deepest = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      int64_t levels = 0;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          levels = std::max(levels, cutNests(inner) + 1);
      if (levels < mostLevels || !outline(block, {&op, op.getNextNode()}))
        deepest = std::max(deepest, levels);
    }
    return deepest;
  }

private:
  // Cuts where, within the length of a part, the fewest values are alive.
  SmallVector<Part> partsOf(Block &block, int64_t length) {
    DenseMap<Operation *, int64_t> number;
    SmallVector<Operation *> order;
    for (Operation &op : block.without_terminator()) {
      number[&op] = order.size();
      order.push_back(&op);
    }
    int64_t count = order.size();
    // How many values of the block are alive before each operation: made before it, used by it or later.
    SmallVector<int64_t> alive(count + 1, 0);
    for (auto [i, op] : llvm::enumerate(order)) {
      Value base = baseOf(op);
      if (isConstant(op) || (base && base.getParentBlock() != &block)) // each part has its own
        continue;
      for (Value result : op->getResults()) {
        int64_t last = i;
        for (Operation *user : result.getUsers()) {
          Operation *ancestor = block.findAncestorOpInBlock(*user);
          auto found = number.find(ancestor);
          last = std::max(last, found == number.end() ? count : found->second);
        }
        if (last > static_cast<int64_t>(i))
          ++alive[i + 1], --alive[std::min(last + 1, count)];
      }
    }
    for (int64_t i = 1; i <= count; ++i)
      alive[i] += alive[i - 1];
    SmallVector<Part> parts;
    int64_t begin = 0, size = 0, best = -1;
    for (int64_t i = 0; i < count; ++i) {
      if (size >= length / 2 && alive[i] <= static_cast<int64_t>(mostResults) && (best < 0 || alive[i] < alive[best]))
        best = i;
      size += sizeOf(order[i]);
      if (size < length || best < 0)
        continue;
      parts.push_back({order[begin], order[best]});
      begin = best, best = -1, size = 0;
      for (int64_t j = begin; j <= i; ++j)
        size += sizeOf(order[j]);
    }
    if (!parts.empty() && begin < count)
      parts.push_back({order[begin], block.getTerminator()});
    return parts;
  }

  // What a part reads of elsewhere: arguments, and what is copied into it instead, after what it is made from. Scratch
  // memory has many addresses, all at constant distances from its first.
  struct Reads {
    llvm::SetVector<Value> arguments, copied;

    void add(Value value) {
      Operation *made = value.getDefiningOp();
      Value base = baseOf(made);
      if (base)
        add(base);
      (base || isConstant(made) ? copied : arguments).insert(value);
    }
  };

  // Whether the part became a call.
  bool outline(Block &block, const Part &part) {
    SmallVector<Operation *> members;
    DenseSet<Operation *> inside; // with all that stands in their regions
    for (Operation *op = part.first; op != part.end; op = op->getNextNode()) {
      Value base = baseOf(op);
      bool isCopied = isConstant(op) || (base && !inside.contains(base.getDefiningOp()));
      if (isCopied)
        continue; // it stays for those who are not in the part
      members.push_back(op);
      op->walk([&](Operation *inner) { inside.insert(inner); });
    }
    if (members.empty())
      return false;
    Reads reads;
    SmallVector<Value> results;
    for (Operation *member : members) {
      member->walk([&](Operation *op) {
        for (Value operand : op->getOperands()) {
          Operation *made = operand.getDefiningOp();
          bool isOwn = inside.contains(made ? made : operand.getParentBlock()->getParentOp());
          if (!isOwn)
            reads.add(operand);
        }
      });
      for (Value result : member->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
          results.push_back(result);
    }
    ArrayRef<Value> arguments = reads.arguments.getArrayRef();
    if (arguments.size() > mostArguments || results.size() > mostResults)
      return false;
    OpBuilder builder(function.getContext());
    auto type = builder.getFunctionType(TypeRange(ValueRange(arguments)), TypeRange(ValueRange(results)));
    std::string name = (function.getName() + ".part").str();
    func::FuncOp made = outlinedFunction(placeOfCall(members), name, type, symbols);
    Block *body = made.addEntryBlock();
    builder.setInsertionPoint(members.front());
    auto call = func::CallOp::create(builder, made.getLoc(), made, arguments);
    for (auto [value, result] : llvm::zip(results, call.getResults()))
      value.replaceUsesWithIf(result, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    builder.setInsertionPointToStart(body);
    IRMapping own;
    own.map(arguments, body->getArguments());
    for (Value value : reads.copied)
      builder.clone(*value.getDefiningOp(), own);
    for (Operation *member : members) {
      member->moveBefore(body, body->end());
      member->walk([&](Operation *op) {
        for (OpOperand &operand : op->getOpOperands())
          operand.set(own.lookupOrDefault(operand.get()));
      });
    }
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, members.front()->getLoc(), results);
    return true;
  }

  func::FuncOp function;
  SymbolTable &symbols;
  const int64_t operations, mostLevels;
};

struct SplitBlocks : PassWrapper<SplitBlocks, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitBlocks)
  SplitBlocks() = default;
  SplitBlocks(const SplitBlocks &other) : PassWrapper(other) {}
  explicit SplitBlocks(int64_t count) { operations = count; }
  StringRef getArgument() const override { return "split-blocks"; }
  StringRef getDescription() const override { return "Very long blocks to calls of their parts"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : functions)
      for (Block &block : function.getBody()) {
        Splitter splitter(function, symbols, operations, levels);
        splitter.split(block);
        splitter.cutNests(block);
      }
  }
  Option<int64_t> operations{*this, "operations", llvm::cl::desc("the length of a part"), llvm::cl::init(500)};
  Option<int64_t> levels{*this, "levels", llvm::cl::desc("of loops and branches in a part"), llvm::cl::init(12)};
};

} // namespace

std::unique_ptr<Pass> nacre::cpu::createSplitBlocks(int64_t operations) {
  return std::make_unique<SplitBlocks>(operations);
}
void nacre::cpu::registerSplitBlocks() { PassRegistration<SplitBlocks>(); }
