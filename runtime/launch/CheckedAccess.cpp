#include "runtime/launch/CheckedAccess.h"
#include "compiler/reference/AccessCheck.h"

namespace nacre {

std::optional<OutOfBoundsError> refusalOf(const CheckedAccess &access, const KnownArrays &arrays) {
  const MemoryMap::Range *own = nullptr;
  if (access.argument >= 0 && static_cast<size_t>(access.argument) < arrays.ofArgument.size())
    own = arrays.memory.numbered(arrays.ofArgument[static_cast<size_t>(access.argument)]);
  if (!own && !arrays.memory.isComplete)
    return std::nullopt;
  AccessCheck check(arrays.memory, own, nullptr, access.size, access.writes);
  int64_t row = 1, elements = 1;
  if (access.shape && !access.shape->empty()) {
    row = access.shape->back();
    for (int64_t extent : *access.shape)
      elements *= extent;
  }
  for (int64_t begin = 0; begin < elements; begin += row)
    check.check(access.addresses + begin, access.mask ? access.mask + begin : nullptr, row);
  if (!check.hasFailed())
    return std::nullopt;
  Diagnostic diagnostic = check.diagnostic(access.access, Type::scalar(static_cast<ScalarKind>(access.kind)),
                                           shownProgram(access.program), access.shape, access.mask != nullptr);
  auto source = std::make_shared<SourceText>();
  source->fileName = access.file.str();
  int line = static_cast<int>(access.line), column = std::max(static_cast<int>(access.column) - 1, 0);
  diagnostic.location = {source, line, column, line, column};
  return OutOfBoundsError(std::move(diagnostic), access.program);
}

} // namespace nacre
