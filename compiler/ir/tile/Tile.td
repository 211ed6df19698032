// The tile dialect: a kernel as operations on whole tiles.
//
// A tile is a builtin ranked tensor of any static shape, its elements numbers or `!tile.ptr`. Elementwise arithmetic is
// `arith` and `math` on those tensors, control flow is `scf`; this dialect adds what they lack: the grid, pointers and memory,
// shapes, dot, reductions, and debugging. A kernel is a `func.func` with the unit attribute `tile.kernel`.
#ifndef NACRE_TILE_TD
#define NACRE_TILE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::nacre::tile";
  let summary = "Operations on whole tiles";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::ub::UBDialect"];
  let hasConstantMaterializer = 1;
}

// ---- Types

class Tile_Type<string name, string keyword> : TypeDef<Tile_Dialect, name> { let mnemonic = keyword; }

def Tile_Pointer : Tile_Type<"Pointer", "ptr"> {
  let summary = "the address of an element";
  let description = [{
    `!tile.ptr<f32>` addresses f32 elements; offsets count elements. `!tile.ptr<i1>` addresses bytes: 0 is false.
  }];
  let parameters = (ins "::mlir::Type":$pointee, DefaultValuedParameter<"int", "1">:$addressSpace);
  let assemblyFormat = "`<` $pointee (`,` $addressSpace^)? `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointee.getContext(), pointee, addressSpace);
  }]>];
}

def Tile_Float8E4B15 : Tile_Type<"Float8E4B15", "f8E4B15"> {
  let summary = "8-bit float with 4 exponent bits and bias 15, the one format builtin types lack";
}

def Tile_Scalar : Type<CPred<"::nacre::tile::isScalarType($_self)">, "number or pointer">;
def Tile_Tile : Type<CPred<"::nacre::tile::isTileType($_self)">, "tile", "::mlir::RankedTensorType">;
def Tile_Any : AnyTypeOf<[Tile_Scalar, Tile_Tile]>;
def Tile_PointerLike : Type<CPred<"::nacre::tile::isPointerLike($_self)">, "pointer or tile of pointers">;
def Tile_IntLike : Type<CPred<"::nacre::tile::isIntegerLike($_self)">, "integer or tile of integers">;
def Tile_FloatLike : Type<CPred<"::nacre::tile::isFloatLike($_self)">, "float or tile of floats">;
def Tile_MaskLike : Type<CPred<"::nacre::tile::isMaskLike($_self)">, "i1 or tile of i1">;

// ---- Enumerations

class Tile_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> { let cppNamespace = "::nacre::tile"; let genSpecializedAttr = 0; }
class Tile_EnumAttr<I32EnumAttr enum, string keyword> : EnumAttr<Tile_Dialect, enum, keyword>;

def Tile_CacheModifier : Tile_Enum<"CacheModifier", "cache modifier of an access", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"CA", 1, "ca">, I32EnumAttrCase<"CG", 2, "cg">,
  I32EnumAttrCase<"CS", 3, "cs">, I32EnumAttrCase<"CV", 4, "cv">, I32EnumAttrCase<"WB", 5, "wb">, I32EnumAttrCase<"WT", 6, "wt">]>;
def Tile_CacheModifierAttr : Tile_EnumAttr<Tile_CacheModifier, "cache">;
def Tile_EvictionPolicy : Tile_Enum<"EvictionPolicy", "eviction policy of an access", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"First", 1, "evict_first">, I32EnumAttrCase<"Last", 2, "evict_last">]>;
def Tile_EvictionPolicyAttr : Tile_EnumAttr<Tile_EvictionPolicy, "eviction">;
def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic does", [
  I32EnumAttrCase<"And", 0, "and">, I32EnumAttrCase<"Or", 1, "or">, I32EnumAttrCase<"Xor", 2, "xor">,
  I32EnumAttrCase<"AddI", 3, "addi">, I32EnumAttrCase<"AddF", 4, "addf">, I32EnumAttrCase<"MaxS", 5, "maxs">,
  I32EnumAttrCase<"MaxU", 6, "maxu">, I32EnumAttrCase<"MinS", 7, "mins">, I32EnumAttrCase<"MinU", 8, "minu">,
  I32EnumAttrCase<"MaxF", 9, "maxf">, I32EnumAttrCase<"MinF", 10, "minf">, I32EnumAttrCase<"Exchange", 11, "xchg">]>;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic">;
def Tile_MemoryOrder : Tile_Enum<"MemoryOrder", "ordering of an atomic", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">]>;
def Tile_MemoryOrderAttr : Tile_EnumAttr<Tile_MemoryOrder, "order">;
def Tile_MemoryScope : Tile_Enum<"MemoryScope", "who sees an atomic", [
  I32EnumAttrCase<"CTA", 0, "cta">, I32EnumAttrCase<"GPU", 1, "gpu">, I32EnumAttrCase<"System", 2, "sys">]>;
def Tile_MemoryScopeAttr : Tile_EnumAttr<Tile_MemoryScope, "scope">;
def Tile_DotPrecision : Tile_Enum<"DotPrecision", "how f32 operands are multiplied", [
  I32EnumAttrCase<"TF32", 0, "tf32">, I32EnumAttrCase<"TF32x3", 1, "tf32x3">, I32EnumAttrCase<"IEEE", 2, "ieee">,
  I32EnumAttrCase<"BF16x3", 3, "bf16x3">, I32EnumAttrCase<"BF16x6", 4, "bf16x6">]>;
def Tile_DotPrecisionAttr : Tile_EnumAttr<Tile_DotPrecision, "precision">;
def Tile_Rounding : Tile_Enum<"Rounding", "rounding of a float conversion", [
  I32EnumAttrCase<"NearestEven", 0, "rtne">, I32EnumAttrCase<"TowardZero", 1, "rtz">]>;
def Tile_RoundingAttr : Tile_EnumAttr<Tile_Rounding, "rounding">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

// ---- The grid

class Tile_GridOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let builders = [OpBuilder<(ins "int":$axis), [{
    build($_builder, $_state, $_builder.getI32Type(), $_builder.getI32IntegerAttr(axis));
  }]>];
}
def Tile_ProgramIdOp : Tile_GridOp<"program_id"> { let summary = "this program's place along a grid axis"; }
def Tile_NumProgramsOp : Tile_GridOp<"num_programs"> { let summary = "the grid's extent along an axis"; }

// Readings of the machine: each happens once, where it stands.
class Tile_MachineOp<string mnemonic, Type type> : Tile_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs type:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Tile_ClockOp : Tile_MachineOp<"clock", I64> { let summary = "nanoseconds of a clock that all programs share"; }
def Tile_ProcessorOp : Tile_MachineOp<"processor", I32> { let summary = "the number of the processor that runs this"; }

// ---- Making and reshaping tiles

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let arguments = (ins I64Attr:$start);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile whose every element is the operand";
  let arguments = (ins Tile_Scalar:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts an axis of extent 1";
  let arguments = (ins Tile_Tile:$source, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats along axes of extent 1; the rank stays";
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "result axis i is operand axis order[i]";
  let arguments = (ins Tile_Tile:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasCanonicalizer = 1; let hasFolder = 1;
}

def Tile_ConcatenateOp : Tile_Op<"concatenate", [Pure]> {
  let summary = "two tiles after one another along an axis";
  let arguments = (ins Tile_Tile:$first, Tile_Tile:$second, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$first `,` $second $axis attr-dict `:` type($first) `,` type($second) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "two tiles side by side along a new last axis of extent 2";
  let arguments = (ins Tile_Tile:$first, Tile_Tile:$second);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "the two halves along a last axis of extent 2 (scalars when the rank is 1)";
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Any:$first, Tile_Any:$second);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($first)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "one element, at a constant place";
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$index);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$source $index attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1; let hasFolder = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "result[i..] = source[i.., index[i..], ..i] along an axis";
  let arguments = (ins Tile_Tile:$source, Tile_Tile:$index, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `[` $index `]` $axis attr-dict `:` type($source) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

// ---- Conversions that arith does not say

def Tile_FpCastOp : Tile_Op<"fp_cast", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "conversion between float types: any to or from fp8 (saturating), or with a stated rounding";
  let arguments = (ins Tile_FloatLike:$source, DefaultValuedAttr<Tile_RoundingAttr, "Rounding::NearestEven">:$rounding);
  let results = (outs Tile_FloatLike:$result);
  let assemblyFormat = "$source (`round` $rounding^)? attr-dict `:` type($source) `->` type($result)";
}
def Tile_BitcastOp : Tile_Op<"bitcast", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "the same bits as another type of equal width; also pointer to pointer";
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Tile_PointerLike:$source);
  let results = (outs Tile_IntLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Tile_IntLike:$source);
  let results = (outs Tile_PointerLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

// ---- Memory

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, Elementwise, SameOperandsAndResultShape, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "the address `offset` elements on; the offset is i32 or i64 and signed";
  let arguments = (ins Tile_PointerLike:$pointer, Tile_IntLike:$offset);
  let results = (outs Tile_PointerLike:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads the addressed elements; where the mask is false nothing is read and the result is `other`, or zero";
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
  let arguments = (ins Tile_PointerLike:$pointer, Tile_Any:$expected, Tile_Any:$desired,
    DefaultValuedAttr<Tile_MemoryOrderAttr, "MemoryOrder::AcquireRelease">:$order,
    DefaultValuedAttr<Tile_MemoryScopeAttr, "MemoryScope::GPU">:$scope);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$pointer `,` $expected `,` $desired attr-dict `:` type($pointer) `,` type($expected)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "orders every access before it and every access after it, across the elements of the program";
  let assemblyFormat = "attr-dict";
}

// ---- Linear algebra

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a x b, over the last two axes; a leading axis is a batch";
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$accumulator,
    DefaultValuedAttr<Tile_DotPrecisionAttr, "DotPrecision::TF32">:$precision);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $accumulator (`precision` $precision^)? attr-dict `:` type($a) `,` type($b) `->` type($accumulator)";
  let hasVerifier = 1; let hasCanonicalizer = 1;
}

// ---- Reductions and scans

def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "combines the elements along an axis; the region combines two sets of scalars into one";
  let description = [{
    The region's block has 2N scalar arguments for N operands: first N of the left side, then N of the right, and ends in
    `tile.yield` of N scalars. It is associative and may be applied in any order. A rank-1 operand gives a scalar result.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis);
  let results = (outs Variadic<Tile_Any>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "running combination along an axis, inclusive; the region as in tile.reduce, applied left to right";
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

// ---- Functions of single elements

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "runs the region on each pack of elements, in row-major order";
  let description = [{
    The region's block has `pack` scalar arguments for each operand in turn, and ends in `tile.yield` of `pack` scalars for
    each result in turn. Where the number of elements is no multiple of `pack`, the last element fills the last pack up, and
    what the region gives for the filling is dropped.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I32Attr:$pack);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operands `pack` $pack $body attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceOp", "ScanOp", "MapOp"]>]> {
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "counts of 0 .. bins-1 among the elements where the mask is true";
  let arguments = (ins Tile_Tile:$source, Optional<Tile_MaskLike>:$mask);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source (`mask` $mask^ `:` type($mask))? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

// ---- Debugging and hints

def Tile_PrintOp : Tile_Op<"print", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "prints each element with the program's place; isSigned says how to read each operand's integers";
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Any>:$operands, DefaultValuedAttr<BoolAttr, "false">:$hex,
    DenseBoolArrayAttr:$isSigned);
  let assemblyFormat = "$prefix ($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reports the message, with the source place and program, when any element is false";
  let arguments = (ins Tile_MaskLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_CheckAccessOp : Tile_Op<"check_access", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "ends the launch when an element that is about to be accessed lies outside of the array that argument number `argument` is";
  let description = [{
    With `argument` -1 the element may lie in any array that the kernel was given. Where the runtime does not know the memory of the
    argument, or of all of them, nothing is checked. `access` names the access in the message.
  }];
  let arguments = (ins StrAttr:$access, Tile_PointerLike:$pointer, Optional<Tile_MaskLike>:$mask, I32Attr:$argument,
    DefaultValuedAttr<BoolAttr, "false">:$writes);
  let assemblyFormat = "$access $pointer (`mask` $mask^ `:` type($mask))? attr-dict `:` type($pointer)";
}

def Tile_AssumeOp : Tile_Op<"assume", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_HintOp : Tile_Op<"hint", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "a promise about the operand: divisibility, contiguity or constancy, one number an axis";
  let arguments = (ins Tile_Any:$source, StrAttr:$kind, DenseI64ArrayAttr:$values);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source $kind $values attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the target's own assembly, applied to packs of elements";
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, Variadic<Tile_Any>:$operands, BoolAttr:$isPure, I32Attr:$pack);
  let results = (outs Variadic<Tile_Any>:$results);
  let assemblyFormat = "$text $constraints ($operands^ `:` type($operands))? attr-dict `->` type($results)";
  let hasVerifier = 1;
}

def Tile_ExternalCallOp : Tile_Op<"external_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a function of a user's library, applied to each element";
  let description = [{
    `isSigned` tells for each operand, then for the result, whether an integer narrower than a register is extended with its
    sign.
  }];
  let arguments = (ins StrAttr:$library, StrAttr:$digest, StrAttr:$symbol, Variadic<Tile_Any>:$operands, BoolAttr:$isPure,
                       DenseBoolArrayAttr:$isSigned);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$symbol `of` $library $digest ($operands^ `:` type($operands))? attr-dict `->` type($result)";
  let hasVerifier = 1;
}

#endif // NACRE_TILE_TD
