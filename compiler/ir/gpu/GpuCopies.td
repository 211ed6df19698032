// Copies between global and shared memory that the hardware does while the threads go on: words at addresses, and boxes
// of arrays through tensor maps. Included at the end of Gpu.td, on whose types it builds.
#ifndef NACRE_GPU_COPIES_TD
#define NACRE_GPU_COPIES_TD

def Gpu_OpaqueOp : Gpu_Op<"opaque", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same number, of which nothing is known";
  let description = [{
    Addresses that a loop computes from it are computed in each iteration: they do not become as many variables of the loop.

    ```mlir
    %offset = gpu.opaque %carried : i64
    ```
  }];
  let arguments = (ins AnySignlessInteger:$value);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

// ---- Boxes

def Gpu_TensorMap : TypeDef<Gpu_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "an array in global memory of which the hardware copies boxes";
  let description = [{
    `!gpu.tensor_map<tensor<64x32xf16>>` is an argument of a kernel that the launch makes (attribute `gpu.recipe`). Accesses
    take tiles of that shape; the hardware copies them as one box or as several.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$block);
  let assemblyFormat = "`<` $block `>`";
  let extraClassDeclaration = [{
    int64_t getRank() const { return getBlock().getRank(); }
    ::mlir::Type getElementType() const { return getBlock().getElementType(); }
  }];
}

def Gpu_Barriers : TypeDef<Gpu_Dialect, "Barriers"> {
  let mnemonic = "barriers";
  let summary = "a ring of barriers in shared memory that copies complete on";
  let description = [{
    `!gpu.barriers<3>`. A barrier has phases, numbered 0, 1, 0, 1, ...: one begins with the end of the one before, and ends
    when the copy that was started on it has.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

// What tile.descriptor_reduce does, too.
def Gpu_AtomicKind : Attr<CPred<"::llvm::isa<::nacre::tile::AtomicKindAttr>($_self)">, "kind of an atomic"> {
  let storageType = "::nacre::tile::AtomicKindAttr";
  let returnType = "::nacre::tile::AtomicKind";
  let convertFromStorage = "$_self.getValue()";
}

def Gpu_LoadBoxOp : Gpu_Op<"load_box", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the tile that starts at the coordinates; outside of the array it is filled";
  let description = [{
    The hardware copies it to shared memory, all threads wait for it, and read it from there.

    ```mlir
    %x = gpu.load_box %map[%i, %j] : !gpu.tensor_map<tensor<64x32xf16>> -> tensor<64x32xf16, #layout>
    ```
  }];
  let arguments = (ins Gpu_TensorMap:$map, Variadic<I32>:$coordinates);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$map `[` $coordinates `]` attr-dict `:` qualified(type($map)) `->` type($result)";
  let hasVerifier = 1;
}

def Gpu_StoreBoxOp : Gpu_Op<"store_box", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes the tile that starts at the coordinates, or combines it atomically with what is there";
  let description = [{
    The threads write it to shared memory, and the hardware copies it from there; what lies outside of the array it leaves
    out. When the operation ends the memory of the array has it.

    ```mlir
    gpu.store_box %map[%i, %j], %x : !gpu.tensor_map<tensor<64x32xf16>>, tensor<64x32xf16, #layout>
    ```
  }];
  let arguments = (ins Gpu_TensorMap:$map, Variadic<I32>:$coordinates, AnyRankedTensor:$value,
                       OptionalAttr<Gpu_AtomicKind>:$kind);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $value attr-dict `:` qualified(type($map)) `,` type($value)";
  let hasVerifier = 1;
}

def Gpu_AllocateBarriersOp : Gpu_Op<"allocate_barriers"> {
  let summary = "barriers in shared memory, each in its first phase from the start of the kernel on";
  let description = [{
    ```mlir
    %full = gpu.allocate_barriers : !gpu.barriers<3>
    ```
  }];
  let results = (outs Res<Gpu_Barriers, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Gpu_CopyBoxOp : Gpu_Op<"copy_box", [AttrSizedOperandSegments]> {
  let summary = "starts a copy of the tile at the coordinates into shared memory, which completes on a barrier";
  let description = [{
    Where `if` is false nothing is started, and the barrier's phase goes on. The tile's layout is what the map's recipe makes
    of it (Boxes.h). Several copies may complete on one barrier: the first says how many bytes are `expected` of all of them,
    the others that none are.

    ```mlir
    gpu.copy_box %map[%i, %j], %tile, %full[%slot] if %more : !gpu.tensor_map<tensor<64x32xf16>>, !gpu.shared<64x32xf16, #s>, !gpu.barriers<3>
    ```
  }];
  let arguments = (ins Arg<Gpu_TensorMap, "", [MemRead]>:$map, Variadic<I32>:$coordinates, Arg<Gpu_Shared, "", [MemWrite]>:$target,
                       Arg<Gpu_Barriers, "", [MemWrite]>:$barriers, I32:$index, Optional<I1>:$predicate,
                       OptionalAttr<I64Attr>:$expected);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $target `,` $barriers `[` $index `]` (`if` $predicate^)? attr-dict `:`
    qualified(type($map)) `,` qualified(type($target)) `,` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Gpu_AwaitOp : Gpu_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the end of a barrier's phase";
  let description = [{
    Without a phase it is the one after that of the last wait: of barriers that one `await` alone waits at, once for each copy.

    ```mlir
    gpu.await %full[%slot] phase %phase : !gpu.barriers<3>
    ```
  }];
  let arguments = (ins Gpu_Barriers:$barriers, I32:$index, Optional<I32>:$phase);
  let assemblyFormat = "$barriers `[` $index `]` (`phase` $phase^)? attr-dict `:` qualified(type($barriers))";
}

def Gpu_CopyOutOp : Gpu_Op<"copy_out"> {
  let summary = "copies a tile from shared memory to the coordinates, or combines it with what is there";
  let description = [{
    When it ends, the thread that did it has seen it done: the array's memory has the tile, and the shared memory may be
    written by threads that meet it.

    ```mlir
    gpu.copy_out %map[%i, %j], %tile : !gpu.tensor_map<tensor<64x32xf16>>, !gpu.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins Arg<Gpu_TensorMap, "", [MemRead, MemWrite]>:$map, Variadic<I32>:$coordinates,
                       Arg<Gpu_Shared, "", [MemRead]>:$source, OptionalAttr<Gpu_AtomicKind>:$kind);
  let assemblyFormat = "$map `[` $coordinates `]` `,` $source attr-dict `:` qualified(type($map)) `,` qualified(type($source))";
  let hasVerifier = 1;
}

// ---- Words

def Gpu_CopyOp : Gpu_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "starts copies of the elements at the addresses into a tile in shared memory; zeros where the mask is false";
  let description = [{
    Each thread copies the elements whose addresses it holds. Where `if` is false, nothing is copied, and the tile has no
    certain elements. Attribute `gpu.vector` says how many neighbours are one copy: of 4, 8 or 16 bytes.

    ```mlir
    gpu.copy %pointers, %tile mask %mask if %more : tensor<64x32x!tile.ptr<f16>, #r>, !gpu.shared<64x32xf16, #s>
    ```
  }];
  let arguments = (ins Arg<AnyRankedTensor, "", [MemRead]>:$pointer, Arg<Gpu_Shared, "", [MemWrite]>:$target,
                       Optional<AnyRankedTensor>:$mask, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $pointer `,` $target (`mask` $mask^ `:` type($mask))? (`if` $predicate^)? attr-dict `:` type($pointer) `,` qualified(type($target))
  }];
  let hasVerifier = 1;
}

def Gpu_CommitCopiesOp : Gpu_Op<"commit_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the `copy` operations since the last one are a group";
  let description = [{
    ```mlir
    gpu.commit_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Gpu_WaitCopiesOp : Gpu_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until all of the thread's groups of copies but the last `pending` are done; a barrier shows them to others";
  let description = [{
    ```mlir
    gpu.wait_copies 1
    ```
  }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif // NACRE_GPU_COPIES_TD
