// Tensor descriptors: arrays in memory that are accessed by blocks. Every access checks the bounds: outside of the array
// nothing is written, and reads give the padding. A target that has no such accesses asks for the pass
// expand-descriptors.
#ifndef NACRE_TILE_DESCRIPTORS_TD
#define NACRE_TILE_DESCRIPTORS_TD

include "compiler/ir/tile/TileBase.td"

def Tile_MakeDescriptorOp : Tile_Op<"make_descriptor", [Pure, AttrSizedOperandSegments]> {
  let summary = "describes an array, from its base, its extents and its strides but the last, which is 1";
  let description = [{
    Extents and strides count elements. `padding` is what reads outside of the array give.

    ```mlir
    %a = tile.make_descriptor %base shape[%m, %k] strides[%k] padding nan : !tile.ptr<f16> -> !tile.descriptor<tensor<64x32xf16>>
    ```
  }];
  let arguments = (ins Tile_Pointer:$base, Variadic<I64>:$shape, Variadic<I64>:$strides,
    DefaultValuedAttr<Tile_PaddingAttr, "Padding::Zero">:$padding);
  let results = (outs Tile_Descriptor:$result);
  let assemblyFormat = [{
    $base `shape` `[` $shape `]` `strides` `[` $strides `]` (`padding` $padding^)? attr-dict `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

class Tile_DescriptorFieldOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let hasFolder = 1;
}
def Tile_DescriptorBaseOp : Tile_DescriptorFieldOp<"descriptor_base"> {
  let summary = "the pointer to the array's first element";
  let description = [{
    ```mlir
    %base = tile.descriptor_base %a : !tile.descriptor<tensor<64x32xf16>> -> !tile.ptr<f16>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor);
  let results = (outs Tile_Pointer:$result);
  let assemblyFormat = "$descriptor attr-dict `:` qualified(type($descriptor)) `->` qualified(type($result))";
  let hasVerifier = 1;
}
def Tile_DescriptorExtentOp : Tile_DescriptorFieldOp<"descriptor_extent"> {
  let summary = "the array's extent along an axis";
  let description = [{
    ```mlir
    %rows = tile.descriptor_extent %a 0 : !tile.descriptor<tensor<64x32xf16>>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, I32Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$descriptor $axis attr-dict `:` qualified(type($descriptor))";
  let hasVerifier = 1;
}
def Tile_DescriptorStrideOp : Tile_DescriptorFieldOp<"descriptor_stride"> {
  let summary = "the array's stride along an axis that is not the last";
  let description = [{
    ```mlir
    %rowLength = tile.descriptor_stride %a 0 : !tile.descriptor<tensor<64x32xf16>>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, I32Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$descriptor $axis attr-dict `:` qualified(type($descriptor))";
  let hasVerifier = 1;
}

class Tile_DescriptorAccessOp<string mnemonic>
    : Tile_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> { let hasVerifier = 1; }

def Tile_DescriptorLoadOp : Tile_DescriptorAccessOp<"descriptor_load"> {
  let summary = "reads the block that starts at the offsets, one an axis";
  let description = [{
    ```mlir
    %x = tile.descriptor_load %a[%i, %j] padding nan : !tile.descriptor<tensor<64x32xf16>> -> tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, Variadic<I64>:$offsets,
    DefaultValuedAttr<Tile_PaddingAttr, "Padding::Zero">:$padding,
    DefaultValuedAttr<Tile_CacheModifierAttr, "CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicyAttr, "EvictionPolicy::Normal">:$eviction);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $descriptor `[` $offsets `]` (`padding` $padding^)? attr-dict `:` qualified(type($descriptor)) `->` type($result)
  }];
}

def Tile_DescriptorStoreOp : Tile_DescriptorAccessOp<"descriptor_store"> {
  let summary = "writes the block that starts at the offsets";
  let description = [{
    ```mlir
    tile.descriptor_store %a[%i, %j], %x : !tile.descriptor<tensor<64x32xf16>>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, Variadic<I64>:$offsets, Tile_Tile:$value);
  let assemblyFormat = "$descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)";
}

def Tile_DescriptorReduceOp : Tile_DescriptorAccessOp<"descriptor_reduce"> {
  let summary = "atomically combines the block that starts at the offsets with a tile, in no order";
  let description = [{
    ```mlir
    tile.descriptor_reduce addf %a[%i, %j], %x : !tile.descriptor<tensor<64x32xf32>>, tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_Descriptor:$descriptor, Variadic<I64>:$offsets, Tile_Tile:$value);
  let assemblyFormat = "$kind $descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)";
}

def Tile_DescriptorGatherOp : Tile_DescriptorAccessOp<"descriptor_gather"> {
  let summary = "reads rows of an array of two axes, from one column on; the blocks are single rows";
  let description = [{
    ```mlir
    %x = tile.descriptor_gather %a[%rows, %j] : !tile.descriptor<tensor<1x32xf16>>, tensor<8xi64> -> tensor<8x32xf16>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, Tile_IntTile:$rows, I64:$column,
    DefaultValuedAttr<Tile_PaddingAttr, "Padding::Zero">:$padding,
    DefaultValuedAttr<Tile_CacheModifierAttr, "CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicyAttr, "EvictionPolicy::Normal">:$eviction);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` (`padding` $padding^)? attr-dict `:` qualified(type($descriptor)) `,` type($rows) `->` type($result)
  }];
}

def Tile_DescriptorScatterOp : Tile_DescriptorAccessOp<"descriptor_scatter"> {
  let summary = "writes rows of an array of two axes, from one column on; the blocks are single rows";
  let description = [{
    ```mlir
    tile.descriptor_scatter %a[%rows, %j], %x : !tile.descriptor<tensor<1x32xf16>>, tensor<8xi64>, tensor<8x32xf16>
    ```
  }];
  let arguments = (ins Tile_Descriptor:$descriptor, Tile_IntTile:$rows, I64:$column, Tile_Tile:$value);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($rows) `,` type($value)
  }];
}

#endif // NACRE_TILE_DESCRIPTORS_TD
