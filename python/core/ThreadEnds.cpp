// When the interpreter ends, Python before 3.14 ends daemon threads that ask for the GIL: pthread_exit unwinds their
// stacks. Any call into Python may ask for it. Destructors of ours would then release what Python has taken down, and
// a function that may not throw would abort.
//
// Such a thread waits here for the end of the process, as Python 3.14 has it wait itself. The linker puts this function
// in the place of C++'s own (--wrap), so that the unwinder asks it first of every frame of the library that has
// something to clean up: no call needs a guard of its own, and no destructor runs.
#include <unistd.h>
#include <unwind.h>

extern "C" {

// Weak, as in Handle.h. Python 3.11 and 3.12 have the first, 3.13 the second.
__attribute__((weak)) int _Py_IsFinalizing();
__attribute__((weak)) int Py_IsFinalizing();

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                _Unwind_Exception *exception, _Unwind_Context *context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                _Unwind_Exception *exception, _Unwind_Context *context) {
  if (actions & _UA_FORCE_UNWIND) [[unlikely]] {
    bool isPythonEnding = Py_IsFinalizing ? Py_IsFinalizing() : _Py_IsFinalizing && _Py_IsFinalizing();
    while (isPythonEnding)
      pause();
  }
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}
}
