#include "runtime/cache/StageEntry.h"
#include "runtime/compile/ObjectCodec.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"

namespace nacre {

namespace {

// The fastest: a compile waits for it.
constexpr int level = 1;
// Entries that claim to be larger are not believed.
constexpr uint64_t mostBytes = uint64_t(1) << 30;

} // namespace

std::string encodeStages(const KeptStages &stages) {
  std::string plain;
  for (const auto &[stage, form] : stages) {
    encode(plain, llvm::StringRef(stage));
    encode(plain, llvm::StringRef(form));
  }
  std::string bytes;
  bool isCompressed = llvm::compression::zstd::isAvailable();
  encode(bytes, static_cast<uint64_t>(isCompressed ? plain.size() : 0));
  if (!isCompressed) {
    encode(bytes, llvm::StringRef(plain));
    return bytes;
  }
  llvm::SmallVector<uint8_t, 0> compressed;
  llvm::compression::zstd::compress(llvm::arrayRefFromStringRef(plain), compressed, level);
  encode(bytes, llvm::toStringRef(compressed));
  return bytes;
}

KeptStages decodeStages(llvm::StringRef bytes) {
  try {
    EmbedderObjects none;
    Decoder entry(bytes, none);
    uint64_t size = entry.number();
    std::string plain = entry.text();
    if (!entry.atEnd() || size > mostBytes)
      return {};
    if (size != 0) {
      llvm::SmallVector<uint8_t, 0> expanded;
      if (!llvm::compression::zstd::isAvailable())
        return {};
      if (llvm::Error error = llvm::compression::zstd::decompress(llvm::arrayRefFromStringRef(plain), expanded, size)) {
        llvm::consumeError(std::move(error));
        return {};
      }
      plain = llvm::toStringRef(expanded).str();
    }
    Decoder decoder(plain, none);
    KeptStages stages;
    while (!decoder.atEnd()) {
      std::string stage = decoder.text();
      stages[stage] = decoder.text();
    }
    return stages;
  } catch (const NotEncodable &) {
    return {};
  }
}

} // namespace nacre
