// How the lanes of an operation's result follow from those of its operands: one table with two readers.
//
// Before a loop is emitted, classification asks the table with what is known of the operands then (Classify.cpp). While
// the loop is emitted, evaluation asks it with the lanes that it has (Evaluate.cpp), which may be known better: in a
// segment of the loop in which a bound holds, for instance. Where both know the same of the operands they take the same
// rule, so that lanes promised in closed form are emitted so; debug builds assert it.
//
// Integers wrap, so a line is in general one modulo 2^bits only. Some rules ask for more: that no lane of one operand
// passes over the largest number of its type. They name that operand, and each reader applies them only where this is
// proved, or where a guard checks it at run time (Nest::Form).
#pragma once

#include "compiler/passes/cpu/Lanes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace nacre::cpu {

// What is known of an operand's lanes when the table is asked.
struct LaneFacts {
  Lanes::Kind kind = Lanes::Kind::Uniform;
  std::optional<int64_t> stride;   // the step of a line, where it is a constant
  std::optional<int64_t> mostStep; // no step of an integer line is larger, its sign apart, where that is known
  bool isNumberInSteps = false;    // a line by assumption alone, and the same number within each step
  std::optional<int64_t> number;   // the number that is the same in all lanes, where it is a constant
};

struct LaneRule {
  enum class Kind {
    Vectors,     // there is no rule: the lanes are computed one by one
    Number,      // one number, computed from numbers
    Operand,     // the lanes of `operand`
    Resize,      // a line of another integer type
    Sum,         // a line: the sum or difference of lines and numbers
    Scale,       // a line: the line `operand`, multiplied or shifted by a number
    Advance,     // a line of pointers: a base, and an offset in elements
    Division,    // the quotient or remainder of a line of step 1 by a number; so by assumption alone (Nest::division)
    Bound,       // a prefix: the line `operand`, of step 1, compared with a number
    Conjunction, // a prefix: prefixes and numbers
  };
  Kind kind = Kind::Vectors;
  unsigned operand = 0;
  std::optional<unsigned> whole = {}; // the line whose lanes must be whole numbers, not only numbers modulo 2^bits
};

// `extent`: how many lanes the whole level has.
LaneRule laneRule(mlir::Operation *op, llvm::ArrayRef<LaneFacts> operands, int64_t extent);

} // namespace nacre::cpu
