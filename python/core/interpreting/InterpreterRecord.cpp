// Block pointers and tensor descriptors as Python objects: records of the language, whose fields and methods are read
// by name.
#include "compiler/language/meaning/BlockView.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include <new>

namespace nacre::python {

namespace {

PyTypeObject *recordType = nullptr;

struct RecordObject {
  PyObject_HEAD Object object;
};

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  reinterpret_cast<RecordObject *>(self)->object.~Object();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// The class that the language has for a record, if any.
const char *languageClass(const Object &record) {
  return record.isRecord(descriptorName) ? "tensor_descriptor" : record.isRecord(blockPointerName) ? "tensor" : nullptr;
}

PyObject *getAttribute(PyObject *self, PyObject *name) {
  return evaluated([&]() -> PyObject * {
    std::string_view field = textView(name);
    if (field == "__class__") // for isinstance in functions that Python runs as they are
      if (const char *shown = languageClass(recordObject(self)))
        return attribute(importModule("nacre.language.core").get(), shown).release();
    if (!field.starts_with("__")) {
      Bridge &bridge = Bridge::any();
      if (std::optional<Object> found = attribute(bridge.interpreter, recordObject(self), llvm::StringRef(field)))
        return bridge.toPython(*found).release();
    }
    return PyObject_GenericGetAttr(self, name);
  });
}

// block_ptr(base=..., shape=(4, 8), ...)
PyObject *repr(PyObject *self) {
  return evaluated([&] {
    Bridge &bridge = Bridge::any();
    const TupleValue &tuple = recordObject(self).tuple();
    std::string shown = tuple.typeName + "(";
    for (size_t i = 0; i < tuple.items.size(); ++i) {
      Handle item = checked(PyObject_Repr(bridge.toPython(tuple.items[i]).get()));
      shown += (i ? ", " : "") + (i < tuple.names.size() ? tuple.names[i] + "=" : "") + text(item.get());
    }
    return unicode(shown + ")").release();
  });
}

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_getattro, reinterpret_cast<void *>(getAttribute)},
    {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {0, nullptr},
};
PyType_Spec spec = {"nacre._core.Record", sizeof(RecordObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

} // namespace

Handle makeRecordType() {
  Handle type = checked(PyType_FromSpec(&spec));
  recordType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

bool isRecord(PyObject *object) { return Py_TYPE(object) == recordType; }

Handle makeRecordObject(Object object) {
  Handle record = checked(PyType_GenericAlloc(recordType, 0));
  new (&reinterpret_cast<RecordObject *>(record.get())->object) Object(std::move(object));
  return record;
}

const Object &recordObject(PyObject *record) { return reinterpret_cast<RecordObject *>(record)->object; }

} // namespace nacre::python
