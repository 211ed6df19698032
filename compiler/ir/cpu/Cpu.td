// The cpu dialect: what stands between tiles and loops over vectors while the CPU's passes bring one to the other.
//
// pack-dots writes products of tiles as packed operands and their multiplication, still as tiles; lower-to-loops turns
// those into memory and micro-kernels, and asks for scratch memory where it needs some; lower-micro-kernels and
// place-scratch make loops and addresses of these. None of it is left after place-scratch.
#ifndef NACRE_CPU_TD
#define NACRE_CPU_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::nacre::cpu";
  let summary = "Products of tiles as micro-kernels over packed memory, and a program's scratch memory";
  let description = [{
    Attributes of the dialect on operations of others:

    | attribute | on | meaning |
    |---|---|---|
    | `cpu.kernel` | a function | a kernel as loops over its grid: arguments in registers, the runtime's context last |
    | `cpu.type` | its arguments | the type in the language, where that of the register is another |
    | `cpu.scratch_bytes` | the module | scratch memory that a thread needs |
    | `cpu.waits` | the module | a program may wait for another |
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::nacre::tile::TileDialect", "::mlir::LLVM::LLVMDialect"];
}

class Cpu_Op<string mnemonic, list<Trait> traits = []> : Op<Cpu_Dialect, mnemonic, traits>;

def Cpu_Pointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "an address", "::mlir::LLVM::LLVMPointerType">,
                  BuildableType<"$_builder.getType<::mlir::LLVM::LLVMPointerType>()">;
def Cpu_Tile : Type<CPred<"::nacre::tile::isTileType($_self)">, "a tile", "::mlir::RankedTensorType">;
def Cpu_Scalar : Type<CPred<"::nacre::tile::isScalarType($_self)">, "a scalar">;

// ---- Scratch memory

def Cpu_ScratchOp : Cpu_Op<"scratch"> {
  let summary = "memory that a program uses from here on, 64-byte aligned";
  let description = [{
    ```mlir
    %p = cpu.scratch 4096
    %q = cpu.scratch 64 kept
    ```
    It is the program's until `cpu.release`, or until the program ends. Before it is written it holds anything. What is
    `kept` stands outside of the loop over the grid and keeps its contents from one program to the next on the same
    thread, though not across launches.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$bytes, UnitAttr:$kept);
  let results = (outs Res<Cpu_Pointer, "", [MemAlloc]>:$pointer);
  let assemblyFormat = "$bytes (`kept` $kept^)? attr-dict";
  let builders = [OpBuilder<(ins "int64_t":$bytes, CArg<"bool", "false">:$kept), [{
    build($_builder, $_state, $_builder.getType<::mlir::LLVM::LLVMPointerType>(), bytes, kept);
  }]>];
}

def Cpu_ReleaseOp : Cpu_Op<"release"> {
  let summary = "the scratch memory is used no more and may be given to others";
  let description = [{
    ```mlir
    cpu.release %p
    ```
    It stands in the block of the `cpu.scratch` that it ends; nothing after it uses the address.
  }];
  let arguments = (ins Arg<Cpu_Pointer, "", [MemFree]>:$pointer);
  let assemblyFormat = "$pointer attr-dict";
  let hasVerifier = 1;
}

// ---- Products

def Cpu_Engine : I32EnumAttr<"Engine", "what multiplies", [
    I32EnumAttrCase<"Vectors", 0, "vectors">, // a broadcast element of A by a vector of B
    I32EnumAttrCase<"Pairs", 1, "pairs">,     // the same with two neighbours along k at once (AVX512-BF16)
    I32EnumAttrCase<"Tiles", 2, "tiles">,     // tile registers (AMX-BF16)
    I32EnumAttrCase<"Quads", 3, "quads">,     // four neighbours along k at once, of int8 (AVX512-VNNI)
  ]> {
  let cppNamespace = "::nacre::cpu";
}

def Cpu_Blocking : AttrDef<Cpu_Dialect, "Blocking"> {
  let mnemonic = "blocking";
  let summary = "the sizes of a product and how it is cut";
  let description = [{
    `batch` products of m x k by k x n. Operands are kept as `operand`, sums as `sum`. A register block is `rows` rows by
    the columns of one panel, `panel` of them (a power of two), in vectors of `lanes` sums.

    The instruction for quads multiplies unsigned bytes by signed ones. Rows of A then hold each int8 plus 128 as an
    unsigned byte; the micro-kernel takes 128 times the columns' sums of B away.
  }];
  let parameters = (ins "int64_t":$batch, "int64_t":$m, "int64_t":$n, "int64_t":$k, "::mlir::Type":$operand, "::mlir::Type":$sum,
                        "int64_t":$lanes, "int64_t":$panel, "int64_t":$rows, EnumParameter<Cpu_Engine>:$engine);
  let assemblyFormat = "`<` struct(params) `>`";
  let genMnemonicAlias = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t panelCount() const { return (getN() + getPanel() - 1) / getPanel(); }
    // How many neighbours along k are multiplied at once; B's panels hold so many rows interleaved.
    int64_t getGroup() const { return groupOf(getEngine()); }
    static int64_t groupOf(Engine engine) {
      return engine == Engine::Vectors ? 1 : engine == Engine::Quads ? 4 : 2;
    }
    // B in panels: [batch, panels, k, panel], for groups [batch, panels, k/group, panel, group].
    ::mlir::RankedTensorType panelsType() const;
  }];
}

class Cpu_PackOp<string mnemonic> : Cpu_Op<mnemonic, [Pure]> {
  let arguments = (ins Cpu_Tile:$source, Variadic<Cpu_Scalar>:$key, UnitAttr:$kept, Cpu_Blocking:$blocking);
  let results = (outs Cpu_Tile:$packed);
  let assemblyFormat = [{
    $source (`kept` $kept^)? (`by` `(` $key^ `:` type($key) `)`)? attr-dict `:` type($source) `->` type($packed)
  }];
  let hasVerifier = 1;
}

def Cpu_RowsOp : Cpu_PackOp<"rows"> {
  let summary = "the left operand of a product: its rows, each contiguous, of the type that is multiplied";
  let description = [{
    ```mlir
    %rows = cpu.rows %a {blocking = #blocking} : tensor<128x64xf16> -> tensor<128x64xf32>
    ```
    A load of contiguous rows that are of that type already is multiplied where it lies, unless a mask cuts the rows
    short; anything else is packed row-major. What is `kept` is as of `cpu.panels`.
  }];
}

def Cpu_PanelsOp : Cpu_PackOp<"panels"> {
  let summary = "the right operand of a product: packed in panels of as many columns as a register block has";
  let description = [{
    ```mlir
    %panels = cpu.panels %b kept by(%column, %step : i32, i32) {blocking = #blocking}
      : tensor<64x100xf32> -> tensor<1x2x64x64xf32>
    ```
    The result is [batch, panels, k, panel], for groups [batch, panels, k/group, panel, group], of the type that is multiplied.
    Columns beyond n hold anything. What is `kept` is one value for each value of the key within a launch: a program that
    asks for it again on the same thread may find it packed.
  }];
}

def Cpu_MultiplyOp : Cpu_Op<"multiply", [Pure, AttrSizedOperandSegments, AllTypesMatch<["accumulator", "sum"]>]> {
  let summary = "the accumulator and the products of packed operands, summed";
  let description = [{
    ```mlir
    %sum = cpu.multiply %accumulator rows(%a : tensor<128x64xf32>) panels(%b : tensor<1x2x64x64xf32>)
      {blocking = #blocking} : tensor<128x100xf32>
    ```
    There are rows and panels of each product, all of one blocking; the products are added one after the other.
  }];
  let arguments = (ins Cpu_Tile:$accumulator, Variadic<Cpu_Tile>:$rows, Variadic<Cpu_Tile>:$panels, Cpu_Blocking:$blocking);
  let results = (outs Cpu_Tile:$sum);
  let assemblyFormat = [{
    $accumulator `rows` `(` $rows `:` type($rows) `)` `panels` `(` $panels `:` type($panels) `)` attr-dict `:` type($sum)
  }];
  let hasVerifier = 1;
}

def Cpu_MicroKernelOp : Cpu_Op<"micro_kernel", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds products of packed operands to sums in memory";
  let description = [{
    ```mlir
    cpu.micro_kernel %sums rows(%a, %table) panels(%b, %d) ahead(%bytes)
      {blocking = #cpu.blocking<...>, from_zero, tables = array<i1: false, true>}
    ```
    `sums` is [batch, m, n], row-major. Of each product there are the rows of A and the panels of B:

    - rows: [batch, m, k], row-major; or, where `tables` says so, the addresses of m rows, of one batch. `ahead` has for each
      table the bytes from a row to the one that the next micro-kernel is likely to read, or is empty;
    - panels: [batch, panels, k, panel], for groups [batch, panels, k/group, panel, group]. Columns beyond n hold anything.

    With `from_zero` the sums are written and not read.
  }];
  let arguments = (ins Cpu_Pointer:$sums, Variadic<Cpu_Pointer>:$rows, Variadic<Cpu_Pointer>:$panels, Variadic<I64>:$ahead,
                       Cpu_Blocking:$blocking, DenseBoolArrayAttr:$tables, UnitAttr:$from_zero);
  let assemblyFormat = "$sums `rows` `(` $rows `)` `panels` `(` $panels `)` (`ahead` `(` $ahead^ `)`)? attr-dict";
  let hasVerifier = 1;
}

#endif // NACRE_CPU_TD
