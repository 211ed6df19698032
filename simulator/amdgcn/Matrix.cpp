// Matrix instructions: MFMA of CDNA, WMMA of RDNA.
//
// D = A B + C for one or several blocks of M x K by K x N. Which lane and register holds which element:
// - MFMA, A (and B with N for M): lane l holds row l % M of block l / M % blocks, and of that row a run of elements
// that
//   begins at k = (elements a lane) * (l / (M * blocks)).
// - MFMA, C and D: lane l holds column l % N. Its registers are groups of four rows; lanes that hold the same column
//   take groups in turn. Where a block fills the lanes more than once, the next block follows in the next registers;
//   4 x 4 blocks lie side by side in the lanes. With doubles a group is one row.
// - WMMA of gfx11: lanes 0 to 15 hold rows of A with all of K, lanes 16 to 31 the same again; lane l of C holds column
//   l % 16 and the rows of parity l / 16. WMMA of gfx12: the halves of the wave hold halves of K, and of the rows of C.
// Products are added in float (integers: exactly, modulo 2^32), k ascending; the hardware's order is not documented.
#include "simulator/amdgcn/Lanes.h"
#include <utility>

namespace nacre::simulator::amdgcn {
namespace {

enum class Element : uint8_t { F64, F32, XF32, F16, BF16, I8, U8, FP8, BF8 };
unsigned bytesOf(Element element) {
  switch (element) {
  case Element::F64:
    return 8;
  case Element::F32:
  case Element::XF32:
    return 4;
  case Element::F16:
  case Element::BF16:
    return 2;
  default:
    return 1;
  }
}

struct Shape {
  unsigned m, n, k, blocks;
  Element a, b;
};

// Registers of an operand, a lane's bytes one after another.
struct Registers {
  std::vector<std::array<uint32_t, maxLanes>> words;
  double at(const Wave &wave, unsigned lane, unsigned element, Element format) const {
    unsigned bytes = bytesOf(format), place = element * bytes;
    uint32_t word = words.at(place / 4)[lane] >> (8 * (place % 4));
    switch (format) {
    case Element::F64:
      return std::bit_cast<double>(words[place / 4][lane] | uint64_t(words.at(place / 4 + 1)[lane]) << 32);
    case Element::F32:
      return std::bit_cast<float>(word);
    case Element::XF32: { // ten bits of fraction
      uint32_t rounded = word + 0xfff + (word >> 13 & 1);
      return std::bit_cast<float>((word & 0x7f800000) == 0x7f800000 ? word : rounded & ~0x1fffu);
    }
    case Element::F16:
      return toFloat(Half{static_cast<uint16_t>(word)});
    case Element::BF16:
      return toFloat(Bfloat{static_cast<uint16_t>(word)});
    case Element::I8:
      return static_cast<int8_t>(word);
    case Element::U8:
      return static_cast<uint8_t>(word);
    case Element::FP8:
    case Element::BF8: {
      bool open = wave.launch->processor->name != "gfx942", three = format == Element::FP8;
      return fromFloat8(static_cast<uint8_t>(word),
                        open ? (three ? Float8::E4M3 : Float8::E5M2) : (three ? Float8::E4M3Fnuz : Float8::E5M2Fnuz));
    }
    }
    return 0;
  }
};

Registers readRegisters(Wave &wave, const Instruction &instruction, unsigned index, unsigned count) {
  Registers registers;
  registers.words.resize(count);
  const Operand &operand = instruction.operands.at(index);
  if (operand.is(Operand::Vector) && operand.words != count)
    wave.refuse("it has " + std::to_string(operand.words) + " registers where " + std::to_string(count) +
                " were expected");
  for (unsigned word = 0; word < count; ++word) {
    uint32_t buffer[maxLanes];
    const uint32_t *row = buffer;
    if (operand.is(Operand::Vector))
      row = wave.row(instruction, index, word, buffer);
    else
      std::fill_n(buffer, maxLanes, wave.read(operand));
    std::copy_n(row, maxLanes, registers.words[word].begin());
  }
  return registers;
}

// Where an element of the result lies: lane and register.
struct Position {
  unsigned lane, element;
};
Position resultOfMfma(const Shape &shape, unsigned block, unsigned row, unsigned column, unsigned groupRows) {
  if (shape.m == 4 && groupRows == 1) // doubles, 4 x 4 x 4 in four blocks
    return {16 * row + 4 * block + column, 0};
  if (shape.m == 4)
    return {4 * block + column, row};
  unsigned lanesOfColumn = 64 / shape.n, perRound = groupRows * lanesOfColumn;
  unsigned lane = column + shape.n * (row / groupRows % lanesOfColumn);
  unsigned elementsOfBlock = shape.m / lanesOfColumn;
  return {lane, elementsOfBlock * block + groupRows * (row / perRound) + row % groupRows};
}

// A row of A or a column of B, as the numbers that are multiplied.
template <typename Sum> using Factor = std::conditional_t<std::is_integral_v<Sum>, int32_t, Sum>;
template <typename Sum, typename F> std::vector<Factor<Sum>> factors(unsigned lines, unsigned k, F element) {
  std::vector<Factor<Sum>> values(size_t(lines) * k);
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned i = 0; i < k; ++i)
      values[size_t(line) * k + i] = static_cast<Factor<Sum>>(element(line, i));
  return values;
}
// The sum of products: of floats rounded at every step, of integers wrapped.
template <typename Sum> Sum product(Sum sum, unsigned k, const Factor<Sum> *a, const Factor<Sum> *b) {
  for (unsigned i = 0; i < k; ++i) {
    if constexpr (std::is_integral_v<Sum>)
      sum += static_cast<Sum>(a[i] * b[i]);
    else
      sum = std::fma(a[i], b[i], sum);
  }
  return sum;
}

template <typename Sum> void mfma(Wave &wave, const Instruction &instruction, const Shape &shape) {
  constexpr unsigned wordsOfSum = sizeof(Sum) / 4;
  if (wave.exec() != wave.all())
    wave.refuse("it is simulated with all lanes active only");
  if (instruction.broadcastSize || instruction.broadcastBlock)
    wave.refuse("broadcasts of A (cbsz, abid) are not simulated");
  if (instruction.permutation && !std::is_same_v<Sum, double>)
    wave.refuse("permutations of B (blgp) are not simulated");
  unsigned groupsOfA = 64 / (shape.m * shape.blocks), groupsOfB = 64 / (shape.n * shape.blocks);
  unsigned perLaneA = shape.k / groupsOfA, perLaneB = shape.k / groupsOfB;
  unsigned results = shape.m * shape.n * shape.blocks / 64;
  Registers a = readRegisters(wave, instruction, 1, perLaneA * bytesOf(shape.a) / 4);
  Registers b = readRegisters(wave, instruction, 2, perLaneB * bytesOf(shape.b) / 4);
  uint64_t inputs = std::exchange(wave.tainted, 0);
  Registers c = readRegisters(wave, instruction, 3, results * wordsOfSum);
  // A lane of undefined input makes a row or a column of the result undefined: it is said of all lanes.
  if (inputs)
    wave.tainted = ~0ull;
  const Operand &result = instruction.operands[0];
  std::vector<std::array<uint32_t, maxLanes>> words(results * wordsOfSum);
  auto signOf = [&](unsigned bit) { return (instruction.permutation >> bit & 1) ? -1.0 : 1.0; };
  for (unsigned block = 0; block < shape.blocks; ++block) {
    auto rowsOfA = factors<Sum>(shape.m, shape.k, [&](unsigned row, unsigned k) {
      unsigned lane = row + shape.m * block + shape.m * shape.blocks * (k / perLaneA);
      return signOf(0) * a.at(wave, lane, k % perLaneA, shape.a);
    });
    auto columnsOfB = factors<Sum>(shape.n, shape.k, [&](unsigned column, unsigned k) {
      unsigned lane = column + shape.n * block + shape.n * shape.blocks * (k / perLaneB);
      return signOf(1) * b.at(wave, lane, k % perLaneB, shape.b);
    });
    for (unsigned row = 0; row < shape.m; ++row)
      for (unsigned column = 0; column < shape.n; ++column) {
        Position to = resultOfMfma(shape, block, row, column, std::is_same_v<Sum, double> ? 1 : 4);
        Sum sum{};
        uint32_t bits[wordsOfSum];
        for (unsigned word = 0; word < wordsOfSum; ++word)
          bits[word] = c.words[to.element * wordsOfSum + word][to.lane];
        std::memcpy(&sum, bits, sizeof sum);
        if (const Operand &start = instruction.operands[3]; !start.is(Operand::Vector))
          sum = std::bit_cast<Sum>(constantBits<Sum>(start));
        if constexpr (std::is_same_v<Sum, double>)
          sum = (instruction.permutation & 4) ? -sum : sum;
        sum = product(sum, shape.k, &rowsOfA[size_t(row) * shape.k], &columnsOfB[size_t(column) * shape.k]);
        std::memcpy(bits, &sum, sizeof sum);
        for (unsigned word = 0; word < wordsOfSum; ++word)
          words[to.element * wordsOfSum + word][to.lane] = bits[word];
      }
  }
  for (unsigned word = 0; word < words.size(); ++word)
    wave.setRow(result.index + word, words[word].data());
}

template <typename Sum, unsigned m, unsigned n, unsigned k, unsigned blocks, Element a, Element b = a>
void mfmaOf(Wave &wave, const Instruction &instruction) {
  mfma<Sum>(wave, instruction, {m, n, k, blocks, a, b});
}

// Signs of integer operands: neg_lo of the first two sources means signed.
Element signedAs(Element element, const Instruction &instruction, unsigned source) {
  return element == Element::U8 && (instruction.negativeLow >> source & 1) ? Element::I8 : element;
}

template <typename Result, Element formatOfA, Element formatOfB = formatOfA>
void wmma(Wave &wave, const Instruction &instruction) {
  if (wave.lanes != 32)
    wave.refuse("it is simulated for waves of 32 lanes");
  if (wave.exec() != wave.all())
    wave.refuse("it is simulated with all lanes active only");
  using Sum = std::conditional_t<std::is_same_v<Result, uint32_t>, uint32_t, float>;
  constexpr unsigned size = 16;
  bool halves = wave.launch->processor->generation >= 12; // of K and of the rows of C
  constexpr bool isSmall = sizeof(Result) == 2;
  unsigned perLane = halves ? size / 2 : size;
  unsigned resultWords = isSmall && halves ? 4 : 8;
  bool high = isSmall && !halves && (instruction.opSel & 4);
  Registers a = readRegisters(wave, instruction, 1, perLane * bytesOf(formatOfA) / 4);
  Registers b = readRegisters(wave, instruction, 2, perLane * bytesOf(formatOfB) / 4);
  uint64_t inputs = std::exchange(wave.tainted, 0);
  Registers c = readRegisters(wave, instruction, 3, resultWords);
  if (inputs)
    wave.tainted = ~0ull;
  if (instruction.negativeHigh || (instruction.negativeLow && bytesOf(formatOfA) != 1))
    wave.refuse("signs of its sources are not simulated");
  if (instruction.clamp)
    wave.refuse("clamping of its result is not simulated");
  Element asA = signedAs(formatOfA, instruction, 0), asB = signedAs(formatOfB, instruction, 1);
  unsigned result = instruction.operands[0].index;
  std::vector<std::array<uint32_t, maxLanes>> words(resultWords);
  for (unsigned word = 0; word < resultWords; ++word)
    std::copy_n(wave.vector[result + word], maxLanes, words[word].begin());
  auto linesOf = [&](const Registers &registers, Element format) {
    return factors<Sum>(size, size, [&](unsigned line, unsigned k) {
      return registers.at(wave, line + size * (k / perLane), k % perLane, format);
    });
  };
  auto rowsOfA = linesOf(a, asA), columnsOfB = linesOf(b, asB);
  for (unsigned row = 0; row < size; ++row)
    for (unsigned column = 0; column < size; ++column) {
      unsigned lane = column + size * (halves ? row / 8 : row % 2), element = halves ? row % 8 : row / 2;
      unsigned word = isSmall && halves ? element / 2 : element;
      unsigned shift = isSmall && ((halves && element % 2) || high) ? 16 : 0;
      uint32_t start = c.words[word][lane] >> shift;
      const Operand &startOperand = instruction.operands[3];
      if (!startOperand.is(Operand::Vector))
        start = constantBits<Result>(startOperand);
      Sum sum{};
      if constexpr (isSmall)
        sum = toFloat(Result{static_cast<uint16_t>(start)});
      else
        sum = std::bit_cast<Sum>(start);
      sum = product(sum, size, &rowsOfA[size_t(row) * size], &columnsOfB[size_t(column) * size]);
      if constexpr (isSmall)
        words[word][lane] = (words[word][lane] & ~(0xffffu << shift)) | uint32_t(toBits<Result>(sum)) << shift;
      else
        words[word][lane] = std::bit_cast<uint32_t>(sum);
    }
  for (unsigned word = 0; word < resultWords; ++word)
    wave.setRow(result + word, words[word].data());
}

// gfx90a writes formats without an underscore and calls the second bf16 family _1k.
#define MFMA(now, old, ...)                                                                                            \
  {"v_mfma_" now, mfmaOf<__VA_ARGS__>}, { "v_mfma_" old, mfmaOf<__VA_ARGS__> }
#define EIGHTS(shape, m, n, k)                                                                                         \
  {"v_mfma_f32_" shape "_fp8_fp8", mfmaOf<float, m, n, k, 1, Element::FP8, Element::FP8>},                             \
      {"v_mfma_f32_" shape "_fp8_bf8", mfmaOf<float, m, n, k, 1, Element::FP8, Element::BF8>},                         \
      {"v_mfma_f32_" shape "_bf8_fp8", mfmaOf<float, m, n, k, 1, Element::BF8, Element::FP8>}, {                       \
    "v_mfma_f32_" shape "_bf8_bf8", mfmaOf<float, m, n, k, 1, Element::BF8, Element::BF8>                              \
  }
constexpr HandlerRow rows[] = {
    MFMA("f32_32x32x1_2b_f32", "f32_32x32x1f32", float, 32, 32, 1, 2, Element::F32),
    MFMA("f32_16x16x1_4b_f32", "f32_16x16x1f32", float, 16, 16, 1, 4, Element::F32),
    MFMA("f32_4x4x1_16b_f32", "f32_4x4x1f32", float, 4, 4, 1, 16, Element::F32),
    MFMA("f32_32x32x2_f32", "f32_32x32x2f32", float, 32, 32, 2, 1, Element::F32),
    MFMA("f32_16x16x4_f32", "f32_16x16x4f32", float, 16, 16, 4, 1, Element::F32),
    MFMA("f32_32x32x4_2b_f16", "f32_32x32x4f16", float, 32, 32, 4, 2, Element::F16),
    MFMA("f32_16x16x4_4b_f16", "f32_16x16x4f16", float, 16, 16, 4, 4, Element::F16),
    MFMA("f32_4x4x4_16b_f16", "f32_4x4x4f16", float, 4, 4, 4, 16, Element::F16),
    MFMA("f32_32x32x8_f16", "f32_32x32x8f16", float, 32, 32, 8, 1, Element::F16),
    MFMA("f32_16x16x16_f16", "f32_16x16x16f16", float, 16, 16, 16, 1, Element::F16),
    MFMA("f32_32x32x4_2b_bf16", "f32_32x32x4bf16_1k", float, 32, 32, 4, 2, Element::BF16),
    MFMA("f32_16x16x4_4b_bf16", "f32_16x16x4bf16_1k", float, 16, 16, 4, 4, Element::BF16),
    MFMA("f32_4x4x4_16b_bf16", "f32_4x4x4bf16_1k", float, 4, 4, 4, 16, Element::BF16),
    MFMA("f32_32x32x8_bf16", "f32_32x32x8bf16_1k", float, 32, 32, 8, 1, Element::BF16),
    MFMA("f32_16x16x16_bf16", "f32_16x16x16bf16_1k", float, 16, 16, 16, 1, Element::BF16),
    MFMA("i32_32x32x4_2b_i8", "i32_32x32x4i8", uint32_t, 32, 32, 4, 2, Element::I8),
    MFMA("i32_16x16x4_4b_i8", "i32_16x16x4i8", uint32_t, 16, 16, 4, 4, Element::I8),
    MFMA("i32_4x4x4_16b_i8", "i32_4x4x4i8", uint32_t, 4, 4, 4, 16, Element::I8),
    MFMA("i32_32x32x8_i8", "i32_32x32x8i8", uint32_t, 32, 32, 8, 1, Element::I8),
    MFMA("i32_16x16x16_i8", "i32_16x16x16i8", uint32_t, 16, 16, 16, 1, Element::I8),
    MFMA("i32_32x32x16_i8", "i32_32x32x16i8", uint32_t, 32, 32, 16, 1, Element::I8),
    MFMA("i32_16x16x32_i8", "i32_16x16x32i8", uint32_t, 16, 16, 32, 1, Element::I8),
    MFMA("f64_16x16x4_f64", "f64_16x16x4f64", double, 16, 16, 4, 1, Element::F64),
    MFMA("f64_4x4x4_4b_f64", "f64_4x4x4f64", double, 4, 4, 4, 4, Element::F64),
    {"v_mfma_f32_32x32x4_xf32", mfmaOf<float, 32, 32, 4, 1, Element::XF32>},
    {"v_mfma_f32_16x16x8_xf32", mfmaOf<float, 16, 16, 8, 1, Element::XF32>},
    EIGHTS("32x32x16", 32, 32, 16),
    EIGHTS("16x16x32", 16, 16, 32),
    {"v_mfma_f32_32x32x16_f16", mfmaOf<float, 32, 32, 16, 1, Element::F16>},
    {"v_mfma_f32_16x16x32_f16", mfmaOf<float, 16, 16, 32, 1, Element::F16>},
    {"v_mfma_f32_32x32x16_bf16", mfmaOf<float, 32, 32, 16, 1, Element::BF16>},
    {"v_mfma_f32_16x16x32_bf16", mfmaOf<float, 16, 16, 32, 1, Element::BF16>},
    {"v_mfma_i32_32x32x32_i8", mfmaOf<uint32_t, 32, 32, 32, 1, Element::I8>},
    {"v_mfma_i32_16x16x64_i8", mfmaOf<uint32_t, 16, 16, 64, 1, Element::I8>},
    {"v_wmma_f32_16x16x16_f16", wmma<float, Element::F16>},
    {"v_wmma_f32_16x16x16_bf16", wmma<float, Element::BF16>},
    {"v_wmma_f16_16x16x16_f16", wmma<Half, Element::F16>},
    {"v_wmma_bf16_16x16x16_bf16", wmma<Bfloat, Element::BF16>},
    {"v_wmma_i32_16x16x16_iu8", wmma<uint32_t, Element::U8>},
    {"v_wmma_f32_16x16x16_fp8_fp8", wmma<float, Element::FP8>},
    {"v_wmma_f32_16x16x16_fp8_bf8", wmma<float, Element::FP8, Element::BF8>},
    {"v_wmma_f32_16x16x16_bf8_fp8", wmma<float, Element::BF8, Element::FP8>},
    {"v_wmma_f32_16x16x16_bf8_bf8", wmma<float, Element::BF8>},
};
#undef MFMA
#undef EIGHTS

} // namespace

void addMatrixHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
