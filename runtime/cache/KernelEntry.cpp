#include "runtime/cache/KernelEntry.h"
#include "runtime/compile/ObjectCodec.h"

namespace nacre {

namespace {

template <typename Value> constexpr bool isList = false;
template <typename Value> constexpr bool isList<std::vector<Value>> = true;

// Numbers, texts, lists, facts that have a form as text, and structures that name their fields.
template <typename Value> void write(std::string &bytes, const Value &value) {
  if constexpr (std::is_integral_v<Value>) {
    encode(bytes, static_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<Value, std::string>) {
    encode(bytes, llvm::StringRef(value));
  } else if constexpr (isList<Value>) {
    write(bytes, value.size());
    for (const auto &element : value)
      write(bytes, element);
  } else if constexpr (requires { Value::parse(value.text()); }) {
    write(bytes, value.text());
  } else {
    Value::forEachField(value, [&](const auto &field) { write(bytes, field); });
  }
}

template <typename Value> void read(Decoder &decoder, Value &value) {
  if constexpr (std::is_integral_v<Value>) {
    value = static_cast<Value>(decoder.number());
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = decoder.text();
  } else if constexpr (isList<Value>) {
    for (uint64_t i = 0, count = decoder.number(); i < count; ++i)
      read(decoder, value.emplace_back());
  } else if constexpr (requires { Value::parse(value.text()); }) {
    auto found = Value::parse(decoder.text());
    if (!found)
      throw NotEncodable();
    value = std::move(*found);
  } else {
    Value::forEachField(value, [&](auto &field) { read(decoder, field); });
  }
}

} // namespace

std::string encodeKernel(const CompiledCode &code) {
  std::string bytes;
  encode(bytes, code.target->name());
  write(bytes, code.symbol);
  write(bytes, code.metadata);
  for (uint64_t mask : {code.access.surelyWritten, code.access.maybeWritten, code.access.maybeRead})
    write(bytes, mask);
  write(bytes, code.externals.size());
  for (const ExternalFunction &function : code.externals)
    for (const std::string &text : {function.library, function.digest, function.symbol})
      write(bytes, text);
  write(bytes, code.object);
  return bytes;
}

std::optional<CompiledCode> decodeKernel(llvm::StringRef bytes) {
  try {
    EmbedderObjects none;
    Decoder decoder(bytes, none);
    CompiledCode code;
    code.target = findTarget(decoder.text());
    if (!code.target)
      return std::nullopt;
    read(decoder, code.symbol);
    read(decoder, code.metadata);
    for (uint64_t *mask : {&code.access.surelyWritten, &code.access.maybeWritten, &code.access.maybeRead})
      read(decoder, *mask);
    for (uint64_t i = 0, count = decoder.number(); i < count; ++i) {
      ExternalFunction function;
      for (std::string *text : {&function.library, &function.digest, &function.symbol})
        read(decoder, *text);
      code.externals.push_back(std::move(function));
    }
    read(decoder, code.object);
    return decoder.atEnd() ? std::optional(std::move(code)) : std::nullopt;
  } catch (const NotEncodable &) {
    return std::nullopt;
  }
}

} // namespace nacre
