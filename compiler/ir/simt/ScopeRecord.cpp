// The text of a mark's place: its fields with tabs between them, the name in hexadecimal digits, the file last.
#include "compiler/ir/simt/ScopeRecord.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace nacre;
using namespace nacre::simt;

std::string MarkPlace::text() const {
  std::string fields[] = {nameOf(kind).str(), llvm::toHex(name), std::to_string(line), std::to_string(column), file};
  return llvm::join(std::begin(fields), std::end(fields), "\t");
}

std::optional<MarkPlace> MarkPlace::parse(llvm::StringRef text) {
  constexpr size_t count = 5;
  llvm::SmallVector<llvm::StringRef, count> fields;
  text.split(fields, '\t', /*MaxSplit=*/count - 1);
  MarkPlace mark;
  std::optional<ToldKind> kind = toldKindNamed(fields[0]);
  if (fields.size() != count || !kind || !llvm::tryGetFromHex(fields[1], mark.name) ||
      fields[2].getAsInteger(10, mark.line) || fields[3].getAsInteger(10, mark.column))
    return std::nullopt;
  mark.kind = *kind;
  mark.file = fields[4].str();
  return mark;
}
