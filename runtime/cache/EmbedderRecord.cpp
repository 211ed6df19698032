#include "runtime/cache/EmbedderRecord.h"
#include "runtime/compile/Fingerprint.h"

namespace nacre {

namespace {
enum class Kind : char { Global, Attribute, Call, Library };
} // namespace

bool isTransient(const Object &object) {
  if (object.is<OpaqueReference>())
    return llvm::StringRef(object.as<OpaqueReference>().key).starts_with(transientPrefix);
  return object.isTuple() && llvm::any_of(object.tuple().items, isTransient);
}

static void addConstants(EmbedderObjects &objects, llvm::ArrayRef<ArgumentSpec> arguments) {
  for (const ArgumentSpec &argument : arguments) {
    if (argument.isConstant)
      objects.add(argument.constant);
    addConstants(objects, argument.elements);
  }
}

RecordingEmbedder::RecordingEmbedder(const FunctionSource &kernel, llvm::ArrayRef<ArgumentSpec> arguments,
                                     Embedder &inner)
    : inner(&inner), kernel(std::make_shared<FunctionSource>(kernel)) {
  objects.add(Object(JitReference{kernel.key, this->kernel}));
  addConstants(objects, arguments);
}

template <typename Ask> Embedder::Answer RecordingEmbedder::once(const std::string &question, Ask ask) {
  if (auto found = answers.find(question); found != answers.end())
    return found->second;
  if (!inner)
    return Answer{std::nullopt, "this was not asked when the kernel was compiled first"};
  Answer answer = ask();
  questions.push_back(question);
  if (answer.object)
    objects.add(*answer.object);
  if (!answer.problem.empty() || (answer.object && isTransient(*answer.object)))
    lasting = false;
  answers.emplace(question, answer);
  return answer;
}

Embedder::Answer RecordingEmbedder::global(const FunctionSource &function, llvm::StringRef name) {
  std::string question(1, static_cast<char>(Kind::Global));
  encode(question, Object(JitReference{function.key, nullptr}));
  encode(question, name);
  return once(question, [&] { return inner->global(function, name); });
}

Embedder::Answer RecordingEmbedder::attribute(const Object &object, llvm::StringRef name) {
  std::string question(1, static_cast<char>(Kind::Attribute));
  encode(question, object);
  encode(question, name);
  return once(question, [&] { return inner->attribute(object, name); });
}

Embedder::Answer RecordingEmbedder::call(const Object &callee, llvm::ArrayRef<Object> positional,
                                         llvm::ArrayRef<std::pair<std::string, Object>> keywords) {
  std::string question(1, static_cast<char>(Kind::Call));
  try {
    encode(question, callee);
    encode(question, static_cast<uint64_t>(positional.size()));
    for (const Object &argument : positional)
      encode(question, argument);
    encode(question, static_cast<uint64_t>(keywords.size()));
    for (const auto &[name, argument] : keywords) {
      encode(question, llvm::StringRef(name));
      encode(question, argument);
    }
  } catch (const NotEncodable &) {
    lasting = false;
    return inner ? inner->call(callee, positional, keywords)
                 : Answer{std::nullopt, "a call on values that have no lasting form"};
  }
  return once(question, [&] { return inner->call(callee, positional, keywords); });
}

Embedder::Answer RecordingEmbedder::library(llvm::StringRef path) {
  std::string question(1, static_cast<char>(Kind::Library));
  encode(question, path);
  return once(question, [&] { return inner->library(path); });
}

Embedder::Answer RecordingEmbedder::ask(const std::string &question) {
  Decoder decoder(question, objects);
  switch (static_cast<Kind>(decoder.byte())) {
  case Kind::Global: {
    Object reference = decoder.object();
    if (!reference.is<JitReference>() || !reference.as<JitReference>().function)
      throw NotEncodable();
    return global(*static_cast<const FunctionSource *>(reference.as<JitReference>().function.get()), decoder.text());
  }
  case Kind::Library:
    return library(decoder.text());
  case Kind::Attribute: {
    Object object = decoder.object();
    return attribute(object, decoder.text());
  }
  case Kind::Call: {
    Object callee = decoder.object();
    std::vector<Object> positional;
    for (uint64_t i = 0, count = decoder.number(); i < count; ++i)
      positional.push_back(decoder.object());
    std::vector<std::pair<std::string, Object>> keywords;
    for (uint64_t i = 0, count = decoder.number(); i < count; ++i) {
      std::string name = decoder.text();
      keywords.emplace_back(name, decoder.object());
    }
    return call(callee, positional, keywords);
  }
  }
  throw NotEncodable();
}

bool RecordingEmbedder::replay(const Questions &earlier) {
  try {
    for (const std::string &question : earlier)
      if (!ask(question).problem.empty())
        return false;
  } catch (const NotEncodable &) {
    return false;
  }
  return true;
}

std::string RecordingEmbedder::digestOfAnswers() const {
  Fingerprint fingerprint;
  for (const std::string &question : questions) {
    const Answer &answer = answers.at(question);
    fingerprint.add(question).add(answer.object ? digest(*answer.object) : "nothing");
  }
  return fingerprint.hex();
}

} // namespace nacre
