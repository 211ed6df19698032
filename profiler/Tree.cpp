// See Tree.h.
#include "profiler/Tree.h"
#include <stdexcept>
#include <utility>

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
  const bool isProperty = name.kind == MetricName::Kind::Property;
  auto [type, isNewName] = types.try_emplace(name.shown, value.index(), types.size());
  if (auto [known, number] = type->second; known != value.index() && !isProperty)
    throw std::invalid_argument("Metric value type mismatch for valueId " + std::to_string(number) + " (" + name.shown +
                                "): current=" + typeName(known) + ", new=" + typeName(value.index()) +
                                "; a metric keeps its type");
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
  auto addUp = [&](const char *name, int64_t &value) {
    auto [place, isNew] = node.metrics.try_emplace(name, value);
    if (!isNew)
      std::get<int64_t>(place->second) += value;
    value = 0;
  };
  if (node.kernels.count != 0) {
    addUp("time (ns)", node.kernels.time);
    addUp("count", node.kernels.count);
    addUp("busy (ns)", node.kernels.busy);
  }
  for (const std::unique_ptr<Node> &child : node.children)
    settle(*child);
}

void Tree::addKernel(Node &node, const DeviceName &device, int64_t nanoseconds, int64_t busy) {
  ++node.kernels.count;
  node.kernels.time += nanoseconds;
  node.kernels.busy += busy;
  if (std::exchange(node.kernels.hasDevice, true))
    return;
  hasKernels = true;
  devices.emplace(device.type, device.id);
  node.metrics.try_emplace("device_id", device.id);
  node.metrics.try_emplace("device_type", device.type);
}

} // namespace nacre::profiler
