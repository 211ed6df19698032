// See KernelEvents.h. The fields stand one after the other, each ended by the mark; those at the end may be left out.
#include "compiler/ir/tile/KernelEvents.h"
#include <charconv>

std::string nacre::encodeEvent(const EventHead &head) {
  std::string text(1, eventMark);
  for (std::string_view field : {head.kind, head.name, head.file})
    text.append(field).push_back(eventMark);
  return text + std::to_string(head.line) + eventMark + std::to_string(head.column) + eventMark;
}

std::optional<nacre::EventHead> nacre::decodeEvent(std::string_view prefix) {
  if (prefix.empty() || prefix.front() != eventMark)
    return std::nullopt;
  prefix.remove_prefix(1);
  auto next = [&] {
    std::string_view field = prefix.substr(0, prefix.find(eventMark));
    prefix.remove_prefix(std::min(prefix.size(), field.size() + 1));
    return field;
  };
  auto number = [&] {
    std::string_view field = next();
    uint32_t value = 0;
    std::from_chars(field.data(), field.data() + field.size(), value);
    return value;
  };
  EventHead head;
  head.kind = next();
  head.name = next();
  head.file = next();
  head.line = number();
  head.column = number();
  return head;
}
