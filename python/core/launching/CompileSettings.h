// What Python has to say about a compile besides its request: a cache manager of the user's own, functions that look at
// stages and may change them, files that take stages' places; and what Python is told afterwards.
#pragma once

#include "python/core/Handle.h"
#include "runtime/launch/KernelCache.h"

namespace nacre::python {

// What the knobs and hooks ask for now. Holds Python objects: made and destroyed with the GIL, used without it.
class CompileSettings {
public:
  // `source`: the kernel's text; `options`: the launch's, a dictionary.
  CompileSettings(const std::string &source, PyObject *options);
  const CacheSettings &cache() const { return settings; }

private:
  CacheSettings settings;
  Handle inspection; // nacre.compiler.inspection.Inspection, or null
};

// knobs.runtime.add_stages_inspection_hook, or null.
extern Handle *stageHook;

// The launch option ir_override: paths are numbered, since the key of a launch is made of numbers. 0: none.
uint64_t overrideNumber(PyObject *path);
Handle overridePath(uint64_t number); // or None
// Reads the file and puts it in its stage's place. Throws PythonError.
void addOverride(CompileRequest &request, uint64_t number);

// The launch option extern_libs, a dictionary or pairs of names and paths: numbered likewise.
uint64_t libraryListNumber(PyObject *libraries);
const std::map<std::string, std::string> &libraryList(uint64_t number);
Handle libraryListObject(uint64_t number); // a tuple of pairs, as Triton keeps it

// {"cache_hit": ..., "ir_initialization": ..., "lowering_stages": [(stage, microseconds)], "store_results": ...}
Handle reportDictionary(const CompileReport &report);

// compile_ir(file, text, options) -> (NativeKernel, name, types, divisibilities, report): a kernel given as tile IR.
PyObject *compileIR(PyObject *module, PyObject *args);

} // namespace nacre::python
