#include "python/core/launching/Export.h"
#include "python/core/Errors.h"
#include "python/core/launching/PythonEmbedder.h"
#include "runtime/Device.h"
#include "runtime/api/AheadOfTime.h"
#include "runtime/launch/Signature.h"

namespace nacre::python {

PyObject *exportKernelToC(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *kernel;
    const char *signature, *name, *file, *grid, *meta, *target, *architecture;
    LaunchOptionValues options;
    long long warps, stages;
    if (!PyArg_ParseTuple(args, "OsssssssLL", &kernel, &signature, &name, &file, &grid, &meta, &target, &architecture,
                          &warps, &stages))
      throw PythonError();
    options[LaunchOptionId::NumWarps] = warps;
    options[LaunchOptionId::NumStages] = stages;
    Driver *driver = findDriver(target);
    if (!driver)
      raise(PyExc_ValueError, "there is no device %s", target);
    if (!isKernel(kernel))
      raise(PyExc_TypeError, "expected a kernel, found %R", kernel);
    PythonEmbedder embedder;
    ExportRequest request;
    request.name = name;
    request.file = file;
    request.meta = meta;
    if (*grid)
      request.grid = splitGrid(grid);
    request.kernel.kernel = *functionSource(kernel);
    request.kernel.options = compileOptionsFor(*driver);
    applyLaunchOptions(request.kernel.options, options);
    if (*architecture)
      request.kernel.options.architecture = architecture;
    request.kernel.arguments = parseSignature(request.kernel.kernel, signature);
    ExportedKernel exported;
    {
      ReleaseGil released;
      exported = exportKernel(std::move(request), embedder);
    }
    Handle files = checked(PyList_New(0));
    for (const ExportedFile &part : exported.files) {
      Handle row = checked(
          Py_BuildValue("(sy#)", part.name.c_str(), part.content.data(), static_cast<Py_ssize_t>(part.content.size())));
      checkedStatus(PyList_Append(files.get(), row.get()));
    }
    return checked(Py_BuildValue("(sO)", exported.function.c_str(), files.get())).release();
  });
}

PyObject *disassembleObject(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *object, *symbol;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#z", &object, &size, &symbol))
      throw PythonError();
    std::vector<DisassembledFunction> functions;
    std::string problem;
    {
      ReleaseGil released;
      problem = targets().front()->disassemble(llvm::StringRef(object, static_cast<size_t>(size)), symbol ? symbol : "",
                                               functions);
    }
    if (!problem.empty())
      raise(PyExc_ValueError, "these bytes cannot be disassembled: %s", problem.c_str());
    Handle result = checked(PyList_New(0));
    for (const DisassembledFunction &function : functions) {
      Handle lines = checked(PyList_New(0));
      for (const DisassembledInstruction &line : function.instructions) {
        Handle row =
            checked(Py_BuildValue("(Kzis)", static_cast<unsigned long long>(line.address),
                                  line.file.empty() ? nullptr : line.file.c_str(), line.line, line.text.c_str()));
        checkedStatus(PyList_Append(lines.get(), row.get()));
      }
      Handle pair = checked(Py_BuildValue("(sO)", function.name.c_str(), lines.get()));
      checkedStatus(PyList_Append(result.get(), pair.get()));
    }
    return result.release();
  });
}

} // namespace nacre::python
