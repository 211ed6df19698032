// Files that take the places of a kernel's stages (TRITON_KERNEL_OVERRIDE): a copy of what TRITON_KERNEL_DUMP wrote, in
// which the user has edited one.
//
// A copy holds every stage, and each comes from the one before it: taking them all would undo the edit. So a file that
// says what its stage says anyway is left aside. What remains is taken, and what that cannot mean is said on stderr: a
// stage whose file hides an earlier one's, a folder of another version of the kernel, a folder that is not there.
#pragma once

#include "runtime/compile/Compiler.h"
#include <map>

namespace nacre {

// `root` holds one folder for each kernel, of which `folder` is this one's; `plain`: the stages' texts without
// overrides.
std::map<std::string, StageText> stageOverrides(const std::string &root, const std::string &folder,
                                                const CompileRequest &request,
                                                const std::map<std::string, std::string> &plain);

} // namespace nacre
