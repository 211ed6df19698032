// Sums, differences and products of floats that are rounded by themselves, never together with another: they carry a
// unit attribute. One that says nothing may be fused where the launch allows it (LaunchOptions::fpFusion).
//
//   %p = arith.mulf %x, %y {tile.rounded} : f32
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nacre::tile {

inline constexpr llvm::StringLiteral roundedAttribute = "tile.rounded";

} // namespace nacre::tile
