#include "runtime/compile/ObjectCodec.h"
#include "compiler/language/builtins/Builtins.h"
#include "runtime/compile/Fingerprint.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace nacre {

namespace {

enum class Tag : uint8_t {
  None,
  Ellipsis,
  False,
  True,
  Integer,
  Float,
  String,
  Tuple,
  List,
  Slice,
  Type,
  Builtin,
  Jit,
  Module,
  Opaque,
};

void encode(std::string &out, Tag tag) { out += static_cast<char>(tag); }

std::string decimal(const llvm::DynamicAPInt &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

llvm::DynamicAPInt parseDecimal(llvm::StringRef text) {
  llvm::StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || digits.find_first_not_of("0123456789") != llvm::StringRef::npos)
    throw NotEncodable();
  unsigned bits = static_cast<unsigned>(digits.size()) * 4 + 1;
  llvm::APInt magnitude(bits, digits, 10);
  return llvm::DynamicAPInt(negative ? -magnitude : magnitude);
}

} // namespace

void EmbedderObjects::add(const Object &answer) {
  if (answer.is<JitReference>())
    byKey.insert_or_assign("function " + answer.as<JitReference>().key, answer);
  else if (answer.is<OpaqueReference>())
    byKey.insert_or_assign("object " + answer.as<OpaqueReference>().key, answer);
  else if (answer.isTuple())
    for (const Object &item : answer.tuple().items)
      add(item);
}

const Object *EmbedderObjects::find(const std::string &key) const {
  auto found = byKey.find(key);
  return found == byKey.end() ? nullptr : &found->second;
}

void encode(std::string &out, uint64_t number) { out.append(reinterpret_cast<const char *>(&number), sizeof(number)); }

void encode(std::string &out, llvm::StringRef text) {
  encode(out, static_cast<uint64_t>(text.size()));
  out.append(text.data(), text.size());
}

void encode(std::string &out, const Object &object) {
  if (object.isNone())
    return encode(out, Tag::None);
  if (object.is<EllipsisValue>())
    return encode(out, Tag::Ellipsis);
  if (object.isBool())
    return encode(out, object.as<bool>() ? Tag::True : Tag::False);
  if (object.isInt()) {
    encode(out, Tag::Integer);
    return encode(out, llvm::StringRef(decimal(object.as<llvm::DynamicAPInt>())));
  }
  if (object.isFloat()) {
    encode(out, Tag::Float);
    uint64_t bits;
    std::memcpy(&bits, &object.as<double>(), sizeof(bits));
    return encode(out, bits);
  }
  if (object.isString()) {
    encode(out, Tag::String);
    return encode(out, llvm::StringRef(object.as<std::string>()));
  }
  if (object.isTuple()) {
    const TupleValue &tuple = object.tuple();
    encode(out, tuple.isList ? Tag::List : Tag::Tuple);
    encode(out, llvm::StringRef(tuple.typeName));
    encode(out, static_cast<uint64_t>(tuple.names.size()));
    for (const std::string &name : tuple.names)
      encode(out, llvm::StringRef(name));
    encode(out, static_cast<uint64_t>(tuple.items.size()));
    for (const Object &item : tuple.items)
      encode(out, item);
    return;
  }
  if (object.is<std::shared_ptr<const SliceValue>>()) {
    const SliceValue &slice = *object.as<std::shared_ptr<const SliceValue>>();
    encode(out, Tag::Slice);
    encode(out, slice.start);
    encode(out, slice.stop);
    return encode(out, slice.step);
  }
  if (object.isType()) {
    encode(out, Tag::Type);
    return encode(out, llvm::StringRef(object.as<Type>().shortName()));
  }
  if (object.is<const Builtin *>()) {
    encode(out, Tag::Builtin);
    encode(out, llvm::StringRef(object.as<const Builtin *>()->module));
    return encode(out, llvm::StringRef(object.as<const Builtin *>()->name));
  }
  if (object.is<JitReference>()) {
    encode(out, Tag::Jit);
    return encode(out, llvm::StringRef(object.as<JitReference>().key));
  }
  if (object.is<ModuleReference>()) {
    encode(out, Tag::Module);
    return encode(out, llvm::StringRef(object.as<ModuleReference>().name));
  }
  if (object.is<OpaqueReference>()) {
    encode(out, Tag::Opaque);
    return encode(out, llvm::StringRef(object.as<OpaqueReference>().key));
  }
  throw NotEncodable();
}

uint8_t Decoder::byte() {
  if (rest.empty())
    throw NotEncodable();
  auto value = static_cast<uint8_t>(rest.front());
  rest = rest.drop_front();
  return value;
}

uint64_t Decoder::number() {
  uint64_t value;
  if (rest.size() < sizeof(value))
    throw NotEncodable();
  std::memcpy(&value, rest.data(), sizeof(value));
  rest = rest.drop_front(sizeof(value));
  return value;
}

std::string Decoder::text() {
  uint64_t size = number();
  if (rest.size() < size)
    throw NotEncodable();
  std::string value = rest.take_front(size).str();
  rest = rest.drop_front(size);
  return value;
}

Object Decoder::object() {
  switch (static_cast<Tag>(byte())) {
  case Tag::None:
    return Object();
  case Tag::Ellipsis:
    return Object(EllipsisValue{});
  case Tag::False:
    return Object(false);
  case Tag::True:
    return Object(true);
  case Tag::Integer:
    return Object(parseDecimal(text()));
  case Tag::Float: {
    uint64_t bits = number();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return Object(value);
  }
  case Tag::String:
    return Object(text());
  case Tag::List:
  case Tag::Tuple: {
    auto tuple = std::make_shared<TupleValue>();
    tuple->isList = static_cast<Tag>(rest.data()[-1]) == Tag::List;
    tuple->typeName = text();
    for (uint64_t i = 0, count = number(); i < count; ++i)
      tuple->names.push_back(text());
    for (uint64_t i = 0, count = number(); i < count; ++i)
      tuple->items.push_back(object());
    return Object(std::shared_ptr<const TupleValue>(tuple));
  }
  case Tag::Slice: {
    Object start = object(), stop = object(), step = object();
    return Object::makeSlice(start, stop, step);
  }
  case Tag::Type: {
    Type type = Type::parseShortName(text());
    if (!type)
      throw NotEncodable();
    return Object(type);
  }
  case Tag::Builtin: {
    std::string module = text();
    const Builtin *builtin = findBuiltin(module, text());
    if (!builtin)
      throw NotEncodable();
    return Object(builtin);
  }
  case Tag::Module:
    return Object(ModuleReference{text()});
  case Tag::Jit: {
    std::string key = text();
    if (const Object *found = known.find("function " + key))
      return *found;
    if (llvm::StringRef(key).starts_with("triton.language.")) // of the standard library: the key is all there is
      return Object(JitReference{key, nullptr});
    throw NotEncodable();
  }
  case Tag::Opaque: {
    const Object *found = known.find("object " + text());
    if (!found)
      throw NotEncodable();
    return *found;
  }
  }
  throw NotEncodable();
}

std::string digest(const FunctionSource &function) {
  return Fingerprint()
      .add(function.key)
      .add(function.name)
      .add(function.text->fileName)
      .add(function.text->text)
      .add(function.text->firstLine)
      .add(function.text->firstColumn)
      .add(function.noinline)
      .add(function.isConstexprFunction)
      .add(function.isExternal)
      .add(function.mustUse ? "must use: " + *function.mustUse : std::string())
      .hex();
}

std::string digest(const Object &object) {
  if (object.is<JitReference>()) {
    const auto &reference = object.as<JitReference>();
    auto *function = static_cast<const FunctionSource *>(reference.function.get());
    return function ? digest(*function) : Fingerprint().add("embedded").add(reference.key).hex();
  }
  if (object.isTuple()) {
    const TupleValue &tuple = object.tuple();
    Fingerprint fingerprint;
    fingerprint.add(tuple.typeName).add(tuple.isList);
    for (const std::string &name : tuple.names)
      fingerprint.add(name);
    for (const Object &item : tuple.items)
      fingerprint.add(digest(item));
    return fingerprint.hex();
  }
  std::string bytes;
  try {
    encode(bytes, object);
  } catch (const NotEncodable &) {
    return Fingerprint().add("by key").add(object.key()).hex();
  }
  return Fingerprint().add(bytes).hex();
}

} // namespace nacre
