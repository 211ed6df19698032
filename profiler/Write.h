// Profiles as files: the tree as Proton writes it (JSON or msgpack), the trace as Chrome reads it.
#pragma once

#include "profiler/Profiler.h"
#include "llvm/Support/JSON.h"

namespace nacre::profiler {

// [root, devices]
llvm::json::Value treeDocument(const Phase &phase, const llvm::json::Value &devices);
// {"displayTimeUnit": "us", "baseTimeNanoseconds": ..., "traceEvents": [...]}
llvm::json::Value traceDocument(const Phase &phase);

std::string jsonText(const llvm::json::Value &document);
std::string msgpackBytes(const llvm::json::Value &document);

} // namespace nacre::profiler
