#include "python/core/launching/EmbedderAnswers.h"

namespace nacre::python {

namespace {

// Equal and of the same type: 1, 1.0 and True are three constants. What cannot be compared is not the same.
bool isSame(PyObject *first, PyObject *second) {
  if (first == second)
    return true;
  if (Py_TYPE(first) != Py_TYPE(second))
    return false;
  int equal = PyObject_RichCompareBool(first, second, Py_EQ);
  if (equal < 0)
    PyErr_Clear();
  return equal == 1;
}

} // namespace

void EmbedderAnswers::add(Answer answer) {
  for (const Answer &known : answers)
    if (known.kind == answer.kind && known.owner.get() == answer.owner.get() &&
        known.value.get() == answer.value.get() && isSame(known.name.get(), answer.name.get()) &&
        known.kind != Kind::Call)
      return;
  answers.push_back(std::move(answer));
}

// As the names in dictionaries are: each launch looks them up, which is quick for the same object.
static Handle interned(Handle name) {
  PyObject *object = name.release();
  PyUnicode_InternInPlace(&object);
  return Handle::steal(object);
}

void EmbedderAnswers::addGlobal(Handle dictionary, Handle name, Handle value) {
  name = interned(std::move(name));
  add({Kind::Global, std::move(dictionary), std::move(name), std::move(value)});
}

void EmbedderAnswers::addAttribute(Handle object, Handle name, Handle value) {
  name = interned(std::move(name));
  add({Kind::Attribute, std::move(object), std::move(name), std::move(value)});
}

void EmbedderAnswers::addCall(Handle callee, Handle arguments, Handle keywords, Handle result) {
  Handle inputsOf = attribute(importModule("nacre.runtime.dependencies").get(), "inputs_of");
  Handle inputs = call(inputsOf.get(), callee.get(), arguments.get(), keywords.get());
  if (inputs.get() == Py_None) {
    add({Kind::Call, std::move(callee), std::move(arguments), std::move(result), std::move(keywords)});
    return;
  }
  for (Py_ssize_t i = 0, size = PyList_Size(inputs.get()); i < size; ++i) {
    PyObject *input = PyList_GetItem(inputs.get(), i);
    Handle owner = Handle::borrow(PyTuple_GetItem(input, 0)), name = Handle::borrow(PyTuple_GetItem(input, 1)),
           value = Handle::borrow(PyTuple_GetItem(input, 2));
    Kind kind = PyDict_Check(owner.get()) ? Kind::Global : Kind::Attribute;
    add({kind, std::move(owner), std::move(name), std::move(value)});
  }
}

bool EmbedderAnswers::Answer::holds() const {
  if (kind == Kind::Global)
    return PyDict_GetItemWithError(owner.get(), name.get()) == value.get();
  Handle now = Handle::steal(kind == Kind::Attribute ? PyObject_GetAttr(owner.get(), name.get())
                                                     : PyObject_Call(owner.get(), name.get(), keywords.get()));
  if (!now)
    PyErr_Clear(); // the compile that follows meets it again
  return now && value ? isSame(now.get(), value.get()) : !now && !value;
}

bool EmbedderAnswers::hold() const {
  for (const Answer &answer : answers)
    if (!answer.holds())
      return false;
  return true;
}

int EmbedderAnswers::visit(visitproc visit, void *arg) const {
  for (const Answer &answer : answers) {
    Py_VISIT(answer.owner.get());
    Py_VISIT(answer.name.get());
    Py_VISIT(answer.value.get());
    Py_VISIT(answer.keywords.get());
  }
  return 0;
}

} // namespace nacre::python
