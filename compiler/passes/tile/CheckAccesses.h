// check-accesses: every load, store and atomic is preceded by a check of its addresses, for launches with debug=True.
//
//   %v = tile.load %p mask %m                        // %p comes from the kernel's third argument
//     ==>  tile.check_access "load" %p mask %m {argument = 2}
//          %v = tile.load %p mask %m
//
// A pointer that may come from several arguments is checked against all arrays (argument -1); one that may come from
// elsewhere, from memory or from a number, is not checked, nor are accesses inside of functions of single elements.
//
// watch-accesses: the same for a launch that somebody watches (a sanitizer, the visualizer). Every pointer is told, also
// those of functions of single elements (one that may come from elsewhere: argument -2), the effects of the access stand with it, and an atomic access that
// acquires is followed by a second check, which tells that it has happened. Checks of accesses that follow each other
// stand together before the first of them, as long as these only load: only the last may be a store.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createCheckAccesses();
std::unique_ptr<mlir::Pass> createWatchAccesses();
void registerCheckAccesses();

} // namespace nacre
