// A profile as a tree of frames: scopes, states and kernels, each with its metrics.
#pragma once

#include "profiler/Metrics.h"
#include <memory>
#include <set>
#include <unordered_map>

namespace nacre::profiler {

struct Node {
  std::string name;
  Metrics metrics;
  std::vector<std::unique_ptr<Node>> children; // in the order in which they were first seen
  bool isHost = false; // a compile, a load, a wait: documents have these behind the others, which scripts count

  Node &child(std::string_view name);

  // How often launches were added whose metrics are one of a few known sets: whole, or without bytes and flops.
  struct KnownLaunches {
    const Metrics *metrics;
    bool isWhole;
    int64_t count;
  };
  std::vector<KnownLaunches> known;
  // What kernels took since the tree was settled.
  struct KernelSums {
    int64_t count = 0, time = 0, busy = 0;
    bool hasDevice = false; // its name is among the metrics
  };
  KernelSums kernels;

private:
  std::unordered_map<std::string_view, Node *> byName;
};

// What runs kernels, as profiles name it: "CUDA", "0".
struct DeviceName {
  std::string type, id;
};

class Tree {
public:
  Tree() { root.name = "ROOT"; }

  // Throws std::invalid_argument on a metric of another type than before.
  void add(Node &node, std::string_view name, MetricValue value);
  // Launches come often: they are counted aside, and added up by settle, before the tree is read.
  void addKernel(Node &node, const DeviceName &device, int64_t nanoseconds, int64_t busy);

  // The same of metrics that outlive the tree. Where one has another type than a metric that was given, that one
  // counts.
  static void addKnown(Node &node, const Metrics &metrics, bool isWhole);
  void settle() { settle(root); }

  Node root;
  bool hasKernels = false;
  std::set<std::pair<std::string, std::string>> devices; // that kernels ran on: type and number
  std::set<std::string> inclusive;                       // names of metrics that sum to parents

private:
  void settle(Node &node);

  // Of each metric: the place of its type in MetricValue, and how many were there before it.
  std::map<std::string, std::pair<size_t, size_t>, std::less<>> types;
};

} // namespace nacre::profiler
