// Constexprs as bytes, and as digests. The codec writes what a compile asked its embedder, so that the same questions
// can be asked again by another process; the digest of an answer says whether it is still the same.
#pragma once

#include "compiler/frontend/Frontend.h"
#include <map>

namespace nacre {

// Thrown when a value has no lasting form (a run-time value, an embedder object nobody answered with).
struct NotEncodable {};

// Things only the embedder holds are written by key and found again by key among what it has answered so far.
class EmbedderObjects {
public:
  void add(const Object &answer);
  const Object *find(const std::string &key) const;

private:
  std::map<std::string, Object> byKey;
};

void encode(std::string &out, const Object &object);
void encode(std::string &out, llvm::StringRef text);
void encode(std::string &out, uint64_t number);

// Reads what `encode` wrote; throws NotEncodable on anything else.
class Decoder {
public:
  Decoder(llvm::StringRef bytes, const EmbedderObjects &known) : rest(bytes), known(known) {}
  Object object();
  std::string text();
  uint64_t number();
  uint8_t byte();
  bool atEnd() const { return rest.empty(); }

private:
  llvm::StringRef rest;
  const EmbedderObjects &known;
};

// Equal exactly when two answers mean the same to a compile: values by value, functions by their text and place.
std::string digest(const Object &object);
std::string digest(const FunctionSource &function);

} // namespace nacre
