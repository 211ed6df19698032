// See MovedLines.h.
#include "compiler/targets/MovedLines.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/tile/UserPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace nacre {

// ---- Locations, with the calls that the text was inlined at, as text that is the same in tile IR and in LLVM's.

static std::string placeKey(StringRef file, unsigned line, unsigned column) {
  return (llvm::sys::path::filename(file) + ":" + Twine(line) + ":" + Twine(column) + ";").str();
}

// Empty: not known.
static std::string keyOf(Location location) {
  if (auto place = dyn_cast<FileLineColLoc>(location))
    return placeKey(place.getFilename().getValue(), place.getLine(), place.getColumn());
  if (auto named = dyn_cast<NameLoc>(location))
    return keyOf(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    std::string callee = keyOf(call.getCallee()), caller = keyOf(call.getCaller());
    return callee.empty() || caller.empty() ? "" : callee + caller;
  }
  return "";
}

static std::string keyOf(const llvm::DebugLoc &location) {
  std::string key;
  for (const llvm::DILocation *place = location.get(); place; place = place->getInlinedAt())
    key += placeKey(place->getFilename(), place->getLine(), place->getColumn());
  return key;
}

// ---- What the text says.

// Operations that take a program's time: accesses of memory, products and reductions, arithmetic on floats, and on
// integers that come from memory; not that of addresses and masks.
MovedLinesFinder::Work MovedLinesFinder::workOf(mlir::Operation &op, const llvm::DenseSet<mlir::Value> &data) {
  if (isa<tile::TellOp>(op) || op.getNumRegions() != 0 || op.hasTrait<OpTrait::ConstantLike>() ||
      op.hasTrait<OpTrait::IsTerminator>())
    return isa<tile::ReduceOp, tile::ScanOp>(op) ? Work::Floats : Work::None;
  if (isa<MemoryEffectOpInterface>(op) && !isMemoryEffectFree(&op))
    return Work::Memory;
  if (op.getNumResults() == 0)
    return Work::None;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()));
  if (isa<tile::DotOp, tile::DotScaledOp>(op))
    return isFloat ? Work::Floats : Work::Integers;
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return Work::None;
  if (isFloat)
    return Work::Floats;
  return llvm::any_of(op.getOperands(), [&](mlir::Value operand) { return data.contains(operand); }) ? Work::Integers
                                                                                                     : Work::None;
}

class MovedLinesFinder::Reader {
public:
  explicit Reader(MovedLinesFinder &found) : found(found) {}

  void read(Region &region, std::vector<size_t> open) {
    for (Block &block : region)
      for (mlir::Operation &op : block) {
        if (auto tell = dyn_cast<tile::TellOp>(op)) {
          pass(tell, open);
          continue;
        }
        Work work = workOf(op, data);
        if (work == Work::Memory ||
            llvm::any_of(op.getOperands(), [&](mlir::Value value) { return data.contains(value); }))
          data.insert(op.result_begin(), op.result_end());
        if (work != Work::None)
          note(op, work, open);
        for (Region &inner : op.getRegions())
          read(inner, open); // a scope that a branch leaves open is not followed
      }
  }

private:
  void pass(tile::TellOp tell, std::vector<size_t> &open) {
    if (!isScope(tell.getKind()))
      return;
    if (isBegin(tell.getKind())) {
      UserPlace place = userPlace(tell.getLoc());
      std::string key = keyOf(tell.getLoc());
      auto known = llvm::find_if(
          found.scopes, [&](const Scope &scope) { return scope.key == key && scope.name == tell.getSubject(); });
      open.push_back(static_cast<size_t>(known - found.scopes.begin()));
      if (known == found.scopes.end())
        found.scopes.push_back({tell.getSubject().str(), std::move(key), place.line, place.file});
      return;
    }
    auto named =
        llvm::find_if(llvm::reverse(open), [&](size_t scope) { return found.scopes[scope].name == tell.getSubject(); });
    if (named != open.rend())
      open.resize(static_cast<size_t>(open.rend() - named) - 1);
  }
  void note(mlir::Operation &op, Work work, const std::vector<size_t> &open) {
    std::string key = keyOf(op.getLoc());
    if (key.empty())
      return;
    if (open.empty()) { // also written outside of scopes, in another round of an unrolled loop
      if (auto known = found.operations.find(key); known != found.operations.end())
        known->second.isAmbiguous = true;
      else
        outside.insert(key);
      return;
    }
    UserPlace place = userPlace(op.getLoc());
    auto [known, isNew] = found.operations.try_emplace(
        key, Operation{open.back(), {place.file, place.line}, work, outside.contains(key)});
    if (!isNew && known->second.scope != open.back())
      known->second.isAmbiguous = true;
  }

  MovedLinesFinder &found;
  llvm::DenseSet<mlir::Value> data; // that comes from memory
  std::set<std::string> outside;
};

MovedLinesFinder::MovedLinesFinder(ModuleOp module) {
  auto stopAtMark = [](tile::TellOp tell) {
    return isMark(tell.getKind()) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!module.walk(stopAtMark).wasInterrupted())
    return; // as most kernels are
  Reader reader(*this);
  for (auto function : module.getOps<func::FuncOp>())
    reader.read(function.getBody(), {});
}

void MovedLinesFinder::noteSimplified(ModuleOp module) {
  module.walk([&](mlir::Operation *op) { left.insert(keyOf(op->getLoc())); });
}

// ---- What the code says.

// Which scopes are open where, in LLVM's IR.
class MovedLinesFinder::States {
public:
  struct State {
    enum Kind { Unreached, Unwatched, Known, Unclear } kind = Unreached;
    std::vector<size_t> open;

    // Whether it changed.
    bool meet(const State &other) {
      if (other.kind <= kind && !(kind == Known && other.kind == Known && other.open != open))
        return false;
      *this = kind == Known ? State{Unclear, {}} : other;
      return true;
    }
  };

  States(const llvm::Module &module, const std::vector<Scope> &scopes, const MarksInCode &marks)
      : scopes(scopes), marks(marks) {
    // Functions that are called by others alone begin with what is open at their calls.
    for (const llvm::Function &function : module)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        enter(function, {State::Known, {}});
    while (!waiting.empty()) {
      const llvm::BasicBlock *block = waiting.back();
      waiting.pop_back();
      leave(*block, throughout(*block, [](const llvm::Instruction &, const State &) {}));
    }
  }

  // Calls visit(instruction, state before it) for each instruction; gives the state at the block's end.
  template <typename Visit> State throughout(const llvm::BasicBlock &block, Visit visit) {
    State state = states[&block];
    for (const llvm::Instruction &instruction : block) {
      visit(instruction, state);
      if (state.kind != State::Known)
        continue;
      if (std::optional<MarksInCode::Mark> mark = marks.markOf(instruction))
        pass(instruction, *mark, state);
      else if (auto *call = dyn_cast<llvm::CallBase>(&instruction))
        if (const llvm::Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
          enter(*callee, state);
    }
    return state;
  }

private:
  void pass(const llvm::Instruction &instruction, const MarksInCode::Mark &mark, State &state) {
    if (!mark.isBegin) {
      auto named =
          llvm::find_if(llvm::reverse(state.open), [&](size_t scope) { return scopes[scope].name == mark.name; });
      if (named != state.open.rend())
        state.open.resize(static_cast<size_t>(state.open.rend() - named) - 1);
      return;
    }
    std::string key = keyOf(instruction.getDebugLoc());
    auto known = llvm::find_if(scopes, [&](const Scope &scope) { return scope.key == key && scope.name == mark.name; });
    if (known == scopes.end())
      state = {State::Unclear, {}};
    else
      state.open.push_back(static_cast<size_t>(known - scopes.begin()));
  }
  void enter(const llvm::Function &function, const State &state) { meet(function.getEntryBlock(), state); }
  void meet(const llvm::BasicBlock &block, const State &state) {
    if (states[&block].meet(state))
      waiting.push_back(&block);
  }
  void leave(const llvm::BasicBlock &block, const State &state) {
    const llvm::Instruction &end = *block.getTerminator();
    std::optional<unsigned> unwatched = marks.unwatchedSuccessor(end);
    for (unsigned i = 0; i < end.getNumSuccessors(); ++i)
      meet(*end.getSuccessor(i), unwatched == i ? State{State::Unwatched, {}} : state);
  }

  const std::vector<Scope> &scopes;
  const MarksInCode &marks;
  std::map<const llvm::BasicBlock *, State> states;
  std::vector<const llvm::BasicBlock *> waiting;
};

// Whether an instruction that came from an operation does its work, rather than finding out addresses and masks for it.
bool MovedLinesFinder::isWork(const llvm::Instruction &instruction, Work work) {
  if (isa<llvm::PHINode, llvm::SelectInst, llvm::ShuffleVectorInst, llvm::InsertElementInst, llvm::ExtractElementInst,
          llvm::BitCastInst, llvm::FreezeInst, llvm::DbgInfoIntrinsic>(instruction) ||
      instruction.isTerminator())
    return false;
  auto isFloat = [](const llvm::Value &value) { return value.getType()->isFPOrFPVectorTy(); };
  bool touchesMemory = instruction.mayReadOrWriteMemory();
  switch (work) {
  case Work::None:
    return false;
  case Work::Memory:
    return touchesMemory;
  case Work::Floats:
    return !touchesMemory && (isFloat(instruction) || llvm::any_of(instruction.operands(), [&](const llvm::Use &use) {
                                return isFloat(*use.get());
                              }));
  case Work::Integers:
    return isa<llvm::BinaryOperator>(instruction);
  }
  return false;
}

static constexpr llvm::StringLiteral namePrefix = "scoped.";

void MovedLinesFinder::nameInstructions(llvm::Module &module) const {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto known = operations.find(keyOf(instruction.getDebugLoc()));
      if (known != operations.end() && !instruction.getType()->isVoidTy() && isWork(instruction, known->second.work))
        instruction.setName(namePrefix + llvm::Twine(std::distance(operations.begin(), known)) + ".");
    }
}

const MovedLinesFinder::Operation *MovedLinesFinder::operationOf(const llvm::Instruction &instruction) const {
  auto known = operations.find(keyOf(instruction.getDebugLoc()));
  llvm::StringRef name = instruction.getName();
  size_t number;
  if (known == operations.end() && name.consume_front(namePrefix) && !name.consumeInteger(10, number) &&
      number < operations.size())
    known = std::next(operations.begin(), static_cast<std::ptrdiff_t>(number));
  bool isKnown = known != operations.end() && !known->second.isAmbiguous && isWork(instruction, known->second.work);
  return isKnown ? &known->second : nullptr;
}

// Of one scope.
struct MovedLinesFinder::Findings {
  struct OfLine {
    bool isInside = false;
    std::set<std::string> elsewhere; // in words
  };
  std::map<Line, OfLine> lines;
};

std::vector<MovedLines> MovedLinesFinder::find(const llvm::Module &module, const MarksInCode &marks) const {
  States states(module, scopes, marks);
  std::vector<Findings> findings(scopes.size());
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    // The order of the code, to tell before from after.
    std::map<const llvm::Instruction *, size_t> order;
    std::vector<std::optional<size_t>> begins(scopes.size());
    llvm::ReversePostOrderTraversal<const llvm::Function *> blocks(&function);
    for (const llvm::BasicBlock *block : blocks)
      states.throughout(*block, [&](const llvm::Instruction &instruction, const States::State &) {
        order.emplace(&instruction, order.size());
        std::optional<MarksInCode::Mark> mark = marks.markOf(instruction);
        if (!mark || !mark->isBegin)
          return;
        std::string key = keyOf(instruction.getDebugLoc());
        for (size_t i = 0; i < scopes.size(); ++i)
          if (scopes[i].key == key && scopes[i].name == mark->name && !begins[i])
            begins[i] = order[&instruction];
      });
    for (const llvm::BasicBlock *block : blocks)
      states.throughout(*block, [&](const llvm::Instruction &instruction, const States::State &state) {
        const Operation *operation = state.kind == States::State::Known ? operationOf(instruction) : nullptr;
        if (!operation)
          return;
        Findings::OfLine &line = findings[operation->scope].lines[operation->line];
        if (llvm::is_contained(state.open, operation->scope)) {
          line.isInside = true;
          return;
        }
        std::string where;
        if (std::optional<size_t> begin = begins[operation->scope])
          where = order[&instruction] < *begin ? "before it" : "after it";
        where += where.empty() ? "" : ", ";
        where += state.open.empty() ? "outside of all scopes" : "in '" + scopes[state.open.back()].name + "'";
        line.elsewhere.insert(where);
      });
  }
  // Lines of which the simplification of tile IR left nothing.
  std::set<std::pair<size_t, Line>> alive;
  for (const auto &[key, operation] : operations)
    if (operation.isAmbiguous || left.contains(key))
      alive.emplace(operation.scope, operation.line);
  for (const auto &[key, operation] : operations)
    if (!alive.contains({operation.scope, operation.line}))
      findings[operation.scope].lines[operation.line];

  std::vector<MovedLines> moved;
  for (size_t i = 0; i < scopes.size(); ++i)
    if (std::string text = textOf(i, findings[i]); !text.empty())
      moved.push_back({scopes[i].name, scopes[i].line, std::move(text)});
  return moved;
}

std::string MovedLinesFinder::textOf(size_t scope, const Findings &findings) const {
  std::map<std::string, std::vector<std::string>> byPlace; // lines, in words
  for (const auto &[line, found] : findings.lines) {
    std::string number = std::to_string(line.number);
    if (line.file != scopes[scope].file)
      number = llvm::sys::path::filename(line.file).str() + ":" + number;
    for (const std::string &where : found.elsewhere)
      byPlace[(found.isInside ? "partly " : "") + where].push_back(number);
    if (!found.isInside && found.elsewhere.empty())
      byPlace["merged into others, or folded"].push_back(number);
  }
  std::string text;
  for (const auto &[where, lines] : byPlace)
    text += (text.empty() ? "" : "; ") + where + (lines.size() == 1 ? ": line " : ": lines ") + llvm::join(lines, ", ");
  return text;
}

} // namespace nacre
