// The marks of scopes in the code of GPUs: the clock is read, and written with the mark's number.
#pragma once

#include "compiler/ir/simt/ScopeRecord.h"
#include "compiler/targets/MovedLines.h"

namespace nacre::cuda {

// `places` are numbered as the code numbers them.
MarksInCode scopeClocks(std::vector<simt::MarkPlace> places);

} // namespace nacre::cuda
