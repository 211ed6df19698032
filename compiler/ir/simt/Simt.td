// The simt dialect: what tile IR needs besides once every tile has a place in the registers of a block's threads.
//
// From the pass assign-layouts on, a tile in registers is a ranked tensor whose encoding is #simt.layout, and tile, arith,
// math and scf operations work on such tensors unchanged. The operations here say what (a change of layout, a barrier),
// never with which instruction: that is the last lowering's, behind passes/gpu/Machine.h.
#ifndef NACRE_SIMT_TD
#define NACRE_SIMT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// What operations on tiles in shared memory act on: bytes that the block's own threads load and store, and the same bytes
// through the async proxy, which sees what threads have written only after a `simt.fence` of theirs. Every operation states
// its accesses as effects on these; the passes that place memory and barriers read nothing else (SharedAccesses.h).
def Simt_SharedMemory : Resource<"::nacre::simt::SharedMemory">;
def Simt_AsyncSharedMemory : Resource<"::nacre::simt::AsyncSharedMemory">;

def Simt_Dialect : Dialect {
  let name = "simt";
  let cppNamespace = "::nacre::simt";
  let summary = "Tiles in the registers and the shared memory of a block of threads";
  let description = [{
    Attributes of the dialect on operations of others:

    | attribute | on | meaning |
    |---|---|---|
    | `simt.num_warps`, `simt.lanes` | the module | threads of a block: so many warps of so many lanes |
    | `simt.num_ctas` | the module | blocks of the cluster that runs a program, each with so many threads; missing: 1 |
    | `simt.vector` | an access to memory | [axis, count]: so many neighbours along the axis, which lie in registers, are one access |
    | `simt.scratch` | an operation that moves data between threads | bytes of shared memory that it uses while it runs |
    | `simt.offset` | the same | where in shared memory they lie |
    | `simt.ordered` | the same | threads need not meet before it: nobody reads these bytes any more |
    | `simt.shared` | the module | bytes of shared memory of a block |
    | `simt.plan` | a `tile.dot` | how matrix instructions make it (`#simt.dot_plan`) |
    | `simt.recipe` | an argument that is a tensor map | how a launch makes it (TensorMapRecipe.h) |
    | `simt.pointers` | an access through a descriptor | why it becomes pointers and masks |
    | `simt.together` | a loop whose loads were to have warps of their own | why they have not |
    | `simt.again` | a `simt.await` | it waits for the phase that was waited for last (passes/gpu/OverlapDots.h) |
    | `simt.producer_warps` | the module | warps of a block besides those of the kernel |

    A tile in shared memory is a value of type `!simt.shared`: `allocate` makes it, `slot` and `permute` look at it in
    another way, `write` and `read` move it from and to registers, and `dot` may take operands from it. `place-shared`
    gives every allocation its bytes (`simt.offset`), and `place-barriers` orders the accesses of those with one stage.
    A ring of several stages is filled and emptied at the same time: whoever makes one orders its accesses.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::nacre::tile::TileDialect"];
}

def Simt_Layout : AttrDef<Simt_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "where the elements of a tile lie: a linear layout (ir/layout/LinearLayout.h)";
  let description = [{
    The encoding of a tile in registers maps (register, lane, warp, block) to coordinates; that of a tile in shared memory
    maps (offset, block). Its axes are the tile's, each padded to a power of two.
  }];
  let parameters = (ins AttrParameter<"::nacre::LinearLayout", "the map", "const ::nacre::LinearLayout &">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Simt_DotPlan : AttrDef<Simt_Dialect, "DotPlan"> {
  let mnemonic = "dot_plan";
  let summary = "which matrix instruction makes a product, and where its operands are";
  let description = [{
    The layouts of the result and of operands in registers; an operand without one lies in shared memory, in rows along k
    where `along_k` says so.
  }];
  let parameters = (ins StringRefParameter<"the machine's name of it">:$instruction, "::nacre::simt::LayoutAttr":$result,
                        OptionalParameter<"::nacre::simt::LayoutAttr">:$a, OptionalParameter<"::nacre::simt::LayoutAttr">:$b,
                        DefaultValuedParameter<"bool", "false">:$along_k);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Simt_Shared : TypeDef<Simt_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "tiles in shared memory, as many as there are stages";
  let description = [{
    `!simt.shared<64x32xf16, #simt.layout<...>, 3>` is a ring of three tiles. The layout is a bijection from offsets, which
    count elements, to the coordinates of the tile, each axis padded to a power of two. Each tile begins at a
    multiple of `alignment()`. Of a cluster, each block has its part of the tile, or all of it.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::nacre::simt::LayoutAttr":$layout,
                        DefaultValuedParameter<"int64_t", "1">:$stages);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // The widest swizzle, over rows of 128 bytes, repeats after 1024 bytes; asynchronous copies ask for 128.
    static constexpr int64_t mostAlignment = 1024, leastAlignment = 128;
    int64_t alignment() const;
    // From one stage to the next; and of all.
    int64_t stageBytes() const;
    int64_t totalBytes() const { return stageBytes() * getStages(); }
    // The same with another number of stages.
    SharedType withStages(int64_t stages) const;
  }];
}

class Simt_Op<string mnemonic, list<Trait> traits = []> : Op<Simt_Dialect, mnemonic, traits>;

// ---- Tiles in registers

def Simt_ConvertOp : Simt_Op<"convert", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile in another layout";
  let description = [{
    ```mlir
    %y = simt.convert %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Simt_BarrierOp : Simt_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders the accesses of the threads that meet here: all of the block, or the lanes of each warp";
  let description = [{
    ```mlir
    simt.barrier
    simt.barrier warp
    ```
  }];
  let arguments = (ins UnitAttr:$warp);
  let assemblyFormat = "(`warp` $warp^)? attr-dict";
}

// ---- Tiles in shared memory

def Simt_AllocateOp : Simt_Op<"allocate"> {
  let summary = "a tile in shared memory, or a ring of them, with nothing in it yet";
  let description = [{
    Its bytes are its own from here to its last use. In a loop it is the same memory each time.

    ```mlir
    %ring = simt.allocate : !simt.shared<64x32xf16, #s, 3>
    ```
  }];
  let results = (outs Res<Simt_Shared, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Simt_SlotOp : Simt_Op<"slot", [Pure]> {
  let summary = "one tile of a ring";
  let description = [{
    ```mlir
    %tile = simt.slot %ring[%i] : !simt.shared<64x32xf16, #s, 3> -> !simt.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins Simt_Shared:$ring, I32:$index);
  let results = (outs Simt_Shared:$result);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}

def Simt_PermuteOp : Simt_Op<"permute", [Pure]> {
  let summary = "the same bytes, with the axes in another order: axis i of the result is axis order[i]";
  let description = [{
    ```mlir
    %b = simt.permute %tile [1, 0] : !simt.shared<64x32xf16, #s> -> !simt.shared<32x64xf16, #t>
    ```
  }];
  let arguments = (ins Simt_Shared:$source, DenseI32ArrayAttr:$order);
  let results = (outs Simt_Shared:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // The type of a shared tile whose axes are taken in that order.
    static SharedType typeOf(SharedType source, ::llvm::ArrayRef<int32_t> order);
  }];
}

def Simt_WriteOp : Simt_Op<"write"> {
  let summary = "puts a tile from registers into shared memory";
  let description = [{
    ```mlir
    simt.write %x, %tile : tensor<64x32xf16, #r>, !simt.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Arg<Simt_Shared, "", [MemWrite<Simt_SharedMemory>]>:$target);
  let assemblyFormat = "$source `,` $target attr-dict `:` type($source) `,` type($target)";
  let hasVerifier = 1;
}

def Simt_ReadOp : Simt_Op<"read"> {
  let summary = "gets a tile from shared memory into registers";
  let description = [{
    ```mlir
    %x = simt.read %tile : !simt.shared<64x32xf16, #s> -> tensor<64x32xf16, #r>
    ```
  }];
  let arguments = (ins Arg<Simt_Shared, "", [MemRead<Simt_SharedMemory>]>:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Simt_FenceOp : Simt_Op<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "makes the thread's writes to shared memory visible to the async proxy (wgmma, TMA)";
  let description = [{
    Dots that take operands from shared memory, and copies out of it, access memory through the async proxy, which is
    not ordered with the threads' own accesses. Every thread that has written executes this, before a barrier. With
    `global`, writes to global memory become visible to such copies too.

    ```mlir
    simt.fence
    simt.fence global
    ```
  }];
  let arguments = (ins UnitAttr:$global);
  let assemblyFormat = "(`global` $global^)? attr-dict";
}

// ---- Products

def Simt_DotOp : Simt_Op<"dot", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a x b by a matrix instruction; a leading axis is a batch";
  let description = [{
    `instruction` is the name of one of the machine's (passes/gpu/Machine.h, matrixInstructions), the only one who knows
    what it means; it says which types there are, in which layouts register operands are and which operands lie in
    shared memory. All of the tile's instructions are one dot.

    An `async` dot is under way when the next operation begins. Its operands in shared memory may not be overwritten, and
    its result may not be looked at but by further dots that add to it, until a `wait_dots` has handed the result on. Where
    its first operand is a `read` of its own, right before it, it reads and multiplies in two parts along k, and waits
    itself until only one is under way: for `wait_dots` it counts as two.

    ```mlir
    %d = simt.dot "mma.m16n8k16.f16" %a, %b, %c : tensor<64x64xf16, #a>, tensor<64x64xf16, #b> -> tensor<64x64xf32, #c>
    %e = simt.dot "wgmma.n64.f16" async %s, %t, %d : !simt.shared<64x64xf16, #s>, !simt.shared<64x64xf16, #s> -> tensor<64x64xf32, #d>
    ```
  }];
  let arguments = (ins StrAttr:$instruction, UnitAttr:$async, AnyTypeOf<[AnyRankedTensor, Simt_Shared]>:$a,
                       AnyTypeOf<[AnyRankedTensor, Simt_Shared]>:$b, AnyRankedTensor:$accumulator,
                       OptionalAttr<I32Attr>:$maxImpreciseAcc);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $instruction (`async` $async^)? $a `,` $b `,` $accumulator attr-dict `:` type($a) `,` type($b) `->` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Simt_WaitDotsOp : Simt_Op<"wait_dots", [AllTypesMatch<["operands", "results"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all but the last `pending` asynchronous dots are done";
  let description = [{
    The operands come out as results: those of dots that are done may be used, and operands in shared memory that these
    dots have read may be overwritten once the threads have met.

    ```mlir
    %done = simt.wait_dots 0, %e : tensor<64x64xf32, #d>
    ```
  }];
  let arguments = (ins I32Attr:$pending, Variadic<AnyRankedTensor>:$operands);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$pending (`,` $operands^)? attr-dict (`:` type($operands)^)?";
}
include "compiler/ir/simt/SimtCopies.td"

#endif // NACRE_SIMT_TD
