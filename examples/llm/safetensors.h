// Reads safetensors files and the JSON in them and beside them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llm {

// A value of JSON. What is asked for and not there, or of another kind, is an error that names it.
class Json {
public:
  static Json parse(const std::string &text);

  bool has(const std::string &name) const { return members.count(name) && members.at(name).kind != Kind::Null; }
  const Json &operator[](const std::string &name) const;
  double number() const;
  bool boolean() const;
  const std::string &string() const;
  const std::vector<Json> &elements() const;
  const std::map<std::string, Json> &object() const;

private:
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object };
  friend class JsonReader;
  Kind kind = Kind::Null;
  double value = 0; // of a boolean too
  std::string text;
  std::vector<Json> array;
  std::map<std::string, Json> members;
};

// A tensor where it lies in its file.
struct Tensor {
  std::string elementType; // as the language names it: "fp32", "bf16", "fp16"
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

// The tensors of a file, which stays mapped into memory as long as this or a copy of it lives.
class TensorFile {
public:
  explicit TensorFile(const std::string &path);
  std::map<std::string, Tensor> tensors;

private:
  std::shared_ptr<const void> mapping;
};

std::string readFile(const std::string &path);

} // namespace llm
