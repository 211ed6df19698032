// The text form of linear layouts; LinearLayout.h describes it.
#include "compiler/ir/layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>

namespace nacre {
namespace {

// Reads a text from its front.
class Reader {
public:
  explicit Reader(llvm::StringRef text) : rest(text) {}

  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::optional<uint32_t> number() {
    rest = rest.ltrim();
    uint32_t value;
    if (rest.empty() || rest.front() < '0' || rest.front() > '9' || rest.consumeInteger(10, value))
      return std::nullopt;
    return value;
  }
  bool atEnd() { return (rest = rest.ltrim()).empty(); }
  llvm::StringRef left() const { return rest; }

  // The letter of an axis with its coordinate behind it, or none.
  std::optional<unsigned> axis(unsigned rank) {
    rest = rest.ltrim();
    if (rest.size() < 2 || rest[1] < '0' || rest[1] > '9' || rest[0] < 'a' || rest[0] >= static_cast<char>('a' + rank))
      return std::nullopt;
    auto result = static_cast<unsigned>(rest[0] - 'a');
    rest = rest.drop_front();
    return result;
  }

private:
  llvm::StringRef rest;
};

} // namespace

void LinearLayout::print(llvm::raw_ostream &stream) const {
  stream << '[';
  for (unsigned axis = 0; axis < rank(); ++axis)
    stream << (axis ? ", " : "") << extent(axis);
  stream << ']';
  for (Place place : allPlaces) {
    if (!bits(place))
      continue;
    stream << ' ' << nameOf(place);
    for (uint32_t basis : basesOf(place)) {
      const char *separator = " ";
      for (unsigned axis = 0; axis < rank(); ++axis)
        if (uint32_t along = coordinate(basis, axis)) {
          stream << separator << static_cast<char>('a' + axis) << along;
          separator = "+";
        }
      if (!basis)
        stream << " 0";
    }
  }
}

std::string LinearLayout::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  print(stream);
  return result;
}

std::optional<LinearLayout> LinearLayout::parse(llvm::StringRef text, std::string *error) {
  Reader reader(text);
  auto fail = [&](const char *reason) {
    if (error)
      *error = reason + (reader.atEnd() ? std::string(" at the end") : " at '" + reader.left().str() + "'");
    return std::nullopt;
  };
  if (!reader.take("["))
    return fail("a layout begins with its extents in brackets");
  llvm::SmallVector<unsigned> axisBits;
  unsigned sum = 0;
  while (!reader.take("]")) {
    if (!axisBits.empty() && !reader.take(","))
      return fail("expected a comma or a closing bracket");
    std::optional<uint32_t> extent = reader.number();
    if (!extent || !std::has_single_bit(*extent))
      return fail("an extent is a power of two");
    axisBits.push_back(static_cast<unsigned>(std::countr_zero(*extent)));
    sum += axisBits.back();
    if (sum > 31 || axisBits.size() > 26)
      return fail("a tile has at most 26 axes and 2^31 elements");
  }
  LinearLayout result(axisBits);
  for (Place place : allPlaces) {
    if (!reader.take(nameOf(place)))
      continue;
    while (true) {
      uint32_t basis = 0;
      if (reader.take("0")) {
        result.add(place, 0);
      } else if (std::optional<unsigned> axis = reader.axis(result.rank())) {
        while (true) {
          std::optional<uint32_t> along = reader.number();
          if (!along || !*along || *along >= result.extent(*axis) || result.coordinate(basis, *axis))
            return fail("a coordinate lies within its axis and is given once");
          basis |= *along << result.shiftOf(*axis);
          if (!reader.take("+"))
            break;
          if (!(axis = reader.axis(result.rank())))
            return fail("expected an axis and a coordinate after '+'");
        }
        result.add(place, basis);
      } else {
        break;
      }
      if (result.inputBits() > 32)
        return fail("a layout has at most 32 input bits");
    }
    if (!result.bits(place))
      return fail("expected bases");
  }
  if (!reader.atEnd())
    return fail("expected a place (register, lane, warp, offset, block) with its bases, in this order, or a basis");
  return result;
}

} // namespace nacre
