// Pointers and accesses to memory.
#ifndef NACRE_TILE_MEMORY_TD
#define NACRE_TILE_MEMORY_TD

include "compiler/ir/tile/TileBase.td"

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, Elementwise, SameOperandsAndResultShape, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "the address `offset` elements on; the offset is i32 or i64 and signed";
  let description = [{
    ```mlir
    %next = tile.addptr %pointers, %offsets : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_PointerLike:$pointer, Tile_IntLike:$offset);
  let results = (outs Tile_PointerLike:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasFolder = 1; let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads the addressed elements; where the mask is false nothing is read and the result is `other`, or zero";
  let description = [{
    ```mlir
    %x = tile.load %pointers mask %inside : tensor<8xi1> other %zeros : tensor<8xf32>
           {cache = #tile<cache cg>} : tensor<8x!tile.ptr<f32>> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_PointerLike:$pointer, Optional<Tile_MaskLike>:$mask, Optional<Tile_Any>:$other,
    DefaultValuedAttr<Tile_CacheModifierAttr, "CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicyAttr, "EvictionPolicy::Normal">:$eviction,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))? attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1; let hasCanonicalizer = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$pointer, "::mlir::Value":$mask, "::mlir::Value":$other,
    CArg<"CacheModifier", "CacheModifier::None">:$cache, CArg<"EvictionPolicy", "EvictionPolicy::Normal">:$eviction,
    CArg<"bool", "false">:$isVolatile)>];
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes the addressed elements where the mask is true";
  let description = [{
    ```mlir
    tile.store %pointers, %x mask %inside : tensor<8xi1> : tensor<8x!tile.ptr<f32>>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_PointerLike:$pointer, Tile_Any:$value, Optional<Tile_MaskLike>:$mask,
    DefaultValuedAttr<Tile_CacheModifierAttr, "CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicyAttr, "EvictionPolicy::Normal">:$eviction);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($pointer) `,` type($value)
  }];
  let hasVerifier = 1; let hasCanonicalizer = 1;
}

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomically replaces each addressed element; the result is the old one (zero where the mask is false)";
  let description = [{
    ```mlir
    %old = tile.atomic_rmw addf %pointers, %x mask %inside : tensor<8xi1> {order = #tile<order relaxed>}
             : tensor<8x!tile.ptr<f32>>, tensor<8xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_PointerLike:$pointer, Tile_Any:$value, Optional<Tile_MaskLike>:$mask,
    DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::AcquireRelease">:$order,
    DefaultValuedAttr<Tile_MemoryScopeAttr, "MemoryScope::GPU">:$scope);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $kind $pointer `,` $value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($pointer) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "atomically writes `desired` where the element equals `expected`; the result is the old element";
  let description = [{
    ```mlir
    %old = tile.atomic_cas %lock, %zero, %one : !tile.ptr<i32>, i32
    ```
  }];
  let arguments = (ins Tile_PointerLike:$pointer, Tile_Any:$expected, Tile_Any:$desired,
    DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::AcquireRelease">:$order,
    DefaultValuedAttr<Tile_MemoryScopeAttr, "MemoryScope::GPU">:$scope);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$pointer `,` $expected `,` $desired attr-dict `:` type($pointer) `,` type($expected)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "orders every access before it and every access after it, across the elements of the program";
  let description = [{
    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // NACRE_TILE_MEMORY_TD
