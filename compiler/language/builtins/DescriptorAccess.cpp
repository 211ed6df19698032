// What accesses through tensor descriptors mean, said in pointers and masks: for builders that have no such operations,
// and for passes that expand them.
#include "compiler/language/builtins/BlockAddresses.h"

namespace nacre {

Type Descriptor::blockType() const {
  return handle ? handle.type().element() : Type::block(array.base.type().element(), array.blockShape);
}

static BlockPlace placeOf(Builder &builder, const Descriptor &descriptor, llvm::ArrayRef<Value> offsets) {
  return locate(builder, descriptor.array, offsets, llvm::SmallVector<bool>(offsets.size(), true));
}

static Value loadAt(Builder &builder, const Descriptor &descriptor, const BlockPlace &place,
                    const LoadOptions &options) {
  Type tile = place.pointers.type().withScalar(place.pointers.type().scalarType().element());
  return builder.load(place.pointers, place.mask, paddingTile(builder, descriptor.padding, tile), options);
}

Value Builder::loadDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, const LoadOptions &options) {
  return loadAt(*this, descriptor, placeOf(*this, descriptor, offsets), options);
}

void Builder::storeDescriptor(const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value) {
  BlockPlace place = placeOf(*this, descriptor, offsets);
  store(place.pointers, value, place.mask, StoreOptions());
}

void Builder::reduceDescriptor(AtomicOp op, const Descriptor &descriptor, llvm::ArrayRef<Value> offsets, Value value) {
  BlockPlace place = placeOf(*this, descriptor, offsets);
  atomic(op, place.pointers, value, place.mask, MemoryOrder::Relaxed, MemoryScope::GPU);
}

Value Builder::gatherDescriptor(const Descriptor &descriptor, Value rows, Value column, const LoadOptions &options) {
  return loadAt(*this, descriptor, locateRows(*this, descriptor.array, rows, column), options);
}

void Builder::scatterDescriptor(const Descriptor &descriptor, Value rows, Value column, Value value) {
  BlockPlace place = locateRows(*this, descriptor.array, rows, column);
  store(place.pointers, value, place.mask, StoreOptions());
}

} // namespace nacre
