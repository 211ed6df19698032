// How the builtins are written down. Each group has a file with one function that adds its rows; Builtins.cpp puts the
// groups together. A row is a signature in Python's notation, its documentation, and the function that does it:
//
//   table.add("expand_dims(input: tensor, axis: constexpr int)", "Inserts ...", expandDims, Table::method);
#pragma once

#include "compiler/language/builtins/Arguments.h"
#include "compiler/language/builtins/Builtins.h"

namespace nacre {

class Table {
public:
  using Invoke = Object (*)(Evaluation &evaluation, llvm::ArrayRef<Object> arguments);
  enum Use { function, method }; // method: also x.name(...)

  explicit Table(std::vector<Builtin> &rows) : rows(rows) {}

  // The module and the documentation's page of the rows that follow.
  void section(const char *module, const char *group);
  // Signature: name(parameter: annotation = default, *variadic, ...). Defaults are None, True, False, numbers, strings,
  // types.
  void add(const char *signature, std::string documentation, Invoke invoke, Use use = function);

private:
  std::vector<Builtin> &rows;
  std::string module, group;
};

// "tl.load", "tl.math.exp", "len": how errors and documents call a builtin.
std::string displayName(const Builtin &builtin);
// The scalar type of a name in tl: "float32", "int1", ...; null when there is none.
Type typeNamed(llvm::StringRef name);
// The rows of Math.cpp are also names of tl.math; those of its elementwise functions also of libdevice.
inline constexpr const char *languageModule = "triton.language";
inline constexpr const char *mathModule = "triton.language.math";
inline constexpr const char *libdeviceModule = "triton.language.extra.libdevice";
inline constexpr const char *cudaModule = "triton.language.extra.cuda";
inline constexpr const char *targetInfoModule = "triton.language.target_info";
inline constexpr const char *dtypeModule = "triton.language.dtype";
inline constexpr const char *pythonModule = "builtins";

// One function a file, in documentation order.
void addProgrammingModel(Table &table);
void addCreation(Table &table);
void addShape(Table &table);
void addLinearAlgebra(Table &table);
void addMemory(Table &table);
void addBlockPointers(Table &table);     // called by addMemory
void addTensorDescriptors(Table &table); // called by addMemory
void addIndexing(Table &table);
void addArithmetic(Table &table);
void addMath(Table &table);
void addLibdevice(Table &table);
void addLibdeviceIntegers(Table &table); // called by addLibdevice
void addLibdeviceRounding(Table &table); // called by addLibdevice
void addLibdeviceSpecial(Table &table);  // called by addLibdevice
void addReductions(Table &table);
void addAtomics(Table &table);
void addIteration(Table &table);
void addHints(Table &table);
void addDebugging(Table &table);
void addInlineCode(Table &table);
void addInlineAssembly(Table &table); // called by addInlineCode
void addTypes(Table &table);
void addPython(Table &table);
void addSlice(Table &table); // called by addTypes

} // namespace nacre
