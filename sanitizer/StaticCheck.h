// What is proved of a launch before it runs: for every access, that it stays inside of its array, and for every two
// that may meet, that no two programs race.
//
// Addresses, masks and loops are read from the kernel's tile IR as linear forms of the program's place, the lanes and
// the iterations (AffineForms.h); whether an address outside exists is then a question about whole numbers, which
// MLIR's Presburger library answers exactly. What has no linear form is a number that may be anything: it can turn a
// proof into no answer, never the other way round.
//
// A question may be asked of one launch, or of all that meet conditions (LaunchFamily): numbers of the launch are then
// symbols, and what is asked has products of them. These become numbers of their own, of which is known what follows
// from the conditions, multiplied pair by pair; so a witness is never given.
#pragma once

#include "sanitizer/Finding.h"
#include <memory>
#include <optional>

namespace nacre::sanitizer {

// A sum of products: each a factor and the symbols it is multiplied with.
struct Polynomial {
  struct Term {
    int64_t factor;
    std::vector<uint32_t> symbols;
  };
  std::vector<Term> terms;
};

// All launches whose numbers meet conditions. Arrays lie apart, and their elements one after the other.
struct LaunchFamily {
  struct Symbol {
    std::string name;
    int64_t low, high;
  };
  std::vector<Symbol> symbols;
  std::vector<Polynomial> atLeastZero; // each is
  Polynomial grid[3];
  std::vector<Polynomial> slots;                // the value of each argument that is a number
  std::vector<int32_t> arrays;                  // of each argument: which array it is; -1: none
  std::vector<std::string> arrayNames;          // of each array
  std::vector<std::optional<Polynomial>> bytes; // of each array; none: nothing is known of it
};

struct StaticLaunch {
  LaunchFacts facts; // `ofArgument` need not be filled
  struct Slot {
    bool isPointer;
    int64_t value;
  };
  std::vector<Slot> slots;              // of each argument of the kernel in tile IR
  std::shared_ptr<LaunchFamily> family; // null: this launch alone
};

struct Verdict {
  enum class Check { Bounds, Race };
  enum class Answer { Proved, Witness, Unknown };
  Check check;
  Answer answer;
  std::string access; // "load"
  std::string place, otherPlace;
  std::string text; // of a witness: program, lanes and element; of what is unknown: why
};

// "bounds"; "proved".
const char *nameOf(Verdict::Check check);
const char *nameOf(Verdict::Answer answer);

// `text`: tile IR of a kernel compiled with watchAccesses. Throws std::runtime_error when it cannot be read.
std::vector<Verdict> checkStatically(const std::string &text, const StaticLaunch &launch);

} // namespace nacre::sanitizer
