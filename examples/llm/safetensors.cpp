#include "safetensors.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace llm {

// The text of a file is read from first to last, one function for each kind of value.
class JsonReader {
public:
  explicit JsonReader(const std::string &text) : text(text) {}

  Json document() {
    Json result = value();
    skipBlanks();
    if (place != text.size())
      fail("the end");
    return result;
  }

private:
  [[noreturn]] void fail(const std::string &expected) const {
    throw std::runtime_error("JSON: " + expected + " is expected at byte " + std::to_string(place));
  }

  void skipBlanks() {
    while (place < text.size() && std::isspace(static_cast<unsigned char>(text[place])))
      ++place;
  }

  bool accept(const std::string &word) {
    skipBlanks();
    if (text.compare(place, word.size(), word) != 0)
      return false;
    place += word.size();
    return true;
  }

  void expect(const std::string &word) {
    if (!accept(word))
      fail(word);
  }

  Json value() {
    Json result;
    if (accept("{")) {
      result.kind = Json::Kind::Object;
      for (bool more = !accept("}"); more; more = separator("}")) {
        skipBlanks();
        std::string name = string();
        expect(":");
        result.members[name] = value();
      }
    } else if (accept("[")) {
      result.kind = Json::Kind::Array;
      for (bool more = !accept("]"); more; more = separator("]"))
        result.array.push_back(value());
    } else if (accept("true")) {
      result.kind = Json::Kind::Boolean;
      result.value = 1;
    } else if (accept("false")) {
      result.kind = Json::Kind::Boolean;
    } else if (accept("null")) {
      result.kind = Json::Kind::Null;
    } else if (place < text.size() && text[place] == '"') {
      result.kind = Json::Kind::String;
      result.text = string();
    } else {
      result.kind = Json::Kind::Number;
      char *end = nullptr;
      result.value = std::strtod(text.c_str() + place, &end);
      if (end == text.c_str() + place)
        fail("a value");
      place = static_cast<size_t>(end - text.c_str());
    }
    return result;
  }

  // Whether another element follows.
  bool separator(const std::string &end) {
    if (accept(end))
      return false;
    expect(",");
    return true;
  }

  // Names and words of these files are plain: an escaped character stands for itself, beyond that nothing is decoded.
  std::string string() {
    if (place == text.size() || text[place] != '"')
      fail("a string");
    std::string result;
    for (++place; place < text.size() && text[place] != '"'; ++place) {
      if (text[place] == '\\' && ++place == text.size())
        break;
      result += text[place];
    }
    if (place == text.size())
      fail("the end of a string");
    ++place;
    return result;
  }

  const std::string &text;
  size_t place = 0;
};

Json Json::parse(const std::string &text) { return JsonReader(text).document(); }

static void check(bool isRight, const char *expected) {
  if (!isRight)
    throw std::runtime_error(std::string("JSON: ") + expected + " is expected");
}

const Json &Json::operator[](const std::string &name) const {
  auto found = members.find(name);
  if (found == members.end())
    throw std::runtime_error("JSON: there is no " + name);
  return found->second;
}

double Json::number() const {
  check(kind == Kind::Number, "a number");
  return value;
}

bool Json::boolean() const {
  check(kind == Kind::Boolean, "true or false");
  return value != 0;
}

const std::string &Json::string() const {
  check(kind == Kind::String, "a string");
  return text;
}

const std::vector<Json> &Json::elements() const {
  check(kind == Kind::Array, "an array");
  return array;
}

const std::map<std::string, Json> &Json::object() const {
  check(kind == Kind::Object, "an object");
  return members;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The bytes of a file, mapped into memory.
static std::pair<std::shared_ptr<const void>, size_t> mapFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY);
  struct stat status{};
  void *start = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
    start = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  if (file >= 0)
    close(file);
  if (start == MAP_FAILED)
    throw std::runtime_error("cannot read " + path);
  auto size = static_cast<size_t>(status.st_size);
  return {std::shared_ptr<const void>(start, [start, size](const void *) { munmap(start, size); }), size};
}

TensorFile::TensorFile(const std::string &path) {
  size_t size = 0;
  std::tie(mapping, size) = mapFile(path);
  const char *bytes = static_cast<const char *>(mapping.get());
  uint64_t length = 0;
  if (size >= 8)
    std::memcpy(&length, bytes, sizeof length);
  if (size < 8 || length > size - 8)
    throw std::runtime_error(path + " is cut off");
  const char *data = bytes + 8 + length;
  uint64_t dataSize = size - 8 - length;
  const std::map<std::string, std::pair<const char *, uint64_t>> types = {
      {"F32", {"fp32", 4}}, {"F16", {"fp16", 2}}, {"BF16", {"bf16", 2}}};
  Json header = Json::parse(std::string(bytes + 8, length));
  for (const auto &[name, entry] : header.object()) {
    if (name == "__metadata__")
      continue;
    auto type = types.find(entry["dtype"].string());
    if (type == types.end())
      throw std::runtime_error(path + ": " + name + " has the type " + entry["dtype"].string() +
                               "; F32, F16 and BF16 are supported");
    Tensor tensor;
    tensor.elementType = type->second.first;
    uint64_t bytesOfTensor = type->second.second;
    for (const Json &extent : entry["shape"].elements()) {
      tensor.shape.push_back(static_cast<int64_t>(extent.number()));
      bytesOfTensor *= static_cast<uint64_t>(tensor.shape.back());
    }
    auto from = static_cast<uint64_t>(entry["data_offsets"].elements().at(0).number());
    auto to = static_cast<uint64_t>(entry["data_offsets"].elements().at(1).number());
    if (from > to || to > dataSize || to - from != bytesOfTensor)
      throw std::runtime_error(path + ": the bytes of " + name + " do not fit its shape or the file");
    tensor.data = data + from;
    tensors.emplace(name, std::move(tensor));
  }
}

} // namespace llm
