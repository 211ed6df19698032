// See Metrics.h.
#include "profiler/Metrics.h"
#include <stdexcept>

namespace nacre::profiler {

MetricName::MetricName(std::string_view name) : kind(Kind::Inclusive), shown(name) {
  for (auto [suffix, meant] : {std::pair{" (exc)", Kind::Exclusive}, std::pair{" (pty)", Kind::Property},
                               std::pair{"(exc)", Kind::Exclusive}, std::pair{"(pty)", Kind::Property}})
    if (shown.ends_with(suffix)) {
      shown.resize(shown.size() - std::char_traits<char>::length(suffix));
      kind = meant;
      return;
    }
}

MetricValue inItsType(std::string_view name, MetricValue value) {
  bool isFlops = name == "flops" || name == "flops8" || name == "flops16" || name == "flops32" || name == "flops64";
  if (auto *whole = std::get_if<int64_t>(&value); whole && isFlops)
    return static_cast<double>(*whole);
  if (auto *real = std::get_if<double>(&value); real && name == "bytes")
    return static_cast<int64_t>(*real);
  return value;
}

const char *typeName(size_t index) {
  constexpr const char *names[] = {"int64_t", "double", "std::vector<int64_t>", "std::vector<double>", "std::string"};
  return names[index];
}

namespace {

struct Combine {
  const MetricName &name;

  template <typename T> void operator()(T &into, const T &value) const {
    if constexpr (std::is_arithmetic_v<T>) {
      into += value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      into = value;
    } else {
      if (into.size() != value.size())
        throw std::invalid_argument("the metric '" + name.shown + "' has " + std::to_string(into.size()) +
                                    " elements, and was given " + std::to_string(value.size()));
      for (size_t i = 0; i < into.size(); ++i)
        into[i] += value[i];
    }
  }
  template <typename T, typename U> void operator()(T &, const U &) const {}
};

} // namespace

void combine(const MetricName &name, MetricValue &into, const MetricValue &value) {
  if (name.kind == MetricName::Kind::Property)
    into = value;
  else
    std::visit(Combine{name}, into, value);
}

bool isWork(std::string_view name) {
  return name == "bytes" || name.starts_with("flops") || name.starts_with("counted");
}

} // namespace nacre::profiler
