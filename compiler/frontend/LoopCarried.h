// The names that a run-time loop carries: those that are bound before it and assigned inside it.
//
// The body is built on the assumption that constexprs stay as they are and that types do not change. When the end of
// the body shows otherwise the body is built again: a constexpr that changes becomes a run-time value, and a name whose
// type changes may not be read before the body assigns it (nor after the loop), which is an error that names both types
// and both places.
#pragma once

#include "compiler/frontend/Generator.h"

namespace nacre {

class LoopCarried {
public:
  LoopCarried(Generator &generator, const SourceLocation &loop, std::set<std::string> assigned);

  // The path at the loop's head: each run-time value that is carried becomes a new argument of `block`.
  Path enter(mlir::Block &block);
  // Compares the end of the body with the head. False: the body has to be built again.
  bool settle(Branch &body);

  // Drops from `block` the arguments of `enter` that the body leaves as they are. What remains is what the loop
  // carries.
  void dropUnchanged(mlir::Block &block, unsigned firstArgument);
  llvm::SmallVector<mlir::Value> inits() const;
  llvm::SmallVector<mlir::Value> ends() const;
  // The names after the loop, where `results` are the final values of what it carries.
  Environment after(mlir::ValueRange results) const;

  // The names that only the loop binds: not readable after it.
  void forbidInner(Environment &names) const;

  const std::set<std::string> &assignedNames() const { return assigned; }
  // Binds `name` to be unreadable after the loop when the end of the body made it so; true when it did.
  bool forbid(Environment &names, const std::string &name) const;

private:
  struct Leaf {
    Value init, head, end;
    bool isCarried = true;
  };
  struct Entry {
    std::string name;
    Object init, head;
    SourceLocation place; // before the loop, then of the last assignment in it
    size_t firstLeaf = 0, leafCount = 0;
  };
  enum class Match { Fits, NeedsRunTime, Differs };

  Match match(const Object &head, const Object &end) const;
  bool becomesTile(const Object &head, const Object &end) const;
  std::shared_ptr<const Unavailable> mismatch(const Entry &entry, const Binding &end) const;

  Generator &generator;
  SourceLocation loop;
  std::set<std::string> assigned;
  Path before;
  std::map<std::string, Object> runTime; // names whose constexprs change, as they are before the loop
  std::map<std::string, std::shared_ptr<const Unavailable>> unreadable;
  std::vector<Entry> entries;
  std::vector<Leaf> leaves;
};

} // namespace nacre
