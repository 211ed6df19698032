// Which lines of a kernel's text the compiler moved out of the scopes that the user wrote around them
// (compiler/language/builtins/Marks.h): a scope orders what touches memory, but arithmetic is computed where it is
// used, or outside of a loop, so that a scope's time may not be that of its lines.
//
// Decided on facts. What the front end made says which scope each operation was written in, by its location. After LLVM
// has optimized the kernel, each instruction still carries the location of the operation it came from, or, where LLVM
// forgets that of what it hoists, a name that it was given before; and the marks that are passed before it say which
// scopes are open there. Of operations that the simplification of tile IR left nothing of, that is said. What cannot be
// decided (paths with different scopes open meet, a location is unknown) is left out.
#pragma once

#include "compiler/targets/KernelMetadata.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include <functional>
#include <map>
#include <set>

namespace nacre {

// How a target's code marks scopes.
struct MarksInCode {
  struct Mark {
    bool isBegin;
    std::string name;
  };
  std::function<std::optional<Mark>(const llvm::Instruction &)> markOf;
  // The successor of a branch that is taken only where nobody watches: no marks are passed there.
  std::function<std::optional<unsigned>(const llvm::Instruction &)> unwatchedSuccessor;
};

class MovedLinesFinder {
public:
  // As the front end made it.
  explicit MovedLinesFinder(mlir::ModuleOp module);
  bool hasScopes() const { return !scopes.empty(); }
  // The same after simplification.
  void noteSimplified(mlir::ModuleOp module);
  // Before LLVM optimizes it.
  void nameInstructions(llvm::Module &module) const;
  // In the order of the scopes, those that something was moved out of.
  std::vector<MovedLines> find(const llvm::Module &module, const MarksInCode &marks) const;

private:
  enum class Work { None, Memory, Floats, Integers };
  struct Scope {
    std::string name, key;
    unsigned line;
    std::string file;
  };
  struct Line {
    std::string file;
    unsigned number;
    auto operator<=>(const Line &) const = default;
  };
  struct Operation {
    size_t scope; // the innermost
    Line line;
    Work work;
    bool isAmbiguous = false; // it stands in several
  };
  class Reader;
  class States;
  struct Findings;
  static Work workOf(mlir::Operation &op, const llvm::DenseSet<mlir::Value> &data);
  static bool isWork(const llvm::Instruction &instruction, Work work);
  // The operation whose work it does; null: none in a scope, or which one is not known.
  const Operation *operationOf(const llvm::Instruction &instruction) const;
  std::string textOf(size_t scope, const Findings &findings) const;

  std::vector<Scope> scopes;
  std::map<std::string, Operation> operations; // by location
  std::set<std::string> left;                  // locations of what simplification left
};

} // namespace nacre
