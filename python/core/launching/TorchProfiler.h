// Launches as events of torch's profiler. While it does not record, a launch pays for one look into a dictionary, and
// where torch was never loaded for nothing.
#pragma once

#include "python/core/Handle.h"
#include <optional>

namespace nacre::python {

// To be called now and then, where it costs nothing that counts: torch may have been imported meanwhile.
void lookForTorch();

// An event while it lives, if the program's profiler records; ours does not say that it does (_torch_users.py).
class ProfiledLaunch {
public:
  explicit ProfiledLaunch(PyObject *kernel);
  ~ProfiledLaunch();
  ProfiledLaunch(const ProfiledLaunch &) = delete;

private:
  Handle range; // torch.autograd.profiler.record_function, or null
};

} // namespace nacre::python
