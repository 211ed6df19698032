// See UserPlace.h.
#include "compiler/passes/tile/UserPlace.h"

using namespace mlir;

nacre::UserPlace nacre::userPlace(Location location) {
  constexpr StringLiteral library = "nacre/language/";
  UserPlace found{library.str()};
  location->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part); place && StringRef(found.file).starts_with(library))
      found = {place.getFilename().getValue().str(), place.getLine(), place.getColumn()};
    return WalkResult::advance();
  });
  return found;
}
