// The interpreter's core: the language's semantics over the eager builder, for an embedder that runs the kernel's text
// itself (CPython). The embedder turns each `tl.` call, operator, attribute and subscript into a call of callBuiltin,
// applyOperator, ... with this object as the Evaluation; everything that only the embedder can do is asked through
// InterpreterEmbedder. Errors are CompileErrors; unless the embedder has set the builder's location, the place is left
// for the embedder to fill in, which knows its line.
//
// One Interpreter runs one program at a time. Programs may run side by side, each thread with its own.
#pragma once

#include "compiler/language/meaning/Semantics.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/Recording.h"
#include <map>
#include <set>

namespace nacre {

class InterpreterEmbedder {
public:
  virtual ~InterpreterEmbedder() = default;
  // Runs a function of the language (a combine_fn) on whole tiles. Errors of the embedder come back as exceptions of
  // its own kind.
  virtual Object call(const Object &function, llvm::ArrayRef<Object> arguments) = 0;
  // An exception of the embedder's kind was caught and is not to be seen by anyone.
  virtual void forgetError() = 0;
  virtual void staticPrint(llvm::StringRef text) = 0;
};

class Interpreter : public Evaluation {
public:
  struct Options {
    bool debug = false;
    bool sanitizeOverflow = false;
    std::string defaultInputPrecision;
    std::map<std::string, std::string> externLibraries; // files by name
    std::string target;                                 // that target_info tells of, as Target::languageName has it
    AssemblyNotation assembly;                          // of what runs inline assembly (NativeCode.h)
  };
  Interpreter(InterpreterEmbedder &embedder, Options options) : embedder(embedder), options(options), recorder(eager) {}

  // The program that runs next, and what it may touch.
  ProgramContext &program() { return eager.program; }

  Builder &builder() override;
  Object call(const Object &function, llvm::ArrayRef<Object> arguments) override;
  // One call a pack, so that the embedder's own `if` decides.
  Object callElementwise(const Object &function, llvm::ArrayRef<Object> arguments, int pack) override;
  std::optional<BinaryOp> sumOrProduct(const Object &function, Type type) override;
  bool debug() const override { return options.debug; }
  bool sanitizeOverflow() const override { return options.sanitizeOverflow; }
  std::string libraryNamed(llvm::StringRef name) const override {
    auto found = options.externLibraries.find(name.str());
    return found == options.externLibraries.end() ? "" : found->second;
  }
  std::string defaultInputPrecision() const override { return options.defaultInputPrecision; }
  void staticPrint(llvm::StringRef text) override;
  std::string target() const override { return options.target; }
  AssemblyNotation assembly() const override { return options.assembly; }

  // An argument of the kernel or any scalar, from its bits.
  Value scalar(Type type, uint64_t bits) { return eager.scalarFromBits(type, bits); }
  // A local variable holds a run-time value: a number becomes one, as in `c = 2.0`. Anything else stays as it is.
  Object asVariable(const Object &object);

  // What `if`, `while`, `bool()` and `int()` ask of a value. The value must have one element.
  bool truth(const Object &object);
  // Whether any element is not zero, for debuggers.
  bool anyTrue(const Value &value);
  llvm::APInt integer(const Value &value); // of an integer type; as wide as it
  double number(const Value &value);       // of a floating type

  // A tile as NumPy prints it; a scalar as a bare number.
  std::string text(const Value &value);
  // The elements in row-major order, and how they lie: for conversions to arrays of the embedder.
  std::shared_ptr<const std::byte> elements(const Value &value);

private:
  void mustHaveOneElement(const Value &value, const char *what);
  // A combine_fn on whole tiles, or element by element when it branches on them.
  Object callOnTiles(const JitReference &function, llvm::ArrayRef<Object> arguments);

  InterpreterEmbedder &embedder;
  Options options;
  EagerBuilder eager;
  Recorder recorder;
  RecordingCache recordings;
  bool isRecording = false;
  bool hasBranchedOnTile = false;           // since callOnTiles has last looked
  std::set<std::string> branchingFunctions; // by key
};

} // namespace nacre
