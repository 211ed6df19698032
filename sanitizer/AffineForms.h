// Values of tile IR as linear forms of whole numbers: the program's place, lanes, iterations, and quotients and unknown
// numbers that stand for what is not linear.
//
// A form is exact on whole numbers; the integers of the language wrap. So a result that might not fit its type, by the
// ranges of the numbers in it, becomes an unknown number of that type's range.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sanitizer/StaticCheck.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace nacre::sanitizer {

struct Form {
  llvm::SmallVector<int64_t> factors; // one a variable; missing ones are 0
  int64_t constant = 0;
};

// One access, as the numbers that it depends on and what is known of them.
class AccessSpace {
public:
  explicit AccessSpace(const StaticLaunch &launch) : launch(launch) {}

  struct Variable {
    std::string name; // "program 0", "lane 1", "iteration"; empty: helps to say another
    int64_t low, high;
    bool isUnknown; // it may be any of its range: a solution need not come about
  };
  std::vector<Variable> variables;
  std::vector<Form> atLeastZero; // each holds
  bool isExact = true;           // nothing was left out

  // Reads a check of an access: its mask, the loops and branches around it. False where nothing is known of its
  // address.
  bool read(tile::CheckAccessOp check);
  Form address; // in bytes from element 0 of the array
  int32_t argument = -1;
  int64_t size = 0;
  unsigned programs[3] = {0, 1, 2}; // the variables that are the program's place
  std::string whyNot;               // of what is left out, the first

private:
  using Indices = llvm::SmallVector<Form, 2>; // of a tile's element; empty for a scalar
  Form evaluate(mlir::Value value, const Indices &indices);
  std::optional<Form> evaluateKnown(mlir::Value value, const Indices &indices);
  std::optional<Form> loopValue(mlir::BlockArgument argument, const Indices &indices);
  bool readPointer(mlir::Value pointer, const Indices &indices);
  bool readLoopPointer(mlir::BlockArgument argument, const Indices &indices);
  void require(mlir::Value condition, const Indices &indices, bool holds);
  void requireComparison(mlir::arith::CmpIOp comparison, const Indices &indices, bool holds);
  void enter(mlir::Operation *op);

  Form variable(std::string name, int64_t low, int64_t high, bool isUnknown = false);
  Form unknown(mlir::Type type, const std::string &why);
  // The iteration of a loop that is entered, from 0 on.
  Form iteration(mlir::scf::ForOp loop);
  std::pair<__int128, __int128> range(const Form &form) const;
  std::optional<Form> fitting(std::optional<Form> form, mlir::Type type);
  std::optional<Form> quotient(const Form &dividend, int64_t divisor, bool remainder);
  bool isConstant(const Form &form) const;
  void leaveOut(const std::string &why);

  const StaticLaunch &launch;
  llvm::DenseMap<mlir::Operation *, Form> iterations;
  std::map<std::pair<const void *, std::vector<int64_t>>, Form> forms; // by value and indices
};

// a + factor * b. Throws std::overflow_error where 64 bits do not hold a number of it.
Form sum(const Form &a, const Form &b, int64_t factor = 1);
Form scaled(const Form &form, int64_t factor);

} // namespace nacre::sanitizer
