// Which scopes were open when, on one thread: for what is told afterwards, by time, such as torch's operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::profiler {

class ScopeLog {
public:
  ScopeLog() : nodes(1) {}
  void enter(std::string_view name, uint64_t time) { note(time, current = child(current, name)); }
  void exit(uint64_t time) { note(time, current = nodes[current].parent); }
  // The scopes that were open at a time, the outermost first.
  std::vector<std::string> at(uint64_t time) const;
  // Nobody will ask for what was before; the scopes that are open now are those given, the outermost first, or stay.
  void restart(const std::vector<std::string> &open);
  void restart() { restart(pathOf(current)); }

private:
  struct Node {
    uint32_t parent = 0;
    std::string name;
    std::map<std::string, uint32_t, std::less<>> children;
  };
  struct Change {
    uint64_t time;
    uint32_t node;
  };
  uint32_t child(uint32_t parent, std::string_view name);
  std::vector<std::string> pathOf(uint32_t node) const;
  void note(uint64_t time, uint32_t node) { changes.push_back({time, node}); }

  std::vector<Node> nodes; // the first: no scope
  uint32_t first = 0, current = 0;
  std::vector<Change> changes;
};

} // namespace nacre::profiler
