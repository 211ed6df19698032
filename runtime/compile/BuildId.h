// Which build of the compiler this is: part of every cache key, so that a new compiler never runs an old one's code.
#pragma once

#include <string>

namespace nacre {

// The linker's build id of the binary or library that holds this function; empty when it was linked without one
// (nothing is then kept on disk).
const std::string &buildId();

// Version of this project ("0.1.0").
const char *versionText();

} // namespace nacre
