// Loads, stores, and the check of addresses against the known arrays. Masked-off lanes are never touched.
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/Loops.h"
#include "compiler/reference/Vectorised.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace nacre;

namespace {
constexpr int64_t chunk = ChunkReader::chunk;

// The element addresses of a chunk follow one another.
bool areConsecutive(const uint64_t *addresses, int64_t count, uint64_t size) {
  uint64_t difference = 0;
  uint64_t first = addresses[0];
  vectorised([&]() NACRE_LOOP {
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

// The multi-index of a lane, as "(3, 17)"; nothing for a scalar.
std::string laneName(Shape shape, int64_t position) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  std::string text = "(";
  for (size_t axis = 0; axis < index.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(index[axis]);
  return text + ")";
}
} // namespace

void EagerBuilder::checkAccess(llvm::StringRef what, const Value &pointer, const Value &mask, Access access) {
  if (!program.memory)
    return;
  Buffer &addresses = bufferOf(pointer);
  const MemoryMap::Range *own = program.memory->numbered(addresses.array);
  bool mayBeAnywhere = !own && (program.leadsAnywhere || !program.memory->isComplete);
  uint64_t size = pointeeOf(pointer.type()).byteSize();
  llvm::SmallVector<const Buffer *, 2> operands = {&addresses};
  if (mask)
    operands.push_back(&bufferOf(mask));

  constexpr int64_t shownLanes = 4;
  int64_t position = 0, faults = 0;
  uint64_t firstAddress = 0;
  llvm::SmallVector<int64_t, shownLanes> lanes;
  uint64_t knownBegin = own ? own->begin : 1, knownEnd = own ? own->end : 0; // the range found last
  auto isKnown = [&](uint64_t address, uint64_t bytes) {
    return address >= knownBegin && address <= knownEnd && bytes <= knownEnd - address;
  };
  bool isForbidden = own && own->isReadOnly && access == Access::Write;
  auto isAllowed = [&](uint64_t address, uint64_t bytes) {
    if (isForbidden)
      return false;
    if (isKnown(address, bytes))
      return true;
    if (own)
      return false;
    if (const MemoryMap::Range *range = program.memory->find(address, bytes)) {
      knownBegin = range->begin;
      knownEnd = range->end;
      return true;
    }
    if (!mayBeAnywhere)
      return false;
    bool forWriting = access == Access::Write;
    return faults == 0 ? processMemory.allows(address, bytes, forWriting)
                       : processMemory.knows(address, bytes, forWriting);
  };
  forEachChunk(operands, false, chunk, [&](llvm::ArrayRef<const void *> inputs, int64_t count) {
    auto *address = static_cast<const uint64_t *>(inputs[0]);
    auto *enabled = mask ? static_cast<const uint8_t *>(inputs[1]) : nullptr;
    bool isOneRun = (!enabled || countTrue(enabled, count) == count) && areConsecutive(address, count, size);
    if (isOneRun && isAllowed(address[0], count * size)) {
      position += count;
      return;
    }
    for (int64_t i = 0; i < count; ++i, ++position) {
      if ((enabled && !enabled[i]) || isAllowed(address[i], size))
        continue;
      if (faults++ == 0)
        firstAddress = address[i];
      if (lanes.size() < static_cast<size_t>(shownLanes))
        lanes.push_back(position);
    }
  });
  if (faults == 0)
    return;

  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.location = location();
  diagnostic.message =
      llvm::formatv("program {0}: {1} of {2} ", programName(), what, pointeeOf(pointer.type()).str()).str();
  if (isForbidden) {
    diagnostic.message += "to '" + own->name + "', which is a read-only array";
  } else if (own) {
    diagnostic.message += "out of bounds: " + own->describe(firstAddress, size);
  } else if (mayBeAnywhere) {
    bool isMapped = processMemory.allows(firstAddress, size, /*forWriting=*/false);
    diagnostic.message += llvm::formatv("at address {0:x}, which is {1}", firstAddress,
                                        isMapped ? "read-only memory" : "no memory of this process");
  } else {
    std::string where = program.memory->describe(firstAddress);
    diagnostic.message += llvm::formatv("out of bounds at address {0:x}", firstAddress);
    if (!where.empty())
      diagnostic.message += ", " + where;
  }
  if (addresses.type.isBlock()) {
    diagnostic.message += llvm::formatv("; {0} of {1} lanes, first ", faults, addresses.count()).str();
    for (size_t i = 0; i < lanes.size(); ++i)
      diagnostic.message += (i ? ", " : "") + laneName(addresses.shape(), lanes[i]);
  }
  if (!isForbidden)
    diagnostic.hint =
        mask ? "the mask lets these lanes through"
             : "a mask (boundary_check, with a block pointer) keeps lanes out of memory that is not the array's";
  program.fault = ProgramFault{ProgramFault::Kind::Memory, program.programId, ""};
  throw MemoryFault(std::move(diagnostic), firstAddress);
}

Value EagerBuilder::addPointer(Value pointer, Value offset) {
  Buffer &addresses = bufferOf(pointer), &offsets = bufferOf(offset);
  // Wrapping unsigned arithmetic on sign-extended offsets.
  uint64_t size = pointeeOf(pointer.type()).byteSize();
  auto compute = [&](uint64_t *out, llvm::ArrayRef<const void *> inputs, int64_t count) {
    auto *base = static_cast<const uint64_t *>(inputs[0]);
    if (offsets.elementSize() == 4) {
      auto *steps = static_cast<const int32_t *>(inputs[1]);
      vectorised([=]() NACRE_LOOP {
        for (int64_t i = 0; i < count; ++i)
          out[i] = base[i] + static_cast<uint64_t>(static_cast<int64_t>(steps[i])) * size;
      });
    } else {
      auto *steps = static_cast<const uint64_t *>(inputs[1]);
      vectorised([=]() NACRE_LOOP {
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
