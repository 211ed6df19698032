#include "python/core/Errors.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "runtime/Knobs.h"
#include "runtime/launch/Launch.h"

namespace nacre::python {

namespace {

const char *kindName(Diagnostic::Kind kind) {
  switch (kind) {
  case Diagnostic::Kind::Syntax:
    return "syntax";
  case Diagnostic::Kind::Unsupported:
    return "unsupported";
  case Diagnostic::Kind::Name:
    return "name";
  case Diagnostic::Kind::Type:
    return "type";
  case Diagnostic::Kind::Value:
    return "value";
  case Diagnostic::Kind::StaticAssert:
    return "static_assert";
  case Diagnostic::Kind::Argument:
    return "argument";
  case Diagnostic::Kind::Internal:
    return "internal";
  }
  return "internal";
}

void setCompileError(const CompileError &error) {
  const Diagnostic &diagnostic = error.diagnostic;
  const SourceText *source = diagnostic.location.source.get();
  Handle module = importModule("nacre.compiler.errors");
  Handle make = attribute(module.get(), "_from_diagnostic");
  Handle arguments = checked(Py_BuildValue(
      "(sssssiisi)", kindName(diagnostic.kind), error.what(), diagnostic.message.c_str(), diagnostic.hint.c_str(),
      source ? source->fileName.c_str() : "", diagnostic.location.line, diagnostic.location.column,
      source ? source->line(diagnostic.location.line).c_str() : "", static_cast<int>(diagnostic.calls.size())));
  Handle exception = checked(PyObject_CallObject(make.get(), arguments.get()));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.get())), exception.get());
}

void setAssertError(const DeviceAssertError &error) {
  Handle module = importModule("nacre.runtime.errors");
  Handle type = attribute(module.get(), "DeviceAssertError");
  Handle program = checked(Py_BuildValue("(III)", error.program[0], error.program[1], error.program[2]));
  Handle exception = checked(PyObject_CallFunction(type.get(), "ssIOI", error.message.c_str(), error.file.c_str(),
                                                   error.line, program.get(), error.column));
  PyErr_SetObject(type.get(), exception.get());
}

void setOutOfBounds(const OutOfBoundsError &error) {
  const Diagnostic &diagnostic = error.diagnostic;
  Handle make = attribute(importModule("nacre.runtime.errors").get(), "_out_of_bounds");
  Handle program = checked(Py_BuildValue("(III)", error.program[0], error.program[1], error.program[2]));
  Handle exception =
      checked(PyObject_CallFunction(make.get(), "sssiiO", diagnostic.message.c_str(), diagnostic.hint.c_str(),
                                    diagnostic.location.source->fileName.c_str(), diagnostic.location.line,
                                    diagnostic.location.column + 1, program.get()));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.get())), exception.get());
}

void setOutOfResources(const OutOfResourcesError &error) {
  Handle type = attribute(importModule("nacre.runtime.errors").get(), "OutOfResources");
  Handle exception = checked(PyObject_CallFunction(type.get(), "LLs", static_cast<long long>(error.required),
                                                   static_cast<long long>(error.limit), error.resource.c_str()));
  PyErr_SetObject(type.get(), exception.get());
}

void setFault(const KernelFaultError &fault, const std::string &where) {
  Handle type = attribute(importModule("nacre.runtime.errors").get(), "KernelFaultError");
  Handle address = fault.address ? checked(PyLong_FromUnsignedLongLong(*fault.address)) : Handle::borrow(Py_None);
  Handle exception = checked(PyObject_CallFunction(type.get(), "ssOsIs", fault.summary.c_str(), fault.kernel.c_str(),
                                                   address.get(), fault.file.c_str(), fault.line, where.c_str()));
  PyErr_SetObject(type.get(), exception.get());
}

} // namespace

void raiseFault(const KernelFaultError &fault, const std::string &where) {
  setFault(fault, where);
  throw PythonError();
}

std::string takeErrorText() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Handle ownedType = Handle::steal(type), ownedValue = Handle::steal(value), ownedTrace = Handle::steal(trace);
  std::string result = type ? text(attribute(type, "__name__").get()) : "error";
  if (Handle shown = Handle::steal(value ? PyObject_Str(value) : nullptr))
    result += ": " + text(shown.get());
  if (trace && knobBoolean(KnobId::FrontEndDebugging)) {
    Handle lines = call(attribute(importModule("traceback").get(), "format_tb").get(), trace);
    result +=
        "\nTraceback (most recent call last):\n" + text(checked(PyUnicode_Join(unicode("").get(), lines.get())).get());
  }
  PyErr_Clear();
  return result;
}

void setErrorFromException() {
  try {
    try {
      throw;
    } catch (const PythonError &) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "an error was reported and none is set");
    } catch (const CompileError &error) {
      setCompileError(error);
    } catch (const DeviceAssertError &error) {
      setAssertError(error);
    } catch (const OutOfBoundsError &error) {
      setOutOfBounds(error);
    } catch (const KernelFaultError &error) {
      setFault(error, "");
    } catch (const OutOfResourcesError &error) {
      setOutOfResources(error);
    } catch (const std::bad_alloc &) {
      PyErr_NoMemory();
    } catch (const std::invalid_argument &error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::exception &error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (...) {
      PyErr_SetString(PyExc_SystemError, "an unknown C++ exception");
    }
  } catch (const PythonError &) {
    // Making the error failed: that failure is the error now.
  }
}

} // namespace nacre::python
