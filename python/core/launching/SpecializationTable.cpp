#include "python/core/launching/SpecializationTable.h"
#include "python/core/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace nacre::python {

bool Specialization::isCurrent() const {
  for (const FileStamp &library : libraries)
    if (!library.isCurrent())
      return false;
  return answers.hold();
}

static uint64_t hashOf(const SpecializationKey &key) {
  return llvm::xxh3_64bits(llvm::StringRef(key.bytes.data(), key.bytes.size()));
}

static bool matches(const Specialization &candidate, const SpecializationKey &key) {
  if (candidate.key != key.view() || candidate.objects.size() != key.objects.size())
    return false;
  for (size_t i = 0; i < key.objects.size(); ++i) {
    int equal = PyObject_RichCompareBool(candidate.objects[i].get(), key.objects[i], Py_EQ);
    checkedStatus(equal);
    if (!equal)
      return false;
  }
  return candidate.isCurrent();
}

std::shared_ptr<Specialization> SpecializationTable::find(const SpecializationKey &key) {
  std::shared_ptr<Specialization> held = last;
  if (held && matches(*held, key))
    return held;
  for (const std::shared_ptr<Specialization> &candidate : withHash(hashOf(key)))
    if (matches(*candidate, key))
      return last = candidate;
  return nullptr;
}

void SpecializationTable::add(const SpecializationKey &key, std::shared_ptr<Specialization> made) {
  made->key = key.view();
  for (PyObject *object : key.objects)
    made->objects.push_back(Handle::borrow(object));
  // Compiling let other threads run: whoever came first with the same key has the same code.
  uint64_t hash = hashOf(key);
  removeStale(hash, key);
  byHash.emplace(hash, made);
  last = std::move(made);
}

void SpecializationTable::clear() {
  auto left = std::move(byHash); // their end may run anything
  byHash.clear();
  std::shared_ptr<Specialization> before = std::move(last);
  last.reset();
}

std::vector<PyObject *> SpecializationTable::compiled() const {
  std::vector<PyObject *> found;
  for (const auto &[hash, specialization] : byHash)
    found.push_back(specialization->compiled.get());
  return found;
}

int SpecializationTable::visit(visitproc visit, void *arg) const {
  for (const auto &[hash, specialization] : byHash) {
    if (specialization.use_count() > (last == specialization ? 2 : 1))
      continue; // a launch is using it
    Py_VISIT(specialization->compiled.get());
    for (const Handle &object : specialization->objects)
      Py_VISIT(object.get());
    if (int status = specialization->answers.visit(visit, arg))
      return status;
  }
  return 0;
}

llvm::SmallVector<std::shared_ptr<Specialization>, 2> SpecializationTable::withHash(uint64_t hash) const {
  llvm::SmallVector<std::shared_ptr<Specialization>, 2> found;
  auto [begin, end] = byHash.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate)
    found.push_back(candidate->second);
  return found;
}

void SpecializationTable::removeStale(uint64_t hash, const SpecializationKey &key) {
  llvm::SmallVector<std::shared_ptr<Specialization>, 2> stale = withHash(hash);
  llvm::erase_if(stale, [&](const auto &entry) { return entry->key != key.view() || entry->isCurrent(); });
  auto [begin, end] = byHash.equal_range(hash);
  while (begin != end)
    begin = llvm::is_contained(stale, begin->second) ? byHash.erase(begin) : std::next(begin);
}

} // namespace nacre::python
