// Matrix products, reductions, scans, and functions of single elements.
#ifndef NACRE_TILE_COMPUTE_TD
#define NACRE_TILE_COMPUTE_TD

include "compiler/ir/tile/TileBase.td"

// ---- Linear algebra

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a x b, over the last two axes; a leading axis is a batch";
  let description = [{
    `precision` says how f32 operands are multiplied. `maxImpreciseAcc` says after how many products of fp8 values a sum
    that the machine keeps in fewer bits is added to the accumulator; left out, the target decides.

    ```mlir
    %c = tile.dot %a, %b, %zeros precision ieee : tensor<16x32xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
    %d = tile.dot %x, %y, %c {maxImpreciseAcc = 32 : i32} : tensor<16x64xf8E5M2>, tensor<64x8xf8E5M2> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$accumulator,
    DefaultValuedAttr<Tile_DotPrecisionAttr, "DotPrecision::TF32">:$precision,
    OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$maxImpreciseAcc);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $accumulator (`precision` $precision^)? attr-dict `:` type($a) `,` type($b) `->` type($accumulator)";
  let hasVerifier = 1; let hasCanonicalizer = 1;
}

def Tile_DotScaledOp : Tile_Op<"dot_scaled", [Pure, AttrSizedOperandSegments, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a x b, of operands in block-scaled formats";
  let description = [{
    The operands are `[.., M, K]` and `[.., K, N]`; e2m1 has two values a byte, the first one low, along K, or along M or N
    where `aPacksK` or `bPacksK` is false. A scale stands for a group of neighbours along K: `[.., M, K / group]` and
    `[.., N, K / group]`; bytes are powers of two from 2^-127 on (255 is NaN), floats are themselves. `ignoresNan`: scales
    that are NaN may be taken for numbers. A target without such an instruction asks for the pass expand-scaled-dots.

    ```mlir
    %c = tile.dot_scaled e4m3 %a scale %s : tensor<16x2xi8>, e2m1 %b scale %t : tensor<32x2xi8>, %zeros
           : tensor<16x64xf8E4M3FN>, tensor<32x32xi8> -> tensor<16x32xf32>
    ```
  }];
  let arguments = (ins Tile_ScaledFormatAttr:$aFormat, Tile_Tile:$a, Tile_ScaledFormatAttr:$bFormat, Tile_Tile:$b,
    Tile_Tile:$accumulator, Optional<Tile_Tile>:$aScale, Optional<Tile_Tile>:$bScale,
    DefaultValuedAttr<BoolAttr, "true">:$aPacksK, DefaultValuedAttr<BoolAttr, "true">:$bPacksK,
    DefaultValuedAttr<BoolAttr, "false">:$ignoresNan);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $aFormat $a (`scale` $aScale^ `:` type($aScale))? `,` $bFormat $b (`scale` $bScale^ `:` type($bScale))? `,` $accumulator
    attr-dict `:` type($a) `,` type($b) `->` type($accumulator)
  }];
  let hasVerifier = 1;
}

// ---- Reductions and scans

def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "combines the elements along an axis; the region combines two sets of scalars into one";
  let description = [{
    The region's block has 2N scalar arguments for N operands: first N of the left side, then N of the right, and ends in
    `tile.yield` of N scalars. It is associative and may be applied in any order. A rank-1 operand gives a scalar result.

    ```mlir
    %sums = tile.reduce %x axis 1 {
    ^bb0(%left: f32, %right: f32):
      %sum = arith.addf %left, %right : f32
      tile.yield %sum : f32
    } : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis);
  let results = (outs Variadic<Tile_Any>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "running combination along an axis, inclusive; the region as in tile.reduce, applied left to right";
  let description = [{
    ```mlir
    %running = tile.scan %x axis 0 {
    ^bb0(%left: i32, %right: i32):
      %sum = arith.addi %left, %right : i32
      tile.yield %sum : i32
    } {reverse = true} : (tensor<8xi32>) -> tensor<8xi32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "counts of 0 .. bins-1 among the elements where the mask is true";
  let description = [{
    The result's extent is the number of bins.

    ```mlir
    %counts = tile.histogram %x mask %inside : tensor<64xi1> : tensor<64xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, Optional<Tile_MaskLike>:$mask);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source (`mask` $mask^ `:` type($mask))? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

// ---- Functions of single elements

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "runs the region on each pack of elements, in row-major order";
  let description = [{
    The region's block has `pack` scalar arguments for each operand in turn, and ends in `tile.yield` of `pack` scalars for
    each result in turn. Where the number of elements is no multiple of `pack`, the last element fills the last pack up, and
    what the region gives for the filling is dropped.

    ```mlir
    %swapped = tile.map %x pack 2 {
    ^bb0(%first: i32, %second: i32):
      tile.yield %second, %first : i32, i32
    } : (tensor<8xi32>) -> tensor<8xi32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$pack);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operands `pack` $pack $body attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceOp", "ScanOp", "MapOp"]>]> {
  let summary = "what the region of a tile.reduce, tile.scan or tile.map gives";
  let description = [{
    ```mlir
    tile.yield %value, %index : f32, i32
    ```
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // NACRE_TILE_COMPUTE_TD
