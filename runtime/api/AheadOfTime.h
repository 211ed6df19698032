// Kernels as C functions, compiled ahead of time: a header, a source and the code for each variant of a kernel, and the
// small runtime in C that launches them (ahead_of_time/: nacre_kernel.h and .c on the host, nacre_cuda.h and .c on
// NVIDIA's GPUs). A C program that links them needs neither Python nor this library.
#pragma once

#include "runtime/compile/Compiler.h"

namespace nacre {

struct ExportRequest {
  std::string name;              // of the C function; the variant's hash and specialization are put behind it
  std::string file;              // what the files are called, without a folder; empty: the name
  std::vector<std::string> grid; // up to three expressions in C over the parameters; empty: the caller gives the grid
  std::string meta;              // tells variants apart besides their constants: "warps4xstages3"
  CompileRequest kernel;
};

struct ExportedFile {
  std::string name, content;
};

struct ExportedKernel {
  std::string function;
  std::vector<ExportedFile> files; // the header, the source, the code, the runtime
};

// Compiles the kernel. An argument that is a constant of a type (the signature says "i32:1") is no parameter of the
// function, but of the dispatcher that chooses among variants. Throws CompileError.
ExportedKernel exportKernel(ExportRequest request, Embedder &embedder);

// The entries of "a, f(b, c), 1": commas in parentheses do not count.
std::vector<std::string> splitGrid(llvm::StringRef text);

} // namespace nacre
