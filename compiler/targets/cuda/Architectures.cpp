// See Architectures.h.
#include "compiler/targets/cuda/Architectures.h"
#include "compiler/language/meaning/Diagnostic.h"

using namespace nacre;
using namespace nacre::cuda;

llvm::ArrayRef<Architecture> nacre::cuda::architectures() {
  static constexpr int64_t kilobyte = 1024;
  static constexpr Architecture rows[] = {
      {75, "sm_75", 84, 64 * kilobyte},   {80, "sm_80", 84, 163 * kilobyte},        {86, "sm_86", 84, 99 * kilobyte},
      {89, "sm_89", 84, 99 * kilobyte},   {90, "sm_90a", 86, 227 * kilobyte, true}, {100, "sm_100", 86, 227 * kilobyte},
      {120, "sm_120", 87, 99 * kilobyte},
  };
  return rows;
}

const Architecture &nacre::cuda::architectureNamed(llvm::StringRef name) {
  llvm::StringRef digits = name;
  digits.consume_front("sm");
  digits.consume_front("_");
  llvm::StringRef suffix = digits.drop_while([](char c) { return c >= '0' && c <= '9'; });
  int capability = 0;
  bool isKnown = !digits.drop_back(suffix.size()).getAsInteger(10, capability) && (suffix.empty() || suffix == "a");
  const Architecture *found = nullptr;
  for (const Architecture &row : architectures())
    if (isKnown && row.runsOn(capability))
      found = &row;
  bool isNamedRow = found && (suffix.empty() || llvm::StringRef(found->name) == ("sm_" + digits).str());
  if (isNamedRow)
    return *found;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Argument;
  diagnostic.message = "unknown GPU '" + name.str() + "'";
  diagnostic.hint = "the CUDA target takes a compute capability:";
  for (const Architecture &row : architectures())
    diagnostic.hint +=
        (row.capability == architectures().front().capability ? " " : ", ") + std::to_string(row.capability);
  throw CompileError(diagnostic);
}
