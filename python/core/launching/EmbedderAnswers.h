// What Python told a compile, kept so that it can be looked at again before the kernel is launched again: a global that
// was given another value, an attribute of a module or class that was set, a function that computes something else now.
#pragma once

#include "python/core/Handle.h"
#include <vector>

namespace nacre::python {

class EmbedderAnswers {
public:
  // A null value: there was no such name.
  void addGlobal(Handle dictionary, Handle name, Handle value);
  void addAttribute(Handle object, Handle name, Handle value);
  // What the result of a call depends on, where that can be told, or the call itself.
  void addCall(Handle callee, Handle arguments, Handle keywords, Handle result);

  // With the GIL. Whether Python would still answer the same.
  bool hold() const;

  void clear() { answers.clear(); }
  int visit(visitproc visit, void *arg) const; // for the garbage collector

private:
  enum class Kind : uint8_t { Global, Attribute, Call };
  struct Answer {
    Kind kind;
    Handle owner, name, value; // of a call: the callee, its arguments, the result
    Handle keywords{};
    bool holds() const;
  };
  void add(Answer answer); // unless it is there
  std::vector<Answer> answers;
};

} // namespace nacre::python
