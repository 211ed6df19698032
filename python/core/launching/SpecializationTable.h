// The specializations of one kernel that this process has compiled or read, by what tells its launches apart.
#pragma once

#include "python/core/launching/EmbedderAnswers.h"
#include "python/core/launching/PythonEmbedder.h"
#include "runtime/launch/KernelCache.h"
#include <unordered_map>

namespace nacre::python {

// What a launch is found by: bytes, and constants that Python compares. These are borrowed.
struct SpecializationKey {
  llvm::SmallVector<char, 512> bytes;
  llvm::SmallVector<PyObject *, 8> objects;

  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

// One compiled specialization.
struct Specialization {
  std::string key;
  std::vector<Handle> objects; // constants that Python compares
  std::shared_ptr<Kernel> kernel;
  Device *device = nullptr;
  Handle compiled; // nacre.compiler.CompiledKernel
  EmbedderAnswers answers;
  std::vector<FileStamp> libraries;
  bool cooperative = false;
  bool tellsArrays = false; // a launch says which arrays it has
  bool isLoaded = false;    // compiled._init_handles() was called
  std::string obstacle;     // why it cannot run here; empty when it can

  bool isCurrent() const; // what it was compiled from is still the same
};

class SpecializationTable {
public:
  // Null: there is none, or what it was compiled from has changed. Looking at constants may run Python, which may launch
  // the kernel, and so change the table.
  std::shared_ptr<Specialization> find(const SpecializationKey &key);
  // Takes the place of those with the same key that are of no use any more.
  void add(const SpecializationKey &key, std::shared_ptr<Specialization> made);
  void clear();
  std::vector<PyObject *> compiled() const; // borrowed
  // Of those that no launch uses, for the garbage collector.
  int visit(visitproc visit, void *arg) const;

private:
  llvm::SmallVector<std::shared_ptr<Specialization>, 2> withHash(uint64_t hash) const;
  void removeStale(uint64_t hash, const SpecializationKey &key);

  std::unordered_multimap<uint64_t, std::shared_ptr<Specialization>> byHash;
  std::shared_ptr<Specialization> last; // the one used last, tried first
};

} // namespace nacre::python
