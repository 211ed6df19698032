// The text of a site: its fields with tabs between them, the file last. An assert's message is in hexadecimal digits.
#include "compiler/ir/simt/AccessRecord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace nacre::simt;

std::string AccessSite::text() const {
  std::string extents = llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }), "x");
  std::string fields[] = {access,
                          std::to_string(argument),
                          std::to_string(kind),
                          std::to_string(size),
                          std::to_string(writes),
                          std::to_string(isMasked),
                          std::to_string(isTile),
                          extents,
                          std::to_string(line),
                          std::to_string(column),
                          llvm::toHex(message),
                          file};
  return llvm::join(std::begin(fields), std::end(fields), "\t");
}

std::optional<AccessSite> AccessSite::parse(llvm::StringRef text) {
  constexpr size_t count = 12;
  llvm::SmallVector<llvm::StringRef, count> fields;
  text.split(fields, '\t', /*MaxSplit=*/count - 1);
  if (fields.size() != count)
    return std::nullopt;
  AccessSite site;
  bool isWhole = true;
  size_t next = 0;
  auto number = [&](auto &into) { isWhole &= !fields[next++].getAsInteger(10, into); };
  auto truth = [&](bool &into) {
    unsigned bit = 0;
    number(bit);
    into = bit != 0;
  };
  site.access = fields[next++].str();
  number(site.argument), number(site.kind), number(site.size);
  truth(site.writes), truth(site.isMasked), truth(site.isTile);
  if (llvm::StringRef extents = fields[next++]; !extents.empty())
    for (llvm::StringRef extent : llvm::split(extents, 'x'))
      isWhole &= !extent.getAsInteger(10, site.shape.emplace_back());
  number(site.line), number(site.column);
  isWhole &= llvm::tryGetFromHex(fields[next++], site.message);
  site.file = fields[next].str();
  return isWhole ? std::optional(std::move(site)) : std::nullopt;
}
