// Values of tile IR as linear forms of whole numbers: the program's place, lanes, iterations, and quotients and unknown
// numbers that stand for what is not linear.
//
// A form is exact on whole numbers; the integers of the language wrap. So a result that might not fit its type, by the
// ranges of the numbers in it, becomes an unknown number of that type's range.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sanitizer/Conditions.h"
#include "sanitizer/StaticCheck.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace nacre::sanitizer {

// One access, as the numbers that it depends on and what is known of them.
class AccessSpace : public Conditions {
public:
  explicit AccessSpace(const StaticLaunch &launch) : launch(launch) {}

  bool isExact = true; // nothing was left out

  // Reads a check of an access: its mask, the loops and branches around it. False where nothing is known of its
  // address.
  bool read(tile::CheckAccessOp check);
  Form address; // in bytes from element 0 of the array
  int32_t argument = -1;
  int64_t size = 0;
  unsigned programs[3] = {0, 1, 2}; // the variables that are the program's place; then come the family's symbols
  // What the family says of this number. Throws std::overflow_error.
  Form polynomial(const Polynomial &polynomial);
  std::string whyNot; // of what is left out, the first

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
  void readFamily(const LaunchFamily &family);

  Form unknown(mlir::Type type, const std::string &why);
  // The iteration of a loop that is entered, from 0 on.
  Form iteration(mlir::scf::ForOp loop);
  std::optional<Form> grownBy(const Form &each, mlir::scf::ForOp loop);
  // Whether the form is proved to be at least `least`; and at most `most`.
  bool isAtLeast(const Form &form, int64_t least) const;
  bool isAtMost(const Form &form, int64_t most) const;
  std::optional<Form> fitting(std::optional<Form> form, mlir::Type type);
  std::optional<Form> quotient(const Form &dividend, const Form &divisor, bool remainder);
  void leaveOut(const std::string &why);

  const StaticLaunch &launch;
  llvm::DenseMap<mlir::Operation *, Form> iterations;
  using Numbers = std::vector<int64_t>;
  std::map<std::pair<const void *, Numbers>, Form> forms;                 // by value and indices
  std::map<std::pair<Numbers, Numbers>, std::pair<Form, Form>> quotients; // by dividend and divisor; with remainders
};

} // namespace nacre::sanitizer
