// What the compiler tells the runtime of a kernel besides its code. Numbers that mean nothing to a target are 0, lists
// empty.
#pragma once

#include "compiler/ir/simt/AccessRecord.h"
#include "compiler/ir/simt/ScopeRecord.h"
#include "compiler/ir/simt/TensorMapRecipe.h"
#include <cstdint>
#include <string>
#include <vector>

namespace nacre {

// What the compiler moved out of a scope of a kernel, in words (MovedLines.h).
struct MovedLines {
  std::string scope;
  uint32_t line = 0; // where it begins
  std::string text;

  template <typename Self, typename Visit> static void forEachField(Self &self, Visit visit) {
    visit(self.scope), visit(self.line), visit(self.text);
  }
};

struct KernelMetadata {
  uint64_t scratchBytes = 0;   // of each thread of the host that runs it
  bool waits = false;          // a program may wait for another: it tells the runtime while it does
  bool callsLibraries = false; // it runs code of users' libraries, linked into it or not
  bool tells = false;          // what it does, to whoever watches (TargetOptions::watchAccesses, watchArithmetic)
  bool prints = false;         // it may write to the device's own stream of text (device_print)
  bool makesPointers = false;  // of numbers: it may access memory that none of its arguments leads to
  uint64_t sharedBytes = 0;    // of a program, dynamic
  uint64_t warps = 0, ctas = 0;
  uint64_t globalScratchBytes = 0, globalScratchAlignment = 0;   // of each program, in the device's memory
  uint64_t profileScratchBytes = 0, profileScratchAlignment = 0; // the same, for a profiler that asked for it
  uint64_t registers = 0, spilledBytes = 0;                      // of a thread, as the assembler says
  bool cooperative = false, dependentLaunch = false;             // how it must be launched
  std::string launchCheck; // what a launch must prove (analysis/LaunchCheck.h); empty: nothing
  // Of targets whose kernels tell of them in memory: the accesses that it checks, and its marks, by number.
  std::vector<simt::AccessSite> accessSites;
  std::vector<simt::MarkPlace> marks;
  std::vector<simt::TensorMapRecipe> tensorMaps; // of its last parameters, in order
  std::vector<MovedLines> movedLines;
  std::vector<std::string> remarks; // the assembler's

  // Every field, for those who write and read them.
  template <typename Self, typename Visit> static void forEachField(Self &self, Visit visit) {
    visit(self.scratchBytes), visit(self.waits), visit(self.callsLibraries), visit(self.tells), visit(self.prints),
        visit(self.makesPointers), visit(self.sharedBytes);
    visit(self.warps), visit(self.ctas), visit(self.globalScratchBytes), visit(self.globalScratchAlignment);
    visit(self.profileScratchBytes), visit(self.profileScratchAlignment);
    visit(self.registers), visit(self.spilledBytes);
    visit(self.cooperative), visit(self.dependentLaunch), visit(self.launchCheck);
    visit(self.accessSites), visit(self.marks), visit(self.tensorMaps), visit(self.movedLines), visit(self.remarks);
  }
};

} // namespace nacre
