// What a compile asked its embedder, and what it was told. The questions of an earlier compile, asked again, tell
// whether its result still holds; the answers alone are enough to compile once more without the embedder.
#pragma once

#include "runtime/compile/ObjectCodec.h"
#include <map>
#include <optional>
#include <vector>

namespace nacre {

// An embedder object's key that starts so means something in this process alone.
inline constexpr llvm::StringLiteral transientPrefix = "transient:";
bool isTransient(const Object &object);

// The questions in the order they were asked, each in the codec's form.
using Questions = std::vector<std::string>;

// An embedder that remembers. Each question goes to `inner` once: later ones get the same answer, so that one compile
// sees one state of the world.
class RecordingEmbedder : public Embedder {
public:
  RecordingEmbedder(const FunctionSource &kernel, llvm::ArrayRef<ArgumentSpec> arguments, Embedder &inner);

  Answer global(const FunctionSource &function, llvm::StringRef name) override;
  Answer attribute(const Object &object, llvm::StringRef name) override;
  Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>> keywords) override;
  Answer library(llvm::StringRef path) override;

  // Asks the questions of an earlier compile. False when one of them can no longer be asked.
  bool replay(const Questions &questions);

  // Whether everything asked and answered has a lasting form.
  bool isLasting() const { return lasting; }
  const Questions &asked() const { return questions; }
  // Of all questions and answers.
  std::string digestOfAnswers() const;

  // From now on `inner` is not asked any more: a new question gets no answer.
  void detach() { inner = nullptr; }

private:
  template <typename Ask> Answer once(const std::string &question, Ask ask);
  Answer ask(const std::string &question);

  Embedder *inner;
  std::shared_ptr<FunctionSource> kernel;
  EmbedderObjects objects;
  Questions questions;
  std::map<std::string, Answer> answers;
  bool lasting = true;
};

} // namespace nacre
