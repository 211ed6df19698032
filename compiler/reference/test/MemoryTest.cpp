// Loads, stores, masks, atomics, and the report of an access that leaves the known arrays.
#include "compiler/reference/test/Tiles.h"
#include <thread>

using namespace nacre;

namespace {
Value pointer(EagerBuilder &builder, Type element, const void *place) {
  return builder.scalarFromBits(Type::pointer(element), reinterpret_cast<uint64_t>(place));
}

TEST(Memory, LoadsAndStores) {
  EagerBuilder builder;
  std::vector<float> array(1200);
  for (size_t i = 0; i < array.size(); ++i)
    array[i] = static_cast<float>(i);
  std::vector<float> copy(array.size(), -1);
  Value values = builder.load(pointersTo(builder, float32(), array.data(), 1200), Value(), Value(), {});
  builder.store(pointersTo(builder, float32(), copy.data(), 1200), values, Value(), {});
  EXPECT_EQ(copy, array);
  // Backwards and by strides.
  Value base = builder.splat(pointer(builder, float32(), array.data()), {4});
  Value places = builder.addPointer(base, tile<int64_t>(int64(), {4}, {9, 6, 3, 0}));
  EXPECT_EQ(numbers<float>(builder.load(places, Value(), Value(), {})), (std::vector<float>{9, 6, 3, 0}));
  EXPECT_EQ(scalarOf<float>(builder.load(pointer(builder, float32(), &array[7]), Value(), Value(), {})), 7);
  builder.store(pointer(builder, float32(), &array[7]), builder.constantFloat(float32(), llvm::APFloat(0.5)), Value(),
                {});
  EXPECT_EQ(array[7], 0.5f);
}

// Lanes that the mask turns off have addresses that would crash.
TEST(Memory, MaskedLanesAreNotTouched) {
  EagerBuilder builder;
  int32_t array[2] = {5, 6};
  Value places =
      builder.cast(CastOp::IntToPointer,
                   tile<uint64_t>(uint64(), {4},
                                  {reinterpret_cast<uint64_t>(&array[0]), 0, reinterpret_cast<uint64_t>(&array[1]), 1}),
                   Type::block(Type::pointer(int32()), {4}));
  Value mask = masks({1, 0, 1, 0});
  EXPECT_EQ(numbers<int32_t>(builder.load(places, mask, Value(), {})), (std::vector<int32_t>{5, 0, 6, 0}));
  EXPECT_EQ(numbers<int32_t>(builder.load(places, mask, ints({1, 2, 3, 4}), {})), (std::vector<int32_t>{5, 2, 6, 4}));
  builder.store(places, ints({7, 8, 9, 10}), mask, {});
  EXPECT_EQ(array[0], 7);
  EXPECT_EQ(array[1], 9);
  Value none = masks({0, 0, 0, 0});
  EXPECT_EQ(numbers<int32_t>(builder.load(places, none, Value(), {})), (std::vector<int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(numbers<int32_t>(builder.atomic(AtomicOp::AddI, places, ints({1, 1, 1, 1}), mask, MemoryOrder::Relaxed,
                                            MemoryScope::GPU)),
            (std::vector<int32_t>{7, 0, 9, 0}));
}

TEST(Memory, BoolsAreBytes) {
  EagerBuilder builder;
  uint8_t bytes[3] = {0, 1, 200};
  Value values = builder.load(pointersTo(builder, int1(), bytes, 3), Value(), Value(), {});
  EXPECT_EQ(numbers<uint8_t>(values), (std::vector<uint8_t>{0, 1, 1}));
  builder.store(pointersTo(builder, int1(), bytes, 3), builder.unary(UnaryOp::Not, values), Value(), {});
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[2], 0);
}

TEST(Memory, FaultsSayWhere) {
  EagerBuilder builder;
  std::vector<int32_t> array(10), other(4);
  MemoryMap memory;
  auto place = [](const std::vector<int32_t> &list) { return reinterpret_cast<uint64_t>(list.data()); };
  memory.add(place(array), place(array) + 40, "x");
  memory.add(place(other), place(other) + 16, "y");
  builder.program.memory = &memory;
  builder.program.programId = {3, 1, 0};
  auto source = std::make_shared<SourceText>();
  source->fileName = "kernel.py";
  builder.setLocation({source, 12, 4, 12, 8});

  Value places = pointersTo(builder, int32(), array.data(), 10);
  EXPECT_NO_THROW(builder.load(places, Value(), Value(), {}));
  Value grid = builder.reshape(pointersTo(builder, int32(), array.data(), 12), {3, 4});
  try {
    builder.load(grid, Value(), Value(), {});
    FAIL() << "no fault";
  } catch (const MemoryFault &fault) {
    EXPECT_EQ(fault.address, place(array) + 40);
    EXPECT_EQ(fault.diagnostic.location.line, 12);
    const std::string &message = fault.diagnostic.message;
    EXPECT_NE(message.find("program (3, 1, 0): load of int32 out of bounds"), std::string::npos) << message;
    EXPECT_NE(message.find("just past the end of 'x'; 2 of 12 lanes, first (2, 2), (2, 3)"), std::string::npos)
        << message;
  }
  // Within the mask all is well; stores and atomics are checked too; nothing has been written by one that faults.
  Value mask = builder.compare(CompareOp::LtS, builder.reshape(builder.arange(0, 12), {3, 4}),
                               builder.splat(builder.scalarFromBits(int32(), 10), {3, 4}));
  EXPECT_NO_THROW(builder.load(grid, mask, Value(), {}));
  Value sevens = builder.splat(builder.scalarFromBits(int32(), 7), {3, 4});
  EXPECT_THROW(builder.store(grid, sevens, Value(), {}), MemoryFault);
  EXPECT_EQ(array, std::vector<int32_t>(10));
  EXPECT_THROW(builder.atomic(AtomicOp::AddI, grid, sevens, Value(), MemoryOrder::Relaxed, MemoryScope::GPU),
               MemoryFault);
  EXPECT_THROW(builder.load(pointer(builder, int32(), nullptr), Value(), Value(), {}), MemoryFault);
  EXPECT_NO_THROW(builder.store(grid, sevens, mask, {}));
  EXPECT_EQ(array, std::vector<int32_t>(10, 7));
}

TEST(Memory, PointersKeepToTheirArray) {
  EagerBuilder builder;
  std::vector<int32_t> both(20);
  auto begin = reinterpret_cast<uint64_t>(both.data());
  MemoryMap memory;
  uint32_t x = memory.add(begin, begin + 40, "x", begin + 8);
  memory.add(begin + 40, begin + 80, "y");
  builder.program.memory = &memory;
  Value base = pointer(builder, int32(), both.data() + 2);
  bufferOf(base).array = x;
  auto at = [&](int64_t offset) { return builder.addPointer(base, builder.scalarFromBits(int64(), offset)); };
  EXPECT_NO_THROW(builder.load(at(-2), Value(), Value(), {}));
  EXPECT_NO_THROW(builder.load(at(7), Value(), Value(), {}));
  auto message = [&](Value place) -> std::string {
    try {
      builder.store(place, builder.splat(builder.scalarFromBits(int32(), 1), place.type().shape()), Value(), {});
    } catch (const MemoryFault &fault) {
      return fault.diagnostic.message;
    }
    return "";
  };
  // The next element is y's.
  EXPECT_EQ(message(at(8)), "program (0, 0, 0): store of int32 out of bounds: element 8 of 'x' (valid: -2 to 7)");
  Value tile =
      builder.addPointer(builder.expandDims(builder.splat(base, {4}), 0), builder.expandDims(builder.arange(6, 10), 0));
  EXPECT_NE(
      message(builder.permute(tile, {1, 0})).find("element 8 of 'x' (valid: -2 to 7); 2 of 4 lanes, first (2, 0)"),
      std::string::npos);

  // An address made of a number may be anywhere in the process.
  Value number = builder.cast(CastOp::PointerToInt, at(8), int64());
  Value sum = builder.binary(BinaryOp::AddI, number, builder.scalarFromBits(int64(), 0));
  EXPECT_EQ(message(builder.cast(CastOp::IntToPointer, sum, base.type())), "");
  EXPECT_EQ(both[10], 1);
  Value nowhere = builder.cast(CastOp::IntToPointer, builder.scalarFromBits(int64(), 64), base.type());
  EXPECT_EQ(message(nowhere), "program (0, 0, 0): store of int32 at address 0x40, which is no memory of this process");
}

TEST(Memory, Atomics) {
  EagerBuilder builder;
  auto rmw = [&](AtomicOp op, auto start, auto operand, Type type) {
    auto place = start;
    Value value = builder.scalarFromBits(type, 0);
    std::memcpy(bufferOf(value).data, &operand, sizeof(operand));
    Value old = builder.atomic(op, pointer(builder, type, &place), value, Value(), MemoryOrder::AcquireRelease,
                               MemoryScope::GPU);
    EXPECT_EQ(scalarOf<decltype(start)>(old), start);
    return place;
  };
  EXPECT_EQ(rmw(AtomicOp::AddI, 5, 3, int32()), 8);
  EXPECT_EQ(rmw(AtomicOp::And, 6, 3, int32()), 2);
  EXPECT_EQ(rmw(AtomicOp::Or, 6, 3, int32()), 7);
  EXPECT_EQ(rmw(AtomicOp::Xor, 6, 3, int32()), 5);
  EXPECT_EQ(rmw(AtomicOp::Exchange, 6, 3, int32()), 3);
  EXPECT_EQ(rmw(AtomicOp::MaxS, -6, 3, int32()), 3);
  EXPECT_EQ(rmw(AtomicOp::MaxU, -6, 3, uint32()), -6);
  EXPECT_EQ(rmw(AtomicOp::MinS, -6, 3, int32()), -6);
  EXPECT_EQ(rmw(AtomicOp::MinU, -6, 3, uint32()), 3);
  EXPECT_EQ(rmw(AtomicOp::AddI, int64_t(1) << 40, int64_t(1), int64()), (int64_t(1) << 40) + 1);
  EXPECT_EQ(rmw(AtomicOp::AddF, 1.5f, 2.0f, float32()), 3.5f);
  EXPECT_EQ(rmw(AtomicOp::AddF, 1.5, 2.0, float64()), 3.5);
  EXPECT_EQ(rmw(AtomicOp::MaxF, -1.5f, -2.0f, float32()), -1.5f);
  EXPECT_EQ(rmw(AtomicOp::MinF, -1.5f, -2.0f, float32()), -2.0f);
  EXPECT_EQ(rmw(AtomicOp::AddF, uint16_t(0x3C00), uint16_t(0x4000), float16()), 0x4200); // 1 + 2 = 3
  int32_t place = 4;
  auto cas = [&](int32_t expected, int32_t desired) {
    return scalarOf<int32_t>(
        builder.atomicCas(pointer(builder, int32(), &place), builder.scalarFromBits(int32(), expected),
                          builder.scalarFromBits(int32(), desired), MemoryOrder::AcquireRelease, MemoryScope::GPU));
  };
  EXPECT_EQ(cas(3, 9), 4);
  EXPECT_EQ(place, 4);
  EXPECT_EQ(cas(4, 9), 4);
  EXPECT_EQ(place, 9);
}

TEST(Memory, AtomicsAcrossThreads) {
  float sum = 0;
  int32_t count = 0;
  auto work = [&] {
    EagerBuilder builder;
    Value sums = builder.splat(pointer(builder, float32(), &sum), {64}),
          counts = builder.splat(pointer(builder, int32(), &count), {64});
    Value ones = builder.splat(builder.constantFloat(float32(), llvm::APFloat(1.0)), {64}),
          one = builder.splat(builder.scalarFromBits(int32(), 1), {64});
    for (int i = 0; i < 200; ++i) {
      builder.atomic(AtomicOp::AddF, sums, ones, Value(), MemoryOrder::Relaxed, MemoryScope::GPU);
      builder.atomic(AtomicOp::AddI, counts, one, Value(), MemoryOrder::Relaxed, MemoryScope::GPU);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  EXPECT_EQ(sum, 25600.0f);
  EXPECT_EQ(count, 25600);
}
} // namespace
