// Copies between global and shared memory that the hardware does while the threads go on: words at addresses, and boxes
// of arrays through tensor maps. Included at the end of Simt.td, on whose types it builds.
#ifndef NACRE_SIMT_COPIES_TD
#define NACRE_SIMT_COPIES_TD

def Simt_OpaqueOp : Simt_Op<"opaque", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same number, of which nothing is known";
  let description = [{
    Addresses that a loop computes from it are computed in each iteration: they do not become as many variables of the loop.

    ```mlir
    %offset = simt.opaque %carried : i64
    ```
  }];
  let arguments = (ins AnySignlessInteger:$value);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

// ---- Boxes

def Simt_TensorMap : TypeDef<Simt_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "an array in global memory of which the hardware copies boxes";
  let description = [{
    `!simt.tensor_map<tensor<64x32xf16>>` is an argument of a kernel that the launch makes (attribute `simt.recipe`). Accesses
    take tiles of that shape; the hardware copies them as one box or as several.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$block);
  let assemblyFormat = "`<` $block `>`";
  let extraClassDeclaration = [{
    int64_t getRank() const { return getBlock().getRank(); }
    ::mlir::Type getElementType() const { return getBlock().getElementType(); }
  }];
}

def Simt_Barriers : TypeDef<Simt_Dialect, "Barriers"> {
  let mnemonic = "barriers";
  let summary = "a ring of barriers in shared memory that copies complete on";
  let description = [{
    `!simt.barriers<3>`. A barrier has phases, numbered 0, 1, 0, 1, ...: one begins with the end of the one before, and ends
    when the copy that was started on it has.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

// What tile.descriptor_reduce does, too.
def Simt_AtomicKind : Attr<CPred<"::llvm::isa<::nacre::tile::AtomicKindAttr>($_self)">, "kind of an atomic"> {
  let storageType = "::nacre::tile::AtomicKindAttr";
  let returnType = "::nacre::tile::AtomicKind";
  let convertFromStorage = "$_self.getValue()";
}

def Simt_LoadBoxOp : Simt_Op<"load_box", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the tile that starts at the coordinates; outside of the array it is filled";
  let description = [{
    The hardware copies it to shared memory, all threads wait for it, and read it from there.

    ```mlir
    %x = simt.load_box %map[%i, %j] : !simt.tensor_map<tensor<64x32xf16>> -> tensor<64x32xf16, #layout>
    ```
  }];
  let arguments = (ins Simt_TensorMap:$map, Variadic<I32>:$coordinates);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$map `[` $coordinates `]` attr-dict `:` qualified(type($map)) `->` type($result)";
  let hasVerifier = 1;
}

def Simt_StoreBoxOp : Simt_Op<"store_box", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes the tile that starts at the coordinates, or combines it atomically with what is there";
  let description = [{
    The threads write it to shared memory, and the hardware copies it from there; what lies outside of the array it leaves
    out. When the operation ends the memory of the array has it.

    ```mlir
    simt.store_box %map[%i, %j], %x : !simt.tensor_map<tensor<64x32xf16>>, tensor<64x32xf16, #layout>
    ```
  }];
  let arguments = (ins Simt_TensorMap:$map, Variadic<I32>:$coordinates, AnyRankedTensor:$value,
                       OptionalAttr<Simt_AtomicKind>:$kind);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $value attr-dict `:` qualified(type($map)) `,` type($value)";
  let hasVerifier = 1;
}

def Simt_AllocateBarriersOp : Simt_Op<"allocate_barriers"> {
  let summary = "barriers in shared memory, each in its first phase from the start of the kernel on";
  let description = [{
    Those that are `released` end a phase when every warp of the kernel has released them, and the phase before the first
    is over: whoever fills slots and waits for them passes as often as there are slots.

    ```mlir
    %full = simt.allocate_barriers : !simt.barriers<3>
    %empty = simt.allocate_barriers released : !simt.barriers<3>
    ```
  }];
  let arguments = (ins UnitAttr:$released);
  let results = (outs Res<Simt_Barriers, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`released` $released^)? attr-dict `:` qualified(type($result))";
}

def Simt_CopyBoxOp : Simt_Op<"copy_box", [AttrSizedOperandSegments]> {
  let summary = "starts a copy of the tile at the coordinates into shared memory, which completes on a barrier";
  let description = [{
    Where `if` is false nothing is started, and the barrier's phase goes on. The tile's layout is what the map's recipe makes
    of it (Boxes.h). Several copies may complete on one barrier: the first says how many bytes are `expected` of all of them,
    the others that none are.

    ```mlir
    simt.copy_box %map[%i, %j], %tile, %full[%slot] if %more : !simt.tensor_map<tensor<64x32xf16>>, !simt.shared<64x32xf16, #s>, !simt.barriers<3>
    ```
  }];
  let arguments = (ins Arg<Simt_TensorMap, "", [MemRead]>:$map, Variadic<I32>:$coordinates,
                       Arg<Simt_Shared, "", [MemWrite<Simt_AsyncSharedMemory>]>:$target,
                       Arg<Simt_Barriers, "", [MemWrite]>:$barriers, I32:$index, Optional<I1>:$predicate,
                       OptionalAttr<I64Attr>:$expected);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $target `,` $barriers `[` $index `]` (`if` $predicate^)? attr-dict `:`
    qualified(type($map)) `,` qualified(type($target)) `,` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Simt_AwaitOp : Simt_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the end of a barrier's phase";
  let description = [{
    Without a phase it is the one after that of the last wait: of barriers at which each phase is waited for once.

    ```mlir
    simt.await %full[%slot] phase %phase : !simt.barriers<3>
    ```
  }];
  let arguments = (ins Simt_Barriers:$barriers, I32:$index, Optional<I32>:$phase);
  let assemblyFormat = "$barriers `[` $index `]` (`phase` $phase^)? attr-dict `:` qualified(type($barriers))";
}

def Simt_CopyOutOp : Simt_Op<"copy_out"> {
  let summary = "copies a tile from shared memory to the coordinates, or combines it with what is there";
  let description = [{
    When it ends, the thread that did it has seen it done: the array's memory has the tile, and the shared memory may be
    written by threads that meet it.

    ```mlir
    simt.copy_out %map[%i, %j], %tile : !simt.tensor_map<tensor<64x32xf16>>, !simt.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins Arg<Simt_TensorMap, "", [MemRead, MemWrite]>:$map, Variadic<I32>:$coordinates,
                       Arg<Simt_Shared, "", [MemRead<Simt_AsyncSharedMemory>]>:$source, OptionalAttr<Simt_AtomicKind>:$kind);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $source attr-dict `:` qualified(type($map)) `,` qualified(type($source))";
  let hasVerifier = 1;
}

// ---- Warps of their own

def Simt_EndOp : Simt_Op<"end", [Terminator, Pure, HasParent<"ProducerOp">]> {
  let summary = "the end of what other warps do";
  let assemblyFormat = "attr-dict";
}

def Simt_ProducerOp : Simt_Op<"producer", [SingleBlockImplicitTerminator<"EndOp">, NoRegionArguments,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what one thread of another group of warps does, while the kernel's own warps go on behind it";
  let description = [{
    These warps end with it. What follows the operation is the kernel's own warps' alone: `barrier` and all that has
    threads meet is among them. The region uses values from outside that every thread makes at the kernel's start:
    arguments, allocations and barriers. It fills rings, and waits until they are released.

    `registers`, where they are said, is how many registers each thread has from here on: of the producer, and of the
    others.

    ```mlir
    simt.producer {
      scf.for %i = %begin to %end step %one : i32 {
        simt.await %empty[%slot] : !simt.barriers<3>
        simt.copy_box %map[%i, %zero], %tile, %full[%slot] : ...
      }
    }
    ```
  }];
  let arguments = (ins OptionalAttr<DenseI32ArrayAttr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`registers` $registers^)? $body attr-dict";
  let hasVerifier = 1;
}

def Simt_ReleaseOp : Simt_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the warp will not read any more what the barrier guards";
  let description = [{
    Where `if` is false, nothing happens. With `after_reads` the warp's threads have read it by themselves, and meet first.

    ```mlir
    simt.release %empty[%slot] if %more : !simt.barriers<3>
    ```
  }];
  let arguments = (ins Arg<Simt_Barriers, "", [MemWrite]>:$barriers, I32:$index, Optional<I1>:$predicate,
                       UnitAttr:$afterReads);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`if` $predicate^)? (`after_reads` $afterReads^)? attr-dict `:` qualified(type($barriers))
  }];
}

// ---- Words

def Simt_CopyOp : Simt_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "starts copies of the elements at the addresses into a tile in shared memory; zeros where the mask is false";
  let description = [{
    Each thread copies the elements whose addresses it holds. Where `if` is false, nothing is copied, and the tile has no
    certain elements. Attribute `simt.vector` says how many neighbours are one copy: of 4, 8 or 16 bytes.

    ```mlir
    simt.copy %pointers, %tile mask %mask if %more : tensor<64x32x!tile.ptr<f16>, #r>, !simt.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins Arg<AnyRankedTensor, "", [MemRead]>:$pointer, Arg<Simt_Shared, "", [MemWrite<Simt_SharedMemory>]>:$target,
                       Optional<AnyRankedTensor>:$mask, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $pointer `,` $target (`mask` $mask^ `:` type($mask))? (`if` $predicate^)? attr-dict `:` type($pointer) `,` qualified(type($target))
  }];
  let hasVerifier = 1;
}

def Simt_CommitCopiesOp : Simt_Op<"commit_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the `copy` operations since the last one are a group";
  let description = [{
    ```mlir
    simt.commit_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_WaitCopiesOp : Simt_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all of the thread's groups of copies but the last `pending` are done; a barrier shows them to others";
  let description = [{
    ```mlir
    simt.wait_copies 1
    ```
  }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif // NACRE_SIMT_COPIES_TD
