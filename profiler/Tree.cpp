// See Tree.h.
#include "profiler/Tree.h"
#include <stdexcept>

namespace nacre::profiler {

Node &Node::child(std::string_view wanted) {
  if (auto found = byName.find(wanted); found != byName.end())
    return *found->second;
  Node &made = *children.emplace_back(std::make_unique<Node>());
  made.name = wanted;
  byName.emplace(made.name, &made);
  return made;
}

void Tree::add(Node &node, std::string_view text, MetricValue value) {
  MetricName name(text);
  value = inItsType(name.shown, std::move(value));
  if (auto [type, isNew] = types.try_emplace(name.shown, value.index()); !isNew && type->second != value.index()) {
    constexpr const char *names[] = {"int64", "double", "list of int64", "list of double", "text"};
    throw std::invalid_argument("the metric '" + name.shown + "' is " + names[type->second] + ", and was given " +
                                typeName(value) + "; a metric keeps its type");
  }
  if (name.kind == MetricName::Kind::Inclusive)
    inclusive.insert(name.shown);
  auto [place, isNew] = node.metrics.try_emplace(name.shown, value);
  if (!isNew)
    combine(name, place->second, value);
}

void Tree::addKnown(Node &node, const Metrics &metrics, bool isWhole) {
  for (Node::KnownLaunches &known : node.known)
    if (known.metrics == &metrics && known.isWhole == isWhole) {
      ++known.count;
      return;
    }
  node.known.push_back({&metrics, isWhole, 1});
}

void Tree::settle(Node &node) {
  for (const Node::KnownLaunches &known : node.known)
    for (const auto &[name, value] : *known.metrics) {
      if (!known.isWhole && isWork(name))
        continue;
      MetricValue total = value;
      bool isSummed = MetricName(name).kind != MetricName::Kind::Property;
      if (auto *number = std::get_if<int64_t>(&total); number && isSummed)
        *number *= known.count;
      else if (auto *number = std::get_if<double>(&total); number && isSummed)
        *number *= static_cast<double>(known.count);
      try {
        add(node, name, total);
      } catch (const std::invalid_argument &) {
      }
    }
  node.known.clear();
  for (const std::unique_ptr<Node> &child : node.children)
    settle(*child);
}

void Tree::addKernel(Node &node, const DeviceName &device, int64_t nanoseconds, int64_t busy) {
  auto add = [&](const char *name, int64_t value) {
    auto [place, isNew] = node.metrics.try_emplace(name, value);
    if (!isNew)
      std::get<int64_t>(place->second) += value;
  };
  hasKernels = true;
  add("time (ns)", nanoseconds);
  add("count", 1);
  add("busy (ns)", busy);
  devices.emplace(device.type, device.id);
  node.metrics.try_emplace("device_id", device.id);
  node.metrics.try_emplace("device_type", device.type);
}

} // namespace nacre::profiler
