// Arrays as memory: which addresses are elements of a view.
#include "sanitizer/Finding.h"
#include <algorithm>

namespace nacre::sanitizer {

// A view that leaves memory out is known by its strides, outermost first, as long as no row reaches into the next.
void Array::prepare() {
  axes.clear();
  isDense = true;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 1 && strides[axis] != 0)
      axes.emplace_back(static_cast<uint64_t>(std::abs(strides[axis])), static_cast<uint64_t>(shape[axis]));
  std::sort(axes.begin(), axes.end(), std::greater<>());
  uint64_t reach = itemSize;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->first < reach) { // elements overlap: the whole range is taken
      isDense = true;
      return;
    }
    isDense &= axis->first == reach;
    reach = axis->first * (axis->second - 1) + reach;
  }
}

bool Array::contains(uint64_t address, uint64_t size) const {
  if (address < begin || address > end || size > end - address)
    return false;
  if (isDense)
    return true;
  auto isElement = [&](uint64_t at) {
    uint64_t rest = at - begin;
    for (const auto &[stride, extent] : axes) {
      uint64_t index = std::min(rest / stride, extent - 1);
      rest -= index * stride;
    }
    return rest < itemSize;
  };
  for (uint64_t at = address; at < address + size; at += itemSize)
    if (!isElement(at))
      return false;
  return isElement(address + size - 1);
}

const Array *LaunchFacts::arrayOf(int32_t argument) const {
  if (argument < 0 || static_cast<size_t>(argument) >= ofArgument.size() ||
      ofArgument[static_cast<size_t>(argument)] < 0)
    return nullptr;
  return &arrays[static_cast<size_t>(ofArgument[static_cast<size_t>(argument)])];
}

const Array *LaunchFacts::nearest(uint64_t address) const {
  constexpr uint64_t near = uint64_t(1) << 20;
  const Array *best = nullptr;
  uint64_t least = near;
  for (const Array &array : arrays) {
    uint64_t gap = address >= array.end ? address - array.end + 1 : address < array.begin ? array.begin - address : 0;
    if (gap < least) {
      least = gap;
      best = &array;
    }
  }
  return best;
}

} // namespace nacre::sanitizer
