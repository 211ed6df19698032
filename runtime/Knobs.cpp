// Reading and writing the environment for the table of knobs.
#include "runtime/Knobs.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <pwd.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace nacre {

namespace {

std::string otherName(std::string_view variable) {
  if (variable.starts_with("NACRE_"))
    return "TRITON_" + std::string(variable.substr(6));
  if (variable.starts_with("TRITON_"))
    variable.remove_prefix(7);
  return "NACRE_" + std::string(variable);
}

const std::vector<Knob> &table() {
  static const std::vector<Knob> knobs = {
#define NACRE_KNOB(identifier, group, attribute, kind, variable, fallback, inCacheKey, help)                           \
  {KnobId::identifier, group, attribute, KnobKind::kind, variable, otherName(variable), fallback, inCacheKey, help},
#include "runtime/Knobs.def"
#undef NACRE_KNOB
  };
  return knobs;
}

[[noreturn]] void badValue(const Knob &knob, const std::string &value, const char *expected) {
  throw std::invalid_argument(std::string(knob.variable) + "=" + value + ": expected " + expected);
}

std::optional<bool> asBoolean(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char *yes : {"1", "true", "yes", "on", "y"})
    if (value == yes)
      return true;
  for (const char *no : {"", "0", "false", "no", "off", "n"})
    if (value == no)
      return false;
  return std::nullopt;
}

// Values that hold in this process alone, by their variables.
std::map<std::string, std::string, std::less<>> &keptValues() {
  static std::map<std::string, std::string, std::less<>> values;
  return values;
}

std::string below(const std::string &home, const char *folder) {
  return home.empty() ? std::string() : home + "/.nacre/" + folder;
}

std::string homeDirectory() {
  if (std::string home = knobString(KnobId::Home); !home.empty())
    return home;
  if (const char *home = std::getenv("HOME"); home && *home)
    return home;
  if (const passwd *user = getpwuid(getuid()); user && user->pw_dir)
    return user->pw_dir;
  return "";
}

} // namespace

std::span<const Knob> allKnobs() { return table(); }

const Knob &knob(KnobId id) { return table()[static_cast<size_t>(id)]; }

const Knob *findKnob(std::string_view group, std::string_view attribute) {
  for (const Knob &knob : table())
    if (group == knob.group && attribute == knob.attribute)
      return &knob;
  return nullptr;
}

void keepKnob(const std::string &variable, const std::optional<std::string> &value) {
  if (value)
    keptValues()[variable] = *value;
  else
    keptValues().erase(variable);
}

std::optional<std::string> knobText(const Knob &knob) {
  if (auto kept = keptValues().find(knob.variable); kept != keptValues().end())
    return kept->second;
  bool variableIsOurs = std::string_view(knob.variable).starts_with("NACRE_");
  const char *first = variableIsOurs ? knob.variable : knob.ownVariable.c_str();
  const char *second = variableIsOurs ? knob.ownVariable.c_str() : knob.variable;
  if (const char *value = std::getenv(first))
    return value;
  if (const char *value = std::getenv(second))
    return value;
  return std::nullopt;
}

bool knobBoolean(KnobId id) {
  const Knob &row = knob(id);
  std::string value = knobText(row).value_or(row.fallback);
  if (std::optional<bool> truth = asBoolean(value))
    return *truth;
  badValue(row, value, "a boolean (0 or 1)");
}

bool asksFor(const std::string &value, std::string_view kernel) { return asBoolean(value).value_or(value == kernel); }

int64_t knobInteger(KnobId id) {
  const Knob &row = knob(id);
  std::string value = knobText(row).value_or(row.fallback);
  if (value.empty())
    value = row.fallback;
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 0)
    badValue(row, value, "a whole number of at least 0");
  return number;
}

std::string knobString(KnobId id) {
  const Knob &row = knob(id);
  std::string value = knobText(row).value_or(row.fallback);
  return value.empty() ? row.fallback : value;
}

void setKnob(const Knob &knob, const std::optional<std::string> &value) {
  // Both names, or the one not written would win over the new value.
  for (const char *name : {knob.variable, knob.ownVariable.c_str()})
    unsetenv(name);
  if (value)
    setenv(knob.variable, value->c_str(), 1);
}

std::string knobsInCacheKey() {
  std::string text;
  for (const Knob &knob : table()) {
    if (!knob.inCacheKey)
      continue;
    std::optional<std::string> value = knobText(knob);
    if (value && *value != knob.fallback)
      text += std::string(knob.group) + "." + knob.attribute + "=" + *value + "\n";
  }
  return text;
}

std::string cacheDirectory() {
  std::string directory = knobString(KnobId::CacheDirectory);
  return directory.empty() ? below(homeDirectory(), "cache") : directory;
}

std::string dumpDirectory() {
  std::string directory = knobString(KnobId::DumpDirectory);
  return directory.empty() ? below(homeDirectory(), "dump") : directory;
}

std::string tuningDirectory() {
  std::string directory = knobString(KnobId::TuningDirectory);
  return directory.empty() ? below(homeDirectory(), "tuning") : directory;
}

std::string overrideDirectory() {
  std::string directory = knobString(KnobId::OverrideDirectory);
  return directory.empty() ? below(homeDirectory(), "override") : directory;
}

} // namespace nacre
