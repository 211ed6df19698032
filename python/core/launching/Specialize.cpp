#include "python/core/launching/Specialize.h"
#include "compiler/language/meaning/BlockView.h"
#include "python/core/launching/CompileSettings.h"
#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/PythonHooks.h"
#include "python/core/launching/TorchProfiler.h"
#include "runtime/Knobs.h"

namespace nacre::python {

namespace {

// Builds, from the flat list of bound arguments, what the compiler wants to know and what Python's CompiledKernel
// shows.
class Description {
public:
  Description(PythonEmbedder &embedder, const BoundArguments &bound) : embedder(embedder), bound(bound) {
    signature = checked(PyDict_New());
    constants = checked(PyDict_New());
    attributes = checked(PyDict_New());
    slotTypes = checked(PyList_New(0));
  }

  ArgumentSpec parameter(const ParameterRecord &record, Py_ssize_t index) {
    Handle path = checked(Py_BuildValue("(n)", index));
    Handle type;
    ArgumentSpec spec = next(path.get(), type);
    spec.name = text(record.name.get());
    checkedStatus(PyDict_SetItem(signature.get(), record.name.get(), type.get()));
    return spec;
  }

  Handle signature;  // name -> "*fp32", "i32", "constexpr", or a tuple of these
  Handle constants;  // path -> value
  Handle attributes; // path -> [["tt.divisibility", 16]]
  Handle slotTypes;  // one type name for each flattened argument, "" for constants

private:
  ArgumentSpec next(PyObject *path, Handle &type) {
    const BoundArgument &argument = bound.arguments[position++];
    ArgumentSpec spec;
    switch (argument.kind) {
    case BoundArgument::Kind::Constant:
      spec.isConstant = true;
      spec.constant = embedder.toObject(argument.constant);
      spec.isRunTimeValue = argument.isRunTimeField && spec.constant.isNumber();
      type = unicode("constexpr");
      checkedStatus(PyDict_SetItem(constants.get(), path, argument.constant));
      checkedStatus(PyList_Append(slotTypes.get(), unicode("").get()));
      return spec;
    case BoundArgument::Kind::Tuple: {
      spec.isTuple = true;
      type = checked(PyTuple_New(argument.elements));
      for (uint32_t i = 0; i < argument.elements; ++i) {
        Handle step = checked(Py_BuildValue("(I)", i));
        Handle inner = checked(PySequence_Concat(path, step.get()));
        Handle elementType;
        spec.elements.push_back(next(inner.get(), elementType));
        checkedStatus(PyTuple_SetItem(type.get(), i, elementType.release()));
      }
      if (argument.isDescriptor) {
        spec.isRecord = true;
        spec.tupleName = descriptorName;
        spec.fieldNames.assign(std::begin(descriptorFields), std::end(descriptorFields));
        type = unicode(descriptorType(spec).shortName());
        return spec;
      }
      spec.isRecord = argument.isAggregate;
      Handle fields =
          argument.isAggregate ? aggregateFields(argument.constant) : attributeOrNull(argument.constant, "_fields");
      if (fields && PyTuple_Check(fields.get()))
        for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i)
          spec.fieldNames.push_back(text(PyTuple_GetItem(fields.get(), i)));
      if (!spec.fieldNames.empty())
        spec.tupleName = typeName(argument.constant);
      auto *className = reinterpret_cast<PyObject *>(Py_TYPE(argument.constant));
      if (argument.isAggregate || !spec.fieldNames.empty())
        spec.recordClass = embedder.toObject(className);
      if (argument.isAggregate)
        type = call(attribute(importModule("nacre.runtime.jit").get(), "AggregateTypes").get(), className, type.get());
      else if (!spec.fieldNames.empty())
        type = checked(PyObject_CallObject(className, type.get()));
      return spec;
    }
    case BoundArgument::Kind::Pointer:
    case BoundArgument::Kind::Number:
      spec.type = argument.kind == BoundArgument::Kind::Pointer ? Type::pointer(argument.type, argument.isConst)
                                                                : argument.type;
      type = unicode(spec.type.shortName());
      checkedStatus(PyList_Append(slotTypes.get(), type.get()));
      if (argument.divisibleBy16) {
        spec.divisibility = specializedDivisor;
        Handle value = checked(Py_BuildValue("[[si]]", "tt.divisibility", 16));
        checkedStatus(PyDict_SetItem(attributes.get(), path, value.get()));
      }
      return spec;
    }
    return spec;
  }

  // tensordesc<fp16[64, 64]>, from the type of the base and the shape of the blocks.
  static Type descriptorType(const ArgumentSpec &spec) {
    llvm::SmallVector<int64_t> shape;
    for (const Object &extent : spec.elements[3].constant.tuple().items) {
      bool isExtent = extent.isInt() && extent.as<llvm::DynamicAPInt>() > 0;
      if (!isExtent)
        raise(PyExc_ValueError, "the block shape of a tensor descriptor holds %s; it must hold positive integers",
              extent.repr().c_str());
      shape.push_back(static_cast<int64_t>(extent.as<llvm::DynamicAPInt>()));
    }
    return Type::descriptor(Type::block(spec.elements[0].type.element(), shape));
  }

  PythonEmbedder &embedder;
  const BoundArguments &bound;
  size_t position = 0;
};

void staticPrint(llvm::StringRef text) {
  HoldGil gil;
  PyObject *out = PySys_GetObject("stdout"); // borrowed
  if (!out || out == Py_None)
    return;
  try {
    call(attribute(out, "write").get(), unicode(std::string_view(text)).get());
  } catch (const PythonError &) {
    PyErr_WriteUnraisable(out);
  }
}

} // namespace

std::shared_ptr<Specialization> specialize(PyObject *kernel, const BoundArguments &bound,
                                           const LaunchKeywords &keywords, bool isWarmup) {
  KernelState &state = kernelState(kernel);
  lookForTorch();
  PythonEmbedder embedder;
  CompileRequest request;
  request.kernel = *functionSource(kernel);
  Device *device = keywords.device;
  request.options = device ? compileOptionsFor(*device) : compileOptionsFor(*keywords.driver);
  if (keywords.architecture != 0)
    request.options.architecture = architectureName(keywords.architecture);
  request.options.debug |= state.debug;
  request.options.checkAccesses |= state.debug;
  applyLaunchOptions(request.options, keywords.options);
  request.options.externLibraries = libraryList(keywords.externLibraries());
  request.staticPrint = staticPrint;
  addOverride(request, keywords.irOverride());

  Description description(embedder, bound);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    request.arguments.push_back(description.parameter(state.parameters[i], static_cast<Py_ssize_t>(i)));
  Handle options = optionDictionary(keywords.options, request.options);
  Handle warmup = Handle::borrow(isWarmup ? Py_True : Py_False);
  call(attribute(kernel, "_check_driver").get());
  PythonCompile caller{kernel,
                       description.signature.get(),
                       description.constants.get(),
                       description.attributes.get(),
                       options.get(),
                       warmup.get()};

  auto made = std::make_shared<Specialization>();
  CompileSettings settings(request.kernel.text->text, options.get());
  CompileReport report;
  if (device)
    device->prepare(); // here, where reading the environment is safe
  CacheSettings cache = settings.cache();
  cache.caller = &caller;
  if (knobString(KnobId::CompileAtLaunch) != "allow" || knobBoolean(KnobId::ExplainCompiles))
    cache.beforeCompile = [&] { // says why, warns, or refuses
      HoldGil gil;
      call(attribute(kernel, "_about_to_compile").get(), description.signature.get(), description.constants.get(),
           description.attributes.get(), options.get(), warmup.get());
    };
  {
    ReleaseGil released;
    made->kernel = findOrCompile(request, embedder, cache, &report);
  }
  if (!made->kernel) // a hook said to skip it
    return nullptr;
  made->device = device;
  made->cooperative = keywords.cooperative();
  made->tellsArrays = request.options.checkAccesses || (device && device->wantsArrays());
  made->obstacle =
      device ? device->whyNot(request.options) : "there is no device of its target: " + keywords.driver->whyNone();
  made->answers = std::move(embedder.answers);
  made->libraries = std::move(embedder.usedLibraries);
  Handle slotTypes = checked(PySequence_Tuple(description.slotTypes.get()));
  std::string architecture = keywords.architecture ? architectureName(keywords.architecture) : "";
  made->compiled = call(attribute(kernel, "_after_compile").get(),
                        wrapKernel(made->kernel, device, architecture).get(), description.signature.get(),
                        description.constants.get(), description.attributes.get(), options.get(), slotTypes.get(),
                        warmup.get(), reportDictionary(report).get());
  return made;
}

} // namespace nacre::python
