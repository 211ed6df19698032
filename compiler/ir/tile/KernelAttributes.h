// The dialect's attributes on operations that are not its own, with their accessors. The dialect's verifier refuses any
// other attribute that begins with `tile.`, and these where they do not belong.
//
//   module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32} {
//     func.func @kernel(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.kernel} {
//       scf.for ... {
//       } {tile.num_stages = 4 : i32, tile.warp_specialize}
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace nacre::tile {

// The unit attribute that marks a func.func as a kernel, and the i64 argument attribute for a known divisor.
inline constexpr llvm::StringLiteral kernelAttribute = "tile.kernel";
inline constexpr llvm::StringLiteral divisibilityAttribute = "tile.divisibility";

// What the kernel's author says about an scf.for or scf.while. None changes a result.
struct LoopHints {
  std::optional<int32_t> numStages;    // how many iterations a pipeline may overlap
  std::optional<int32_t> unrollFactor; // how often the body is repeated within one iteration
  bool disallowAccMultiBuffer = false; // keep one copy of a dot's accumulator
  bool flatten = false;                // make one loop of this one and those inside it
  bool warpSpecialize = false;         // give the steps of the loop to warps of their own
  bool disableLicm = false;            // keep in the loop what does not change in it

  static LoopHints of(mlir::Operation *loop);
  void attachTo(mlir::Operation *loop) const;
};

// The options of the launch that a target may compile by, on the module. What was not said is not there.
struct LaunchOptions {
  std::optional<int32_t> numWarps, numStages, numCtas, maxRegisters;
  std::optional<bool> fpFusion; // whether a * b + c may be rounded once
  bool cooperativeGrid = false, dependentLaunch = false;

  static LaunchOptions of(mlir::ModuleOp module);
  void attachTo(mlir::ModuleOp module) const;
};

} // namespace nacre::tile
