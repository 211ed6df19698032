// Arguments of which only the types are known: a signature, as compile(ASTSource) and preload have it. They are bound
// as a launch binds arguments of such types, so that all three find the same kernel.
#pragma once

#include "python/core/launching/Arguments.h"

namespace nacre::python {

class SignatureArguments {
public:
  // constants: path -> value; attributes: path -> facts, [["tt.divisibility", 16]]. A path is a tuple: the parameter's
  // index, then those of elements. Dictionaries.
  SignatureArguments(BoundArguments &bound, PyObject *constants, PyObject *attributes)
      : bound(bound), constants(constants), attributes(attributes) {}

  // Appends the parameter at `index`. Types are short names, "constexpr", "tensordesc<fp16[64, 64]>", or tuples of
  // these; a named tuple of types is one of that class, an AggregateTypes an aggregate. Throws PythonError.
  void bind(const ParameterRecord &parameter, Py_ssize_t index, PyObject *type);

private:
  void bindPart(PyObject *path, PyObject *type);
  void bindTuple(PyObject *path, PyObject *types);
  void bindSpec(const ArgumentSpec &spec);
  void bindConstant(Handle value);
  BoundArgument &addTuple(Handle object, Py_ssize_t elements); // a head; its elements follow

  BoundArguments &bound;
  PyObject *constants, *attributes, *name = nullptr;
};

} // namespace nacre::python
