// Operations on tensor descriptors as operations of the builder.
#include "compiler/ir/tile/Tile.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/IRProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace nacre;

Descriptor IRProgram::descriptorOf(mlir::Value value, tile::Padding padding) const {
  Descriptor descriptor;
  descriptor.array = *static_cast<BlockArray *>(get(value).get());
  descriptor.padding = static_cast<Padding>(padding);
  return descriptor;
}

bool IRProgram::runDescriptor(mlir::Operation &op) {
  auto all = [&](mlir::ValueRange range) {
    llvm::SmallVector<Value> result;
    for (mlir::Value value : range)
      result.push_back(get(value));
    return result;
  };
  auto options = [](auto access) {
    return LoadOptions{static_cast<CacheModifier>(access.getCache()),
                       static_cast<EvictionPolicy>(access.getEviction())};
  };
  auto rows = [&](mlir::Value value) {
    Value found = get(value);
    return found.type().bitWidth() == 64 ? found
                                         : builder.cast(CastOp::ExtendSigned, found, withScalar(found.type(), int64()));
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](tile::MakeDescriptorOp make) {
        auto array = std::make_shared<BlockArray>();
        array->base = get(make.getBase());
        array->shape.append(all(make.getShape()));
        array->strides.append(all(make.getStrides()));
        array->strides.push_back(builder.scalarFromBits(int64(), 1));
        llvm::ArrayRef<int64_t> block = make.getType().getBlock().getShape();
        array->blockShape.assign(block.begin(), block.end());
        set(make.getResult(), Value(typeOfIR(make.getType()), std::move(array)));
        return true;
      })
      .Case([&](tile::DescriptorBaseOp base) {
        set(base.getResult(), descriptorOf(base.getDescriptor()).array.base);
        return true;
      })
      .Case([&](tile::DescriptorExtentOp extent) {
        set(extent.getResult(), descriptorOf(extent.getDescriptor()).array.shape[extent.getAxis()]);
        return true;
      })
      .Case([&](tile::DescriptorStrideOp stride) {
        set(stride.getResult(), descriptorOf(stride.getDescriptor()).array.strides[stride.getAxis()]);
        return true;
      })
      .Case([&](tile::DescriptorLoadOp load) {
        locate(op);
        set(load.getResult(), builder.loadDescriptor(descriptorOf(load.getDescriptor(), load.getPadding()),
                                                     all(load.getOffsets()), options(load)));
        return true;
      })
      .Case([&](tile::DescriptorStoreOp store) {
        locate(op);
        builder.storeDescriptor(descriptorOf(store.getDescriptor()), all(store.getOffsets()), get(store.getValue()));
        return true;
      })
      .Case([&](tile::DescriptorReduceOp reduce) {
        locate(op);
        builder.reduceDescriptor(static_cast<AtomicOp>(reduce.getKind()), descriptorOf(reduce.getDescriptor()),
                                 all(reduce.getOffsets()), get(reduce.getValue()));
        return true;
      })
      .Case([&](tile::DescriptorGatherOp gather) {
        locate(op);
        set(gather.getResult(),
            builder.gatherDescriptor(descriptorOf(gather.getDescriptor(), gather.getPadding()), rows(gather.getRows()),
                                     get(gather.getColumn()), options(gather)));
        return true;
      })
      .Case([&](tile::DescriptorScatterOp scatter) {
        locate(op);
        builder.scatterDescriptor(descriptorOf(scatter.getDescriptor()), rows(scatter.getRows()),
                                  get(scatter.getColumn()), get(scatter.getValue()));
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}
