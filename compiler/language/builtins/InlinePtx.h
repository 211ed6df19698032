// PTX in inline assembly, where the target is not NVIDIA's.
//
// Published kernels write single instructions of PTX for what the language says too (ex2.approx, lop3, fma.rn, ...).
// Straight runs of instructions on single elements are translated to the language's own operations, which mean the same
// on every engine; what PTX only approximates is computed accurately. Anything else is an error that names the
// instruction.
#pragma once

#include "compiler/language/meaning/Semantics.h"

namespace nacre {

// Whether the text is PTX: x86's mnemonics hold no dots.
bool isPtx(llvm::StringRef text);

// The results, of these types, for operands of one shape.
Values translatePtx(Evaluation &evaluation, llvm::StringRef text, llvm::ArrayRef<Value> operands,
                    llvm::ArrayRef<Type> results);

} // namespace nacre
