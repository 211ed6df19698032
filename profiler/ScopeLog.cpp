// See ScopeLog.h.
#include "profiler/ScopeLog.h"
#include <algorithm>

namespace nacre::profiler {

uint32_t ScopeLog::child(uint32_t parent, std::string_view name) {
  auto &children = nodes[parent].children;
  if (auto found = children.find(name); found != children.end())
    return found->second;
  auto made = static_cast<uint32_t>(nodes.size());
  children.emplace(name, made);
  nodes.push_back({parent, std::string(name), {}});
  return made;
}

ScopeLog::Open ScopeLog::at(uint64_t time) const {
  auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                [](uint64_t time, const Change &change) { return time < change.time; });
  Open open{pathOf(after == changes.begin() ? first : std::prev(after)->node), ""};
  if (!open.scopes.empty() && open.scopes.back().starts_with('\0')) {
    open.state = open.scopes.back().substr(1);
    open.scopes.pop_back();
  }
  return open;
}

std::vector<std::string> ScopeLog::pathOf(uint32_t node) const {
  std::vector<std::string> path;
  for (; node != 0; node = nodes[node].parent)
    path.push_back(nodes[node].name);
  std::reverse(path.begin(), path.end());
  return path;
}

void ScopeLog::restart(const std::vector<std::string> &open, std::string_view openState) {
  nodes.assign(1, {});
  changes.clear();
  current = 0;
  for (const std::string &name : open)
    current = child(current, name);
  state = openState;
  first = place();
}

} // namespace nacre::profiler
