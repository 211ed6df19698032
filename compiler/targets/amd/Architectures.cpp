// See Architectures.h.
#include "compiler/targets/amd/Architectures.h"
#include "compiler/language/meaning/Diagnostic.h"

using namespace nacre;
using namespace nacre::amd;

llvm::ArrayRef<Architecture> nacre::amd::architectures() {
  static constexpr int64_t kilobyte = 1024;
  static constexpr Architecture rows[] = {
      {"gfx90a", 9, 64, 64 * kilobyte},   {"gfx942", 9, 64, 64 * kilobyte},   {"gfx950", 9, 64, 160 * kilobyte},
      {"gfx1100", 11, 32, 64 * kilobyte}, {"gfx1201", 12, 32, 64 * kilobyte},
  };
  return rows;
}

const Architecture &nacre::amd::architectureNamed(llvm::StringRef name) {
  for (const Architecture &row : architectures())
    if (name.split(':').first == row.name)
      return row;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Argument;
  diagnostic.message = "unknown GPU '" + name.str() + "'";
  diagnostic.hint = "the HIP target takes";
  for (const Architecture &row : architectures())
    diagnostic.hint += std::string(&row == architectures().begin() ? " " : ", ") + row.name;
  throw CompileError(diagnostic);
}
