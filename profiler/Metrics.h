// Metrics of frames: named numbers, and lists of numbers, that add up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nacre::profiler {

using MetricValue = std::variant<int64_t, double, std::vector<int64_t>, std::vector<double>, std::string>;
using Metrics = std::map<std::string, MetricValue, std::less<>>;

// What the name of a metric says besides: "bytes" and "bytes (inc)" are summed to parents, "size (exc)" belongs to its
// own frame, "config (pty)" is the last value given.
struct MetricName {
  enum class Kind { Inclusive, Exclusive, Property };
  Kind kind;
  std::string shown; // without (exc) and (pty)
  explicit MetricName(std::string_view name);
};

// The value as its name wants it: flops are floats, bytes are whole numbers.
MetricValue inItsType(std::string_view name, MetricValue value);
// Whether it says how much a kernel does: bytes, flops, and who counted them.
bool isWork(std::string_view name);
// Of a place in MetricValue, as Proton's errors call it: "int64_t" (of whole numbers), "double",
// "std::vector<double>".
const char *typeName(size_t index);
// Adds a value of the same type, element by element; a property is replaced by one of any type. Throws
// std::invalid_argument, naming the metric, where lengths differ.
void combine(const MetricName &name, MetricValue &into, const MetricValue &value);

} // namespace nacre::profiler
