// LLVM's command-line options that nothing but the command line sets. An option that LLVM lacks is a mistake here.
#pragma once

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"

namespace nacre {

template <typename T> void setLLVMOption(llvm::StringRef name, T value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found == options.end())
    llvm::report_fatal_error("LLVM has no option " + name);
  static_cast<llvm::cl::opt<T> *>(found->second)->setValue(value);
}

} // namespace nacre
