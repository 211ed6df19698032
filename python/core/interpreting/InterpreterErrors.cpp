// Errors of the language inside a kernel that Python runs: they carry the kernel's line, as compile errors do.
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"

namespace nacre::python {

namespace {

// Fills in where Python stands. Errors inside the standard library belong to the line that called it.
void locate(Diagnostic &diagnostic) {
  Untraced untraced;
  Handle module = importModule("nacre.runtime.interpreter");
  // (file, line, column, end column, text of the line, name of the library's function or None), or None
  Handle place = call(attribute(module.get(), "_locate").get());
  if (place.get() == Py_None)
    return;
  const char *file, *line, *library;
  int number, column, endColumn;
  if (!PyArg_ParseTuple(place.get(), "siiisz", &file, &number, &column, &endColumn, &line, &library))
    throw PythonError();
  auto source = std::make_shared<SourceText>();
  source->fileName = file;
  source->text = line;
  source->firstLine = number;
  diagnostic.location = {source, number, column, number, endColumn};
  if (library)
    diagnostic.message = std::string("tl.") + library + ": " + diagnostic.message;
}

void raiseFault(const ProgramFault &fault, const Diagnostic &diagnostic) {
  Handle module = importModule("nacre.runtime.errors");
  Handle program = checked(Py_BuildValue("(III)", fault.program[0], fault.program[1], fault.program[2]));
  std::string file = diagnostic.location.source ? diagnostic.location.source->fileName : "";
  if (fault.kind == ProgramFault::Kind::Assertion) {
    Handle type = attribute(module.get(), "DeviceAssertError");
    Handle exception =
        checked(PyObject_CallFunction(type.get(), "ssiOi", fault.message.c_str(), file.c_str(),
                                      diagnostic.location.line, program.get(), diagnostic.location.column + 1));
    PyErr_SetObject(type.get(), exception.get());
    return;
  }
  Handle type = attribute(module.get(), "OutOfBoundsError");
  Handle exception =
      checked(PyObject_CallFunction(type.get(), "sssiO", diagnostic.render().c_str(), diagnostic.message.c_str(),
                                    file.c_str(), diagnostic.location.line, program.get()));
  PyErr_SetObject(type.get(), exception.get());
}

} // namespace

void setEvaluationError() {
  try {
    try {
      throw;
    } catch (CompileError &error) {
      Diagnostic diagnostic = error.diagnostic;
      ProgramContext &program = Bridge::any().interpreter.program();
      std::optional<ProgramFault> fault = std::exchange(program.fault, std::nullopt);
      if (!diagnostic.location.source)
        locate(diagnostic);
      if (fault)
        return raiseFault(*fault, diagnostic);
      throw CompileError(std::move(diagnostic));
    }
  } catch (...) {
    setErrorFromException();
  }
}

} // namespace nacre::python
