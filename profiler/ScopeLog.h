// Which scopes were open when, on one thread, and which state: for what is told afterwards, by time, such as torch's
// operators.
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
  void enter(std::string_view name, uint64_t time) {
    current = child(current, name);
    note(time);
  }
  void exit(uint64_t time) {
    current = nodes[current].parent;
    note(time);
  }
  // The innermost of the states that are open; empty: none is.
  void setState(std::string_view name, uint64_t time) {
    state = name;
    note(time);
  }
  struct Open {
    std::vector<std::string> scopes; // the outermost first
    std::string state;
  };
  Open at(uint64_t time) const;
  // Nobody will ask for what was before; the scopes that are open now are those given, the outermost first, or stay.
  void restart(const std::vector<std::string> &open, std::string_view openState);
  void restart() { restart(pathOf(current), std::string(state)); }

private:
  struct Node {
    uint32_t parent = 0;
    std::string name; // of a state with a zero before it
    std::map<std::string, uint32_t, std::less<>> children;
  };
  struct Change {
    uint64_t time;
    uint32_t node;
  };
  uint32_t child(uint32_t parent, std::string_view name);
  std::vector<std::string> pathOf(uint32_t node) const;
  uint32_t place() { return state.empty() ? current : child(current, '\0' + state); }
  void note(uint64_t time) { changes.push_back({time, place()}); }

  std::vector<Node> nodes; // the first: no scope
  uint32_t first = 0, current = 0;
  std::string state;
  std::vector<Change> changes;
};

} // namespace nacre::profiler
