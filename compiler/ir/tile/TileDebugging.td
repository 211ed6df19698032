// Debugging, promises to the compiler, and code that is not the dialect's.
#ifndef NACRE_TILE_DEBUGGING_TD
#define NACRE_TILE_DEBUGGING_TD

include "compiler/ir/tile/TileBase.td"

def Tile_PrintOp : Tile_Op<"print", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "prints each element with the program's place; isSigned says how to read each operand's integers";
  let description = [{
    ```mlir
    tile.print "x" %x, %n : tensor<8xf32>, i32 {isSigned = array<i1: false, true>}
    ```
  }];
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Any>:$operands, DefaultValuedAttr<BoolAttr, "false">:$hex,
    DenseBoolArrayAttr:$isSigned);
  let assemblyFormat = "$prefix ($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
}

def Tile_TellOp : Tile_Op<"tell", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "tells the elements to whoever watches the launch; where nobody does, nothing happens";
  let description = [{
    Instrumentation, for tools: the runtime hands kind, subject, the operation's place in the user's text and the elements to the
    launch's watchers (runtime/Events.h). `isSigned` says how to read each operand's integers. The kinds are those of
    `ToldKind` (compiler/ir/tile/ToldKind.h), by name.

    ```mlir
    tile.tell "arithmetic" "div int32" %a, %b : tensor<8xi32>, tensor<8xi32> {isSigned = array<i1: true, true>}
    ```
  }];
  let arguments = (ins I32Attr:$kindNumber, StrAttr:$subject, Variadic<Tile_Any>:$operands, DenseBoolArrayAttr:$isSigned);
  let assemblyFormat = "custom<ToldKind>($kindNumber) $subject ($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins "::nacre::ToldKind":$kind, "::llvm::StringRef":$subject, "::mlir::ValueRange":$operands,
    "::llvm::ArrayRef<bool>":$isSigned), [{
      build($_builder, $_state, static_cast<uint32_t>(kind), subject, operands, isSigned);
    }]>];
  let extraClassDeclaration = [{
    ::nacre::ToldKind getKind() { return static_cast<::nacre::ToldKind>(getKindNumber()); }
  }];
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reports the message, with the source place and program, when any element is false";
  let description = [{
    ```mlir
    tile.assert %inside, "an index is out of range" : tensor<8xi1>
    ```
  }];
  let arguments = (ins Tile_MaskLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_CheckAccessOp : Tile_Op<"check_access", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "ends the launch when an element that is about to be accessed lies outside of the array that argument number `argument` is";
  let description = [{
    With `argument` -1 the element may lie in any array that the kernel was given. Where the runtime does not know the memory of the
    argument, or of all of them, nothing is checked. `access` names the access in the message.

    ```mlir
    tile.check_access "load" %pointers mask %inside : tensor<8xi1> {argument = 0 : i32} : tensor<8x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins StrAttr:$access, Tile_PointerLike:$pointer, Optional<Tile_MaskLike>:$mask, I32Attr:$argument,
    DefaultValuedAttr<BoolAttr, "false">:$writes);
  let assemblyFormat = "$access $pointer (`mask` $mask^ `:` type($mask))? attr-dict `:` type($pointer)";
}

def Tile_AssumeOp : Tile_Op<"assume", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a promise that the condition holds here";
  let description = [{
    It touches no memory, and stays where it stands: what is known is known from here on.

    ```mlir
    tile.assume %isPositive
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tile_HintOp : Tile_Op<"hint", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "a promise about the operand: divisibility, contiguity or constancy, one number an axis";
  let description = [{
    Divisibility: along each axis, the first element of each contiguous run is a multiple of the number. Contiguity: every
    group of this many elements counts up by one. Constancy: every group of this many elements is equal.

    ```mlir
    %offsets = tile.hint %x divisibility [16] : tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_Any:$source, Tile_HintKindAttr:$kind, DenseI64ArrayAttr:$values);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source $kind $values attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the target's own assembly, applied to packs of elements";
  let description = [{
    ```mlir
    %swapped = tile.inline_asm "bswap $0" "=r,0" %x : tensor<8xi32> {isPure = true, pack = 1 : i32} -> tensor<8xi32>
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, Variadic<Tile_Any>:$operands, BoolAttr:$isPure, I32Attr:$pack);
  let results = (outs Variadic<Tile_Any>:$results);
  let assemblyFormat = "$text $constraints ($operands^ `:` type($operands))? attr-dict `->` type($results)";
  let hasVerifier = 1;
}

def Tile_ExternalCallOp : Tile_Op<"external_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a function of a user's library, applied to each element";
  let description = [{
    `isSigned` tells for each operand, then for the result, whether an integer narrower than a register is extended with its
    sign. The digest is the library's, when the kernel was built.

    ```mlir
    %y = tile.external_call "twice" of "/lib.bc" "0123" %x : tensor<8xf32>
           {isPure = true, isSigned = array<i1: false, false>} -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$library, StrAttr:$digest, StrAttr:$symbol, Variadic<Tile_Any>:$operands, BoolAttr:$isPure,
                       DenseBoolArrayAttr:$isSigned);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$symbol `of` $library $digest ($operands^ `:` type($operands))? attr-dict `->` type($result)";
  let hasVerifier = 1;
}

#endif // NACRE_TILE_DEBUGGING_TD
