// hoist-descriptors: accesses through tensor descriptors become copies of boxes by the hardware, where it can do them.
//
//   %d = tile.make_descriptor %base shape[%m, %n] strides[%n] : !tile.ptr<f16> -> !tile.descriptor<tensor<64x64xf16>>
//   %x = tile.descriptor_load %d[%i, %j] : ...
//     ==>  %x = simt.load_box %map[%i, %j] : !simt.tensor_map<tensor<64x64xf16>> -> tensor<64x64xf16>
//
// with %map a new last argument of the kernel that the launch makes by the recipe in its attribute. Descriptors that
// the host made and those that the kernel makes are the same here: both are made from the kernel's arguments.
//
// Legal for an access when all of this is proved, and only then (`Access::reason` is the one place that decides it):
// - the descriptor is made in one place, of values that are sums, differences, products, minima and maxima of arguments
//   and numbers: the launch can compute them;
// - the base, the strides in bytes, the bytes of a row of the block and the last offset in bytes are multiples of the
//   copies' alignment; extents and offsets fit into 32 bits;
// - the block's extents are powers of two, and it is no larger than half of shared memory;
// - what is read outside of the array is 0, or NaN in a float that the copies fill with it; a reduction is one that
// they
//   do; cache modifiers are none that ask for fresh values.
//
// What is not, stays an access through a descriptor, with the reason in its attribute simt.pointers, and
// expand-descriptors makes pointers and masks of it. An array with an extent of 0 or less has no map that says so; the
// kernel then reads and writes far outside of a map that has one element.
//
// Needs: calls inlined. Gives: no argument is a descriptor.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::simt {

// Which copies of boxes the hardware does.
struct BoxLimits {
  int64_t alignment = 16;           // bytes: of the base, of strides, of a row of the box, of where it begins
  int64_t mostExtent = 256;         // of a box, along an axis
  int64_t sharedBytes = 227 * 1024; // of a block of threads
  unsigned mostMaps = 16;           // that a kernel takes
};

std::unique_ptr<mlir::Pass> createHoistDescriptors(const BoxLimits &limits = {});

} // namespace nacre::simt
