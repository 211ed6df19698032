// The tile dialect itself: its types, the kinds of operands its operations take, and its enumerations.
#ifndef NACRE_TILE_BASE_TD
#define NACRE_TILE_BASE_TD

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
  let description = [{
    Besides its operations the dialect knows attributes that stand on operations of others; all of them are verified
    (KernelAttributes.h): `tile.kernel` on a function, `tile.divisibility` on its arguments, the hints of loops, and the
    options of the launch on the module. `arith` and `math` operations on floats carry their accuracy as fast-math flags:

    | flags | meaning |
    |---|---|
    | none | correctly rounded division and square root; elementary functions within 2 ulp (of f32 a GPU's exp and exp2 within 3) |
    | `arcp` | an f32 division may be a few ulp off: what `/` promises |
    | `afn` | the machine's own approximation may be taken, also where its range is smaller: `fast_expf` and their like |

    A target that has nothing faster computes them all alike.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::ub::UBDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

// ---- Types

class Tile_Type<string name, string keyword> : TypeDef<Tile_Dialect, name> { let mnemonic = keyword; }

def Tile_Pointer : Tile_Type<"Pointer", "ptr"> {
  let summary = "the address of an element";
  let description = [{
    `!tile.ptr<f32>` addresses f32 elements; offsets count elements. `!tile.ptr<i1>` addresses bytes: 0 is false.
    `!tile.ptr<f32, const>` addresses memory that the kernel only reads, and that nobody writes while it runs;
    `!tile.ptr<f32, 3>` lies in address space 3.
  }];
  let parameters = (ins "::mlir::Type":$pointee, DefaultValuedParameter<"int", "1">:$addressSpace,
                        DefaultValuedParameter<"bool", "false">:$isConst);
  let assemblyFormat = "`<` $pointee `` custom<PointerQualifiers>($addressSpace, $isConst) `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee, CArg<"int", "1">:$addressSpace,
                                                      CArg<"bool", "false">:$isConst), [{
    return $_get(pointee.getContext(), pointee, addressSpace, isConst);
  }]>];
}

def Tile_Float8E4B15 : Tile_Type<"Float8E4B15", "f8E4B15"> {
  let summary = "8-bit float with 4 exponent bits and bias 15, the one format builtin types lack";
}

def Tile_Descriptor : Tile_Type<"Descriptor", "descriptor"> {
  let summary = "an array in memory, accessed by blocks of one shape";
  let description = [{
    `!tile.descriptor<tensor<64x32xf16>>` describes an array of two axes whose blocks are 64 by 32. Its base, its extents and
    its strides are known at run time; the last stride is 1. One that the host made is one argument of the kernel, whose
    attributes tell how it arrives (KernelAttributes.h).
  }];
  let parameters = (ins "::mlir::RankedTensorType":$block);
  let assemblyFormat = "`<` $block `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$block), [{
    return $_get(block.getContext(), block);
  }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getBlock().getRank(); }
    ::mlir::Type getElementType() const { return getBlock().getElementType(); }
  }];
  let genVerifyDecl = 1;
}

def Tile_Scalar : Type<CPred<"::nacre::tile::isScalarType($_self)">, "number or pointer">;
def Tile_Tile : Type<CPred<"::nacre::tile::isTileType($_self)">, "tile", "::mlir::RankedTensorType">;
def Tile_Any : AnyTypeOf<[Tile_Scalar, Tile_Tile]>;
def Tile_PointerLike : Type<CPred<"::nacre::tile::isPointerLike($_self)">, "pointer or tile of pointers">;
def Tile_IntLike : Type<CPred<"::nacre::tile::isIntegerLike($_self)">, "integer or tile of integers">;
def Tile_IntTile : Type<And<[Tile_Tile.predicate, Tile_IntLike.predicate]>, "tile of integers", "::mlir::RankedTensorType">;
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
def Tile_HintKind : Tile_Enum<"HintKind", "what a hint promises", [
  I32EnumAttrCase<"Divisibility", 0, "divisibility">, I32EnumAttrCase<"Contiguity", 1, "contiguity">,
  I32EnumAttrCase<"Constancy", 2, "constancy">]>;
def Tile_HintKindAttr : Tile_EnumAttr<Tile_HintKind, "hint_kind">;

def Tile_Padding : Tile_Enum<"Padding", "what reads outside of an array give", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Nan", 1, "nan">]>;
def Tile_PaddingAttr : Tile_EnumAttr<Tile_Padding, "padding">;
def Tile_ScaledFormat : Tile_Enum<"ScaledFormat", "format of an operand of a scaled product", [
  I32EnumAttrCase<"E2M1", 0, "e2m1">, I32EnumAttrCase<"E4M3", 1, "e4m3">, I32EnumAttrCase<"E5M2", 2, "e5m2">,
  I32EnumAttrCase<"BF16", 3, "bf16">, I32EnumAttrCase<"FP16", 4, "fp16">]>;
def Tile_ScaledFormatAttr : Tile_EnumAttr<Tile_ScaledFormat, "scaled_format">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // NACRE_TILE_BASE_TD
