// Settings of the compiler and the runtime, from one table (Knobs.def). A knob is an environment variable: setting one
// writes its variable, so that child processes agree, and reading one reads it anew. Nothing else in the project calls
// getenv.
//
// Reading is safe as long as nobody changes the environment at the same time; from Python both happen under the GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nacre {

enum class KnobKind { Boolean, Integer, Text };

enum class KnobId {
#define NACRE_KNOB(identifier, group, attribute, kind, variable, fallback, inCacheKey, help) identifier,
#include "runtime/Knobs.def"
#undef NACRE_KNOB
};

struct Knob {
  KnobId id;
  const char *group;
  const char *attribute;
  KnobKind kind;
  const char *variable;    // the name users of the language know
  std::string ownVariable; // its NACRE_ name (or TRITON_ name, when `variable` is the NACRE_ one)
  const char *fallback;
  bool inCacheKey;
  const char *help;
};

std::span<const Knob> allKnobs();
const Knob &knob(KnobId id);
const Knob *findKnob(std::string_view group, std::string_view attribute);

// What the environment says, or none.
std::optional<std::string> knobText(const Knob &knob);
// The same with the default filled in, also for a variable that is set to nothing; an integer is never negative. Throw
// std::invalid_argument, naming the variable, on a value that is not of the kind.
bool knobBoolean(KnobId id);
int64_t knobInteger(KnobId id);
std::string knobString(KnobId id);
// What a knob says that is a switch or one kernel's name: whether it asks for `kernel`.
bool asksFor(const std::string &value, std::string_view kernel);
// A value that holds in this process alone, whatever the environment says; none: the environment's again.
void keepKnob(const std::string &variable, const std::optional<std::string> &value);
// None takes the variable out of the environment.
void setKnob(const Knob &knob, const std::optional<std::string> &value);

// "name=value" of every knob that belongs to the cache key and is not at its default.
std::string knobsInCacheKey();

// The folders, with their defaults filled in; empty when there is no home to put them in.
std::string cacheDirectory();
std::string dumpDirectory();
std::string overrideDirectory();
std::string tuningDirectory();

} // namespace nacre
