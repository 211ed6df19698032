// What an operation says of itself to the passes over tiles with layouts. The operations of the tile dialect say it by
// models that stand with the rules (LayoutRules.cpp, passes/gpu/Scratch.cpp); one of this dialect implements the
// interface.
#ifndef NACRE_SIMT_INTERFACES_TD
#define NACRE_SIMT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Simt_LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::nacre::simt";
  let description = [{
    How the layouts of operands and results hang together. An operation that says nothing has all of its tiles in one
    layout.

    An operation on shapes leaves every value in its register and only renames the coordinates; from the layout of one
    side follows the layout of the other.
  }];
  let methods = [
    InterfaceMethod<"Whether it is one on shapes, in place.", "bool", "isShape", (ins), "", [{ return false; }]>,
    InterfaceMethod<"Whether the operand may be in any layout: it goes through shared memory.", "bool", "takesAnyLayout",
      (ins "unsigned":$operand), "", [{ return false; }]>,
    InterfaceMethod<"Whether results come through shared memory, in whatever layout they are wanted.", "bool", "givesAnyLayout",
      (ins), "", [{ return false; }]>,
    InterfaceMethod<"Of the results, for its (tile) operands in that layout. None: it cannot be done in place from it.",
      "::std::optional<::nacre::LinearLayout>", "resultLayout", (ins "const ::nacre::LinearLayout &":$operand), "",
      [{ return operand; }]>,
    InterfaceMethod<"Of the operands, for its results in that layout. None: it cannot be done in place to it.",
      "::std::optional<::nacre::LinearLayout>", "operandLayout", (ins "const ::nacre::LinearLayout &":$result), "",
      [{ return result; }]>,
    InterfaceMethod<"Of one on shapes: for each register of a result, where its value is. None: it is in another thread.",
      "::std::optional<::llvm::SmallVector<::nacre::simt::Registers>>", "sourceRegisters", (ins "unsigned":$result), "",
      [{ return ::std::nullopt; }]>
  ];
}

def Simt_ScratchOpInterface : OpInterface<"ScratchOpInterface"> {
  let cppNamespace = "::nacre::simt";
  let description = [{
    Shared memory that the operation uses for itself while it runs. An operation that says nothing uses none.
  }];
  let methods = [
    InterfaceMethod<"By the layouts of its operands and results.", "::nacre::simt::ScratchUse", "scratch", (ins)>
  ];
}

#endif // NACRE_SIMT_INTERFACES_TD
