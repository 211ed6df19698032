// The embedder interface of the front end, answered by Python: globals and closures of kernels, attributes and calls of
// objects that only Python understands; and the translation between Python's objects and the language's.
#pragma once

#include "compiler/frontend/Frontend.h"
#include "python/core/launching/EmbedderAnswers.h"
#include <map>
#include <vector>

namespace nacre::python {

// Classes of the package that the extension has to recognize.
struct LanguageTypes {
  Handle constexprType;         // tl.constexpr: .value
  Handle constexprTypeType;     // tl.constexpr_type: .value
  Handle dtypeType;             // tl.dtype: ._short_name
  Handle constexprFunctionType; // @constexpr_function: .fn
  Handle descriptorType;        // TensorDescriptor, an argument: .base, .shape, .strides, .block_shape, .padding
  Handle dtypeByShortName;      // a function: "fp32" -> tl.float32, "*fp32" -> pointer_type
};
const LanguageTypes &languageTypes();

class PythonEmbedder : public Embedder {
public:
  ~PythonEmbedder() override; // takes the GIL

  // From the front end, without the GIL.
  Answer global(const FunctionSource &function, llvm::StringRef name) override;
  Answer attribute(const Object &object, llvm::StringRef name) override;
  Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>> keywords) override;
  Answer library(llvm::StringRef path) override;

  // With the GIL. Any Python object as a constexpr: what the language does not know becomes opaque.
  Object toObject(PyObject *object);
  // A run-time value becomes what it shows of its type. Throws PythonError (TypeError) where Python has nothing for it.
  Handle toPython(const Object &object);

  EmbedderAnswers answers;              // looked at again before the kernel is launched again
  std::vector<FileStamp> usedLibraries; // the same of libraries

private:
  Answer answerGlobal(const FunctionSource &function, llvm::StringRef name);
  Answer allowed(const FunctionSource &function, PyObject *value, PyObject *globals, PyObject *name);
  std::string refusal(PyObject *value, PyObject *globals, PyObject *name);
  Object opaque(PyObject *object);
  template <typename Body> Answer answering(Body body);

  std::vector<Handle> opaqueObjects;            // by handle - 1
  std::map<std::string, Handle> foreignModules; // by name
};

// With the GIL: the function of the language that `kernel` (a _core.Kernel) is.
std::shared_ptr<FunctionSource> functionSource(PyObject *kernel);
// Whether `object` is a function of the language.
bool isKernel(PyObject *object);
// The kernel that a tool's wrapper stands for, which it has as its `__nacre_kernel__`; else the object itself.
Handle kernelBehind(PyObject *object);
// The names of an aggregate's fields, a tuple; null when `object` is no instance of one.
Handle aggregateFields(PyObject *object);

} // namespace nacre::python
