// The gpu dialect: what tile IR needs besides once every tile has a place in the registers of a block's threads.
//
// From the pass assign-layouts on, a tile in registers is a ranked tensor whose encoding is #gpu.layout, and tile, arith,
// math and scf operations work on such tensors unchanged. The operations here say what (a change of layout, a barrier),
// never with which instruction: that is the last lowering's, behind passes/gpu/Machine.h.
#ifndef NACRE_GPU_TD
#define NACRE_GPU_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gpu_Dialect : Dialect {
  let name = "gpu";
  let cppNamespace = "::nacre::gpu";
  let summary = "Tiles in the registers and the shared memory of a block of threads";
  let description = [{
    Attributes of the dialect on operations of others:

    | attribute | on | meaning |
    |---|---|---|
    | `gpu.num_warps`, `gpu.lanes` | the module | threads of a block: so many warps of so many lanes |
    | `gpu.vector` | an access to memory | [axis, count]: so many neighbours along the axis, which lie in registers, are one access |
    | `gpu.scratch` | an operation that moves data between threads | bytes of shared memory that it uses while it runs |
    | `gpu.offset` | the same | where in shared memory they lie |
    | `gpu.ordered` | the same | threads need not meet before it: nobody reads these bytes any more |
    | `gpu.shared` | the module | bytes of shared memory of a block |
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::nacre::tile::TileDialect"];
}

def Gpu_Layout : AttrDef<Gpu_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "where the elements of a tile lie: a linear layout (ir/layout/LinearLayout.h)";
  let description = [{
    The encoding of a tile in registers maps (register, lane, warp, block) to coordinates; that of a tile in shared memory
    maps (offset, block). Its axes are the tile's, each padded to a power of two.
  }];
  let parameters = (ins AttrParameter<"::nacre::LinearLayout", "the map", "const ::nacre::LinearLayout &">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Gpu_Shared : TypeDef<Gpu_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "tiles in shared memory, as many as there are stages";
  let description = [{
    `!gpu.shared<64x32xf16, #gpu.layout<...>, 3>` is a ring of three tiles.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::nacre::gpu::LayoutAttr":$layout,
                        DefaultValuedParameter<"int64_t", "1">:$stages);
  let hasCustomAssemblyFormat = 1;
}

class Gpu_Op<string mnemonic, list<Trait> traits = []> : Op<Gpu_Dialect, mnemonic, traits>;

def Gpu_ConvertOp : Gpu_Op<"convert", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile in another layout";
  let description = [{
    ```mlir
    %y = gpu.convert %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Gpu_BarrierOp : Gpu_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders the accesses of the threads that meet here: all of the block, or the lanes of each warp";
  let description = [{
    ```mlir
    gpu.barrier
    gpu.barrier warp
    ```
  }];
  let arguments = (ins UnitAttr:$warp);
  let assemblyFormat = "(`warp` $warp^)? attr-dict";
}

#endif // NACRE_GPU_TD
