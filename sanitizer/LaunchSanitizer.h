// Watches one launch and collects what is wrong in it.
#pragma once

#include "runtime/Events.h"
#include "sanitizer/Finding.h"
#include "sanitizer/ShadowMemory.h"
#include "sanitizer/Unwritten.h"
#include <atomic>
#include <map>
#include <mutex>

namespace nacre::sanitizer {

class LaunchSanitizer : public LaunchWatcher {
public:
  // `kinds`: of Kind. `goesOn`: a program that leaves its arrays is ended and the others run; else the launch is.
  LaunchSanitizer(LaunchFacts facts, uint32_t kinds, bool goesOn);

  bool access(const AccessEvent &access) override;
  bool told(const ToldEvent &event) override;
  uint64_t firstUnwanted() const override { return lastWanted.load(std::memory_order_relaxed) + 1; }

  // One for each place (or pair of places) and kind: that of the first program, and in the programs' order. Of a launch
  // that ends at an access out of bounds, what the programs up to that one did.
  const std::vector<Finding> &findings() const { return found; }
  const LaunchFacts facts;

private:
  bool checkBounds(const AccessEvent &access);
  void checkRaces(const AccessEvent &access);
  void checkWritten(const AccessEvent &access);
  void checkArithmetic(const ToldEvent &event);
  void synchronize(const AccessEvent &access);
  uint32_t siteOf(const AccessEvent &access);
  uint32_t newSite(const AccessEvent &access, uint64_t place);
  // Adds it, or counts it where the same was found before.
  void add(Finding finding);
  // The launch need not go on after this program.
  void endAt(uint64_t program);
  uint64_t numberOf(const Party &party) const;
  Finding about(const AccessEvent &access, Kind kind, std::string what) const;

  uint32_t kinds;
  bool goesOn;
  const uint64_t launch; // of the process, from 1 on
  std::atomic<uint64_t> lastWanted{UINT64_MAX - 1}; // program
  ShadowMemory shadow;
  std::vector<std::shared_ptr<Unwritten::Area>> unwritten;
  std::mutex lock; // guards what follows
  std::vector<Finding> found;
  std::vector<Finding> sites; // of races: what is said of the access there
  std::map<std::pair<const char *, uint64_t>, uint32_t> siteNumbers;
};

} // namespace nacre::sanitizer
