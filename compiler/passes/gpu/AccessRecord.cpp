// A line a site: its fields with tabs between them, the file last. An assert's message is in hexadecimal digits.
#include "compiler/passes/gpu/AccessRecord.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace nacre;
using namespace nacre::simt;

std::string nacre::simt::encodeSites(llvm::ArrayRef<AccessSite> sites) {
  std::string text;
  for (const AccessSite &site : sites) {
    std::string shape;
    for (int64_t extent : site.shape)
      shape += (shape.empty() ? "" : "x") + std::to_string(extent);
    std::string fields[] = {site.access,
                            std::to_string(site.argument),
                            std::to_string(site.kind),
                            std::to_string(site.size),
                            std::to_string(site.writes),
                            std::to_string(site.isMasked),
                            std::to_string(site.isTile),
                            shape,
                            std::to_string(site.line),
                            std::to_string(site.column),
                            llvm::toHex(site.message),
                            site.file};
    text += llvm::join(std::begin(fields), std::end(fields), "\t") + "\n";
  }
  return text;
}

std::vector<AccessSite> nacre::simt::decodeSites(llvm::StringRef text) {
  std::vector<AccessSite> sites;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    if (line.empty())
      continue;
    llvm::SmallVector<llvm::StringRef> fields;
    line.split(fields, '\t', /*MaxSplit=*/11);
    assert(fields.size() == 12 && "a line of encodeSites");
    AccessSite &site = sites.emplace_back();
    size_t next = 0;
    auto number = [&](auto &into) {
      int64_t value = 0;
      fields[next++].getAsInteger(10, value);
      into = static_cast<std::remove_reference_t<decltype(into)>>(value);
    };
    site.access = fields[next++].str();
    number(site.argument), number(site.kind), number(site.size);
    number(site.writes), number(site.isMasked), number(site.isTile);
    for (llvm::StringRef extent : llvm::split(fields[next++], 'x'))
      if (int64_t value; !extent.getAsInteger(10, value))
        site.shape.push_back(value);
    number(site.line), number(site.column);
    site.message = llvm::fromHex(fields[next++]);
    site.file = fields[next].str();
  }
  return sites;
}
