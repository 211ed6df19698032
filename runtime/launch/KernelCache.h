// From a request to a kernel that can be launched, compiling only what nobody has compiled before.
//
// What a kernel depends on besides its request is known only once it was compiled: the embedder's answers. So a
// request's key leads to a manifest, the questions that compiles of it have asked; asked again, questions and answers
// together are the artifact's key. Memory holds the kernels in use, the disk (DiskCache.h) all of them.
#pragma once

#include "runtime/cache/DiskCache.h"
#include "runtime/launch/Kernel.h"

namespace nacre {

struct CacheSettings {
  std::string folder;                   // empty: no disk
  std::shared_ptr<ArtifactStore> store; // instead of the folder; null: the folder
  bool alwaysCompile = false;           // do not look up; still write
  std::string dumpFolder;               // empty: no dump of the stages
  std::string overrideFolder;          // where files stand that take stages' places, as dumps are named; empty: nowhere
  std::string filesFolder;             // where other files about a compile go; empty: nowhere
  StageReplacement replace;            // asked before the files; null: nobody. Its kernels are not kept on disk
  std::function<void()> beforeCompile; // called when nothing was found and a compile begins; may throw. Null: nobody
  void *caller = nullptr;              // CompileEvent::caller
  bool binaryOnly = false;             // kernels do not remember what they were compiled from
};
// What the knobs say now.
CacheSettings defaultCacheSettings();

// What happened to one request.
struct CompileReport {
  bool cacheHit = false;
  CompileTimes times;            // of a compile
  int64_t storeMicroseconds = 0; // to write it to the disk
};

// Finds or compiles. Threads that ask for the same kernel at the same time compile it once; none of them may hold a
// lock that `embedder` needs (the GIL). Null when a listener to events said to skip it. Throws CompileError.
std::shared_ptr<Kernel> findOrCompile(const CompileRequest &request, Embedder &embedder, const CacheSettings &settings,
                                      CompileReport *report = nullptr);

// How often each happened, for tests and `nacre info`.
struct CacheCounts {
  uint64_t memoryHits, diskHits, compiles;
};
CacheCounts cacheCounts();

} // namespace nacre
