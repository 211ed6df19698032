// The front end: a kernel's source text to tile IR. Needs no Python; what only the embedder knows is asked through
// Embedder.
#pragma once

#include "compiler/ir/tile/LaunchOptions.h"
#include "compiler/language/meaning/AssemblyNotation.h"
#include "compiler/language/meaning/Object.h"
#include <map>

namespace mlir {
class MLIRContext;
class ModuleOp;
template <typename OpTy> class OwningOpRef;
} // namespace mlir

namespace nacre {

// A function of the language as the embedder knows it: its text and where names in it are looked up.
struct FunctionSource {
  std::string key;  // unique: module.qualname (and an id for closures)
  std::string name; // of the def
  std::shared_ptr<const SourceText> text;
  int64_t embedderHandle = 0; // for the embedder's own use
  bool noinline = false;
  bool isConstexprFunction = false; // @constexpr_function: its locals stay constexpr, its loops run while compiling
  std::optional<std::string> mustUse; // @must_use_result: what the error says beside the name, may be empty
  bool isExternal = false; // @extern: it names functions of libraries, so it may hold dicts and read any constant
};

// What only the embedder knows. From Python: globals, closures and opaque objects; from C++: the parsed file. Every
// query and answer is recorded by the caller for the cache.
class Embedder {
public:
  virtual ~Embedder() = default;
  // The value of a name that is free in `function`: a constexpr (JitReference's `function` then holds a
  // std::shared_ptr<FunctionSource>), or none when there is no such name. A plain number or other value that a kernel
  // may not read is answered with an error: `problem` is set to what it is.
  struct Answer {
    std::optional<Object> object;
    std::string problem; // e.g. "a global of type list; make it tl.constexpr(...)": why it may not be used
  };
  virtual Answer global(const FunctionSource &function, llvm::StringRef name) = 0;
  virtual Answer attribute(const Object &object,
                           llvm::StringRef name) = 0; // of an Opaque or a module the front end does not know
  virtual Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
                      llvm::ArrayRef<std::pair<std::string, Object>> keywords) = 0; // of an Opaque, on constexprs
  // The digest of the library at a path, as a string; a problem when there is none.
  virtual Answer library(llvm::StringRef path);
};

// How one argument of the kernel arrives.
struct ArgumentSpec {
  std::string name;
  Object constant; // when isConstant
  bool isConstant = false;
  bool isRunTimeValue = false; // a constant number that the kernel sees as a run-time value: a field of an aggregate
  Type type;                   // when not constant: a scalar or a pointer
  int divisibility = 1;        // known divisor of the value or the address, a power of two
  std::vector<ArgumentSpec> elements; // a tuple argument: one spec an element, recursively (name empty)
  bool isTuple = false;
  std::vector<std::string> fieldNames; // of a named tuple: one an element, else empty
  std::string tupleName;               // of a named tuple: its class
  bool isRecord = false;               // a tuple argument that is a tensor descriptor or an aggregate
  Object recordClass;                  // of an aggregate or a named tuple: its class, else None
};

ArgumentSpec constantArgument(Object value);

// The fields of a tensor descriptor as a kernel sees it: run-time values first, then the constants.
inline constexpr const char *descriptorFields[] = {"base", "shape", "strides", "block_shape", "padding"};

// A tensor descriptor of which only the type is known: it arrives as its base, its shape (i32) and its strides (i64)
// but the last, which is 1; what is outside reads as zero. Its fields are base, shape, strides, block_shape and
// padding.
ArgumentSpec descriptorArgument(Type descriptor, int divisibility = 1);

struct FrontendOptions {
  bool debug = false;
  bool sanitizeOverflow = false;
  std::string target; // as Target::languageName has it; and what it says of itself (Target.h)
  AssemblyNotation assembly;
  int warpSize = 1;
  tile::LaunchOptions launch; // those that the target compiles by
  std::string defaultInputPrecision;                  // of a dot that names none; empty: the language's own
  std::map<std::string, std::string> externLibraries; // files by the names that extern_elementwise has for them
  std::function<void(llvm::StringRef)> staticPrint;   // null: to stdout
  std::vector<std::shared_ptr<const SourceText>> *sources =
      nullptr; // filled with the texts that the IR's locations name
};

// Builds a module with one kernel, `func.func @name` with `tile.kernel`, its arguments the non-constant ones in order
// (tuples flattened, a tensor descriptor as one). Throws CompileError.
void buildTileIR(mlir::MLIRContext &context, const FunctionSource &kernel, llvm::ArrayRef<ArgumentSpec> arguments,
                 Embedder &embedder, const FrontendOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &module);

// The Embedder of a C++ program: names are looked up among the functions, constants and imports of one parsed file.
std::unique_ptr<Embedder> makeFileEmbedder(std::shared_ptr<const SourceText> file);
// The kernel `name` of that file; throws CompileError when there is none.
FunctionSource findFunction(Embedder &fileEmbedder, llvm::StringRef name);
// The functions of that file that are decorated with `jit`, in its order.
std::vector<std::string> jitFunctions(Embedder &fileEmbedder);

// The parameters of a function as written, for signatures, arity errors and constexpr detection.
struct ParameterInfo {
  std::string name;
  bool isConstexpr = false;
  bool isConst = false;
  std::optional<Object> defaultValue; // a literal default
  std::string annotation;
};
std::vector<ParameterInfo> functionParameters(const FunctionSource &function);

} // namespace nacre
