// The device's printf.
#include "simulator/Print.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nacre::simulator {

template <typename T> static std::string formatted(const std::string &specification, T value) {
  int length = std::snprintf(nullptr, 0, specification.c_str(), value);
  std::string text(static_cast<size_t>(std::max(length, 0)), '\0');
  std::snprintf(text.data(), text.size() + 1, specification.c_str(), value);
  return text;
}

PrintedText formatPrint(const std::string &format, const std::byte *buffer, size_t size,
                        const std::function<std::string(uint64_t)> &stringAt) {
  PrintedText printed;
  std::string &result = printed.text;
  size_t offset = 0;
  auto next = [&](size_t bytes) {
    uint64_t value = 0;
    offset = (offset + bytes - 1) / bytes * bytes;
    if (buffer && offset + bytes <= size)
      std::memcpy(&value, buffer + offset, bytes);
    offset += bytes;
    ++printed.arguments;
    return value;
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      result += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      result += '%';
      ++i;
      continue;
    }
    std::string specification = "%";
    size_t at = i + 1;
    bool isLong = false;
    for (; at < format.size() && std::strchr("-+ #0123456789.*hljztL", format[at]); ++at) {
      if (format[at] == '*')
        specification += std::to_string(static_cast<int32_t>(next(4)));
      else if (std::strchr("hljztL", format[at]))
        isLong |= std::strchr("ljzt", format[at]) != nullptr;
      else
        specification += format[at];
      if (specification.size() > 32)
        break;
    }
    char conversion = at < format.size() ? format[at] : '\0';
    switch (conversion) {
    case 'd':
    case 'i':
      result += formatted(specification + "lld", isLong ? static_cast<long long>(next(8))
                                                        : static_cast<long long>(static_cast<int32_t>(next(4))));
      break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      result +=
          formatted(specification + "ll" + conversion, static_cast<unsigned long long>(isLong ? next(8) : next(4)));
      break;
    case 'c':
      result += formatted(specification + "c", static_cast<int>(next(4)));
      break;
    case 'p':
      result += formatted(specification + "p", reinterpret_cast<void *>(next(8)));
      break;
    case 's':
      if (uint64_t address = next(8))
        result += formatted(specification + "s", stringAt(address).c_str());
      else
        result += formatted(specification + "s", "(null)");
      break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      uint64_t bits = next(8);
      double value;
      std::memcpy(&value, &bits, 8);
      result += formatted(specification + conversion, value);
      break;
    }
    default:
      result += format.substr(i, at - i + 1);
    }
    i = at;
  }
  return printed;
}

} // namespace nacre::simulator
