// The grid, making and reshaping of tiles, and conversions that arith does not say.
#ifndef NACRE_TILE_SHAPES_TD
#define NACRE_TILE_SHAPES_TD

include "compiler/ir/tile/TileBase.td"

// ---- The grid

class Tile_GridOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let builders = [OpBuilder<(ins "int":$axis), [{
    build($_builder, $_state, $_builder.getI32Type(), $_builder.getI32IntegerAttr(axis));
  }]>];
}
def Tile_ProgramIdOp : Tile_GridOp<"program_id"> {
  let summary = "this program's place along a grid axis";
  let description = [{
    ```mlir
    %row = tile.program_id 0
    ```
  }];
}
def Tile_NumProgramsOp : Tile_GridOp<"num_programs"> {
  let summary = "the grid's extent along an axis";
  let description = [{
    ```mlir
    %rows = tile.num_programs 0
    ```
  }];
}

// Readings of the machine: each happens once, where it stands.
class Tile_MachineOp<string mnemonic, Type type> : Tile_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs type:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Tile_ClockOp : Tile_MachineOp<"clock", I64> {
  let summary = "nanoseconds of a clock that all programs share";
  let description = [{
    Accesses stay on the side of it where they stand.

    ```mlir
    %now = tile.clock : i64
    ```
  }];
}
def Tile_ProcessorOp : Tile_MachineOp<"processor", I32> {
  let summary = "the number of the processor that runs this";
  let description = [{
    A multiprocessor's, or a core's.

    ```mlir
    %where = tile.processor : i32
    ```
  }];
}

// ---- Making and reshaping tiles

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let description = [{
    ```mlir
    %i = tile.arange 3 : tensor<5xi32>   // 3, 4, 5, 6, 7
    ```
  }];
  let arguments = (ins I64Attr:$start);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile whose every element is the operand";
  let description = [{
    ```mlir
    %ones = tile.splat %one : f32 -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tile_Scalar:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts an axis of extent 1";
  let description = [{
    ```mlir
    %column = tile.expand_dims %x 1 : tensor<8xf32> -> tensor<8x1xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats along axes of extent 1; the rank stays";
  let description = [{
    ```mlir
    %square = tile.broadcast %column : tensor<8x1xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %line = tile.reshape %square : tensor<4x8xf32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "result axis i is operand axis order[i]";
  let description = [{
    ```mlir
    %transposed = tile.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_ConcatenateOp : Tile_Op<"concatenate", [Pure]> {
  let summary = "two tiles after one another along an axis";
  let description = [{
    ```mlir
    %both = tile.concatenate %x, %y 0 : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$first, Tile_Tile:$second, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$first `,` $second $axis attr-dict `:` type($first) `,` type($second) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "two tiles side by side along a new last axis of extent 2";
  let description = [{
    ```mlir
    %pairs = tile.join %x, %y : tensor<8xf32> -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$first, Tile_Tile:$second);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "the two halves along a last axis of extent 2 (scalars when the rank is 1)";
  let description = [{
    ```mlir
    %x, %y = tile.split %pairs : tensor<8x2xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Any:$first, Tile_Any:$second);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($first)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "one element, at a constant place";
  let description = [{
    ```mlir
    %last = tile.extract %x [3, 7] : tensor<4x8xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$index);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$source $index attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasFolder = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "result[i..] = source[i.., index[i..], ..i] along an axis";
  let description = [{
    ```mlir
    %chosen = tile.gather %x[%index] 0 : tensor<8xf32>, tensor<2xi32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Tile_Tile:$index, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `[` $index `]` $axis attr-dict `:` type($source) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

// ---- Conversions that arith does not say

def Tile_FpCastOp : Tile_Op<"fp_cast", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "conversion between float types: any to or from fp8 (saturating), or with a stated rounding";
  let description = [{
    ```mlir
    %small = tile.fp_cast %x round rtz : tensor<8xf32> -> tensor<8xf8E4M3FN>
    ```
  }];
  let arguments = (ins Tile_FloatLike:$source, DefaultValuedAttr<Tile_RoundingAttr, "Rounding::NearestEven">:$rounding);
  let results = (outs Tile_FloatLike:$result);
  let assemblyFormat = "$source (`round` $rounding^)? attr-dict `:` type($source) `->` type($result)";
}
def Tile_BitcastOp : Tile_Op<"bitcast", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the same bits as another type of equal width; also pointer to pointer";
  let description = [{
    ```mlir
    %bits = tile.bitcast %x : tensor<8xf32> -> tensor<8xi32>
    ```
  }];
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1; let hasVerifier = 1;
}
def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "a pointer's address as a number of 64 bits";
  let description = [{
    ```mlir
    %address = tile.ptr_to_int %pointer : !tile.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins Tile_PointerLike:$source);
  let results = (outs Tile_IntLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the pointer to a number's address";
  let description = [{
    ```mlir
    %pointer = tile.int_to_ptr %address : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins Tile_IntLike:$source);
  let results = (outs Tile_PointerLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

#endif // NACRE_TILE_SHAPES_TD
