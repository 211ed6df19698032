// Loads, stores, and the check of addresses against the known arrays. Masked-off lanes are never touched.
#include "compiler/reference/AccessCheck.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/Loops.h"
#include "compiler/reference/Vectorized.h"
#include "llvm/Support/ErrorHandling.h"

using namespace nacre;

namespace {
constexpr int64_t chunk = ChunkReader::chunk;

// The element addresses of a chunk follow one another.
bool areConsecutive(const uint64_t *addresses, int64_t count, uint64_t size) {
  uint64_t difference = 0;
  uint64_t first = addresses[0];
  vectorized([&]() NACRE_LOOP {
    uint64_t found = 0;
    for (int64_t i = 0; i < count; ++i)
      found |= addresses[i] - (first + i * size);
    difference = found;
  });
  return difference == 0;
}

int64_t countTrue(const uint8_t *mask, int64_t count) {
  int64_t result = 0;
  for (int64_t i = 0; i < count; ++i)
    result += mask[i];
  return result;
}

template <typename T> T *at(uint64_t address) { return reinterpret_cast<T *>(address); }

// Reads the enabled lanes of one chunk into `out`, which already holds `other` where there is a mask.
template <typename T> void loadChunk(const uint64_t *addresses, const uint8_t *mask, int64_t count, T *out) {
  int64_t enabled = mask ? countTrue(mask, count) : count;
  if (enabled == count && areConsecutive(addresses, count, sizeof(T))) {
    std::memcpy(out, at<T>(addresses[0]), count * sizeof(T));
  } else if (enabled == count) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(&out[i], at<T>(addresses[i]), sizeof(T));
  } else if (enabled != 0) {
    for (int64_t i = 0; i < count; ++i)
      if (mask[i])
        std::memcpy(&out[i], at<T>(addresses[i]), sizeof(T));
  }
}

template <typename T> void storeChunk(const uint64_t *addresses, const uint8_t *mask, const T *values, int64_t count) {
  int64_t enabled = mask ? countTrue(mask, count) : count;
  if (enabled == count && areConsecutive(addresses, count, sizeof(T))) {
    std::memcpy(at<T>(addresses[0]), values, count * sizeof(T));
  } else if (enabled != 0) {
    for (int64_t i = 0; i < count; ++i)
      if (!mask || mask[i])
        std::memcpy(at<T>(addresses[i]), &values[i], sizeof(T));
  }
}

// Calls `use` with an integer of the element's size.
template <typename Use> void withElementOfSize(int size, Use use) {
  switch (size) {
  case 1:
    return use(uint8_t());
  case 2:
    return use(uint16_t());
  case 4:
    return use(uint32_t());
  case 8:
    return use(uint64_t());
  default:
    llvm_unreachable("element sizes are 1, 2, 4 and 8");
  }
}

Type pointeeOf(Type pointer) { return pointer.scalarType().element(); }
} // namespace

void EagerBuilder::tellAccess(llvm::StringRef what, const Value &pointer, const Value &mask, Access access) {
  auto elementsOf = [](const Value &value) { return contiguous(bufferRef(value)); };
  BufferRef addresses = elementsOf(pointer), enabled = mask ? elementsOf(mask) : BufferRef();
  bool isAtomic = what.starts_with("atomic");
  program.watcher->access(program, {what,
                                    isAtomic || access == Access::Read,
                                    access == Access::Write,
                                    isAtomic,
                                    pointeeOf(pointer.type()),
                                    addresses->shape(),
                                    {addresses->as<uint64_t>(), static_cast<size_t>(addresses->type.elementCount())},
                                    enabled ? enabled->as<uint8_t>() : nullptr,
                                    program.memory ? program.memory->numbered(bufferOf(pointer).array) : nullptr});
}

void EagerBuilder::checkAccess(llvm::StringRef what, const Value &pointer, const Value &mask, Access access) {
  if (program.watcher)
    tellAccess(what, pointer, mask, access);
  if (!program.memory)
    return;
  Buffer &addresses = bufferOf(pointer);
  const MemoryMap::Range *own = program.memory->numbered(addresses.array);
  bool mayBeAnywhere = !own && (program.leadsAnywhere || !program.memory->isComplete);
  llvm::SmallVector<const Buffer *, 2> operands = {&addresses};
  if (mask)
    operands.push_back(&bufferOf(mask));
  AccessCheck check(*program.memory, own, mayBeAnywhere ? &processMemory : nullptr,
                    pointeeOf(pointer.type()).byteSize(), access == Access::Write);
  forEachChunk(operands, false, chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
    check.check(static_cast<const uint64_t *>(inputs[0]), mask ? static_cast<const uint8_t *>(inputs[1]) : nullptr,
                count);
  });
  if (!check.hasFailed())
    return;
  llvm::ArrayRef<int64_t> shape = addresses.shape();
  Diagnostic diagnostic = check.diagnostic(what, pointeeOf(pointer.type()), programName(),
                                           addresses.type.isBlock() ? &shape : nullptr, static_cast<bool>(mask));
  diagnostic.location = location();
  program.fault = ProgramFault{ProgramFault::Kind::Memory, program.programId, ""};
  throw MemoryFault(std::move(diagnostic), check.firstAddress());
}

Value EagerBuilder::addPointer(Value pointer, Value offset) {
  Buffer &addresses = bufferOf(pointer), &offsets = bufferOf(offset);
  // Wrapping unsigned arithmetic on sign-extended offsets.
  uint64_t size = pointeeOf(pointer.type()).byteSize();
  auto compute = [&](uint64_t *out, llvm::ArrayRef<const void *> inputs, int64_t count) {
    auto *base = static_cast<const uint64_t *>(inputs[0]);
    if (offsets.elementSize() == 4) {
      auto *steps = static_cast<const int32_t *>(inputs[1]);
      vectorized([=]() NACRE_LOOP {
        for (int64_t i = 0; i < count; ++i)
          out[i] = base[i] + static_cast<uint64_t>(static_cast<int64_t>(steps[i])) * size;
      });
    } else {
      auto *steps = static_cast<const uint64_t *>(inputs[1]);
      vectorized([=]() NACRE_LOOP {
        for (int64_t i = 0; i < count; ++i)
          out[i] = base[i] + steps[i] * size;
      });
    }
  };
  if (addresses.isUniform() && offsets.isUniform()) {
    uint64_t sum;
    compute(&sum, {addresses.data, offsets.data}, 1);
    return valueOf(makeUniform(pointer.type(), addresses, reinterpret_cast<std::byte *>(&sum)));
  }
  BufferRef result = makeBuffer(pointer.type());
  result->array = addresses.array;
  auto *out = result->as<uint64_t>();
  forEachChunk({&addresses, &offsets}, false, chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
    compute(out, inputs, count);
    out += count;
  });
  return valueOf(result);
}

Value EagerBuilder::load(Value pointer, Value mask, Value other, const LoadOptions &options) {
  checkAccess("load", pointer, mask, Access::Read);
  Type pointee = pointeeOf(pointer.type());
  Type type = withScalar(pointer.type(), pointee);
  BufferRef result = makeBuffer(type);
  if (mask) {
    if (other)
      copyElements(bufferOf(other), result->data);
    else
      std::memset(result->data, 0, type.elementCount() * result->elementSize());
  }
  llvm::SmallVector<const Buffer *, 2> operands = {&bufferOf(pointer)};
  if (mask)
    operands.push_back(&bufferOf(mask));
  withElementOfSize(result->elementSize(), [&](auto element) {
    using T = decltype(element);
    T *out = result->as<T>();
    forEachChunk(operands, false, chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
      loadChunk<T>(static_cast<const uint64_t *>(inputs[0]), mask ? static_cast<const uint8_t *>(inputs[1]) : nullptr,
                   count, out);
      out += count;
    });
  });
  if (type.isBool()) // any byte but 0 is true
    for (int64_t i = 0; i < type.elementCount(); ++i)
      result->as<uint8_t>()[i] = result->as<uint8_t>()[i] != 0;
  Value found = valueOf(result);
  if (program.watcher)
    program.watcher->value(program, "load", found);
  if (options.isVolatile)
    noticeWaiting(pointer, found);
  return found;
}

void EagerBuilder::store(Value pointer, Value value, Value mask, const StoreOptions &options) {
  checkAccess("store", pointer, mask, Access::Write);
  llvm::SmallVector<const Buffer *, 3> operands = {&bufferOf(pointer), &bufferOf(value)};
  if (mask)
    operands.push_back(&bufferOf(mask));
  withElementOfSize(bufferOf(value).elementSize(), [&](auto element) {
    using T = decltype(element);
    forEachChunk(operands, false, chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
      storeChunk<T>(static_cast<const uint64_t *>(inputs[0]), mask ? static_cast<const uint8_t *>(inputs[2]) : nullptr,
                    static_cast<const T *>(inputs[1]), count);
    });
  });
}
