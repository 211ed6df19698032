// Comparisons and selection. A comparison with NaN is false, except that `!=` is true.
#include "compiler/reference/ChunkLoops.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;
using namespace nacre::detail;

namespace {
#define NACRE_COMPARE(name, operation)                                                                                 \
  template <typename T> struct name {                                                                                  \
    [[gnu::always_inline]] static uint8_t apply(T a, T b) { return a operation b; }                                    \
  };
NACRE_COMPARE(Equal, ==)
NACRE_COMPARE(NotEqual, !=)
NACRE_COMPARE(Less, <)
NACRE_COMPARE(LessEqual, <=)
NACRE_COMPARE(Greater, >)
NACRE_COMPARE(GreaterEqual, >=)
#undef NACRE_COMPARE

enum class Relation { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

Relation relationOf(CompareOp op) {
  switch (op) {
  case CompareOp::Eq:
  case CompareOp::EqF:
    return Relation::Equal;
  case CompareOp::Ne:
  case CompareOp::NeF:
    return Relation::NotEqual;
  case CompareOp::LtS:
  case CompareOp::LtU:
  case CompareOp::LtF:
    return Relation::Less;
  case CompareOp::LeS:
  case CompareOp::LeU:
  case CompareOp::LeF:
    return Relation::LessEqual;
  case CompareOp::GtS:
  case CompareOp::GtU:
  case CompareOp::GtF:
    return Relation::Greater;
  case CompareOp::GeS:
  case CompareOp::GeU:
  case CompareOp::GeF:
    return Relation::GreaterEqual;
  }
  llvm_unreachable("all comparisons are named");
}

bool isSignedCompare(CompareOp op) { return op >= CompareOp::LtS && op <= CompareOp::GeS; }

template <typename T> ChunkFunction relationFunction(Relation relation) {
  switch (relation) {
  case Relation::Equal:
    return binaryLoop<T, uint8_t, Equal<T>>;
  case Relation::NotEqual:
    return binaryLoop<T, uint8_t, NotEqual<T>>;
  case Relation::Less:
    return binaryLoop<T, uint8_t, Less<T>>;
  case Relation::LessEqual:
    return binaryLoop<T, uint8_t, LessEqual<T>>;
  case Relation::Greater:
    return binaryLoop<T, uint8_t, Greater<T>>;
  case Relation::GreaterEqual:
    return binaryLoop<T, uint8_t, GreaterEqual<T>>;
  }
  llvm_unreachable("all relations are named");
}

// As signed, int1's 1 is -1: the order is turned around.
Relation reversed(Relation relation) {
  switch (relation) {
  case Relation::Less:
    return Relation::Greater;
  case Relation::LessEqual:
    return Relation::GreaterEqual;
  case Relation::Greater:
    return Relation::Less;
  case Relation::GreaterEqual:
    return Relation::LessEqual;
  default:
    return relation;
  }
}

template <typename T> void selectLoop(const void *const *inputs, void *output, int64_t count) {
  auto *condition = static_cast<const uint8_t *>(inputs[0]);
  auto *whenTrue = static_cast<const T *>(inputs[1]);
  auto *whenFalse = static_cast<const T *>(inputs[2]);
  auto *out = static_cast<T *>(output);
  vectorized([=]() NACRE_LOOP {
    for (int64_t i = 0; i < count; ++i)
      out[i] = condition[i] ? whenTrue[i] : whenFalse[i];
  });
}
} // namespace

ChunkFunction nacre::compareFunction(CompareOp op, ScalarKind kind) {
  Relation relation = relationOf(op);
  bool isSigned = isSignedCompare(op);
  switch (kind) {
  case ScalarKind::Int1:
    return relationFunction<uint8_t>(isSigned ? reversed(relation) : relation);
  case ScalarKind::Int8:
  case ScalarKind::UInt8:
    return isSigned ? relationFunction<int8_t>(relation) : relationFunction<uint8_t>(relation);
  case ScalarKind::Int16:
  case ScalarKind::UInt16:
    return isSigned ? relationFunction<int16_t>(relation) : relationFunction<uint16_t>(relation);
  case ScalarKind::Int32:
  case ScalarKind::UInt32:
    return isSigned ? relationFunction<int32_t>(relation) : relationFunction<uint32_t>(relation);
  case ScalarKind::Int64:
  case ScalarKind::UInt64:
    return isSigned ? relationFunction<int64_t>(relation) : relationFunction<uint64_t>(relation);
  case ScalarKind::Float64:
    return relationFunction<double>(relation);
  default:
    return relationFunction<float>(relation); // narrow floats too
  }
}

ChunkFunction nacre::selectFunction(int elementSize) {
  switch (elementSize) {
  case 1:
    return selectLoop<uint8_t>;
  case 2:
    return selectLoop<uint16_t>;
  case 4:
    return selectLoop<uint32_t>;
  case 8:
    return selectLoop<uint64_t>;
  default:
    llvm_unreachable("element sizes are 1, 2, 4 and 8");
  }
}
