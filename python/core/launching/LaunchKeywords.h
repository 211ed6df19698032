// The options of a launch as Python gives and sees them: keywords, and entries of dictionaries.
#pragma once

#include "python/core/Handle.h"
#include "runtime/Device.h"

namespace nacre::python {

// What tells launches of the same arguments apart. Compared as bytes: no padding may be left unset.
struct LaunchKeywords {
  LaunchOptionValues options; // texts and libraries by number: overrideNumber, libraryListNumber
  uint64_t knobs = 0;         // how often knobs were set: what was compiled before does not serve afterwards
  Device *device = nullptr;   // that of the arrays; null: there is none of the target's
  // Of compiles for a target that is named; elsewhere the device says it all.
  Driver *driver = nullptr;
  uint64_t architecture = 0; // see architectureNumber

  bool cooperative() const { return options[LaunchOptionId::CooperativeGrid] != 0; }
  uint64_t irOverride() const { return static_cast<uint64_t>(options[LaunchOptionId::IrOverride]); }
  uint64_t externLibraries() const { return static_cast<uint64_t>(options[LaunchOptionId::ExternLibraries]); }
  // What a switch says, or `fallback` where it says nothing.
  bool isOn(LaunchOptionId id, bool fallback) const { return options[id] < 0 ? fallback : options[id] != 0; }
};

// The option that a keyword names; null: there is none.
const LaunchOption *optionNamed(PyObject *keyword);
const LaunchOption *optionWithName(PyObject *interned); // whose name is this very object
PyObject *optionName(const LaunchOption &option);       // borrowed, interned
// A value as a number. Throws PythonError, naming the option.
int64_t optionValue(const LaunchOption &option, PyObject *value);
int64_t switchValue(PyObject *value); // None: -1

// The architecture of a target, numbered since the key of a launch is made of numbers. 0: none is named.
uint64_t architectureNumber(const std::string &name);
const std::string &architectureName(uint64_t number);

// The options among the entries of a dictionary; others are not looked at.
LaunchOptionValues readOptions(PyObject *dictionary);
// All of them, switches as `decided` has them.
Handle optionDictionary(const LaunchOptionValues &values, const CompileOptions &decided);

// A tuple of rows: (name, kind, default, help).
Handle launchOptionTable();

} // namespace nacre::python
