// Operations that only machine code can say, on whole tiles. See NativeCode.h.
#include "compiler/reference/Buffer.h"
#include "compiler/reference/EagerBuilder.h"

using namespace nacre;

Values EagerBuilder::runNative(const std::string &key, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> results,
                               const NativeCode::Emit &emit) {
  if (!program.native)
    fail(Diagnostic::Kind::Unsupported, "machine code cannot be run here",
         "run the kernel compiled, or write the operation in the language");
  // The elements in a row: how they are arranged means nothing to the code.
  auto inARow = [](Type type) { return type.isBlock() ? type.withShape({type.elementCount()}) : type; };
  llvm::SmallVector<Type> operandTypes, resultTypes;
  llvm::SmallVector<BufferRef> sources, targets;
  llvm::SmallVector<const std::byte *> sourceData;
  llvm::SmallVector<std::byte *> targetData;
  for (const Value &operand : operands) {
    operandTypes.push_back(inARow(operand.type()));
    sources.push_back(contiguous(bufferRef(operand)));
    sourceData.push_back(sources.back()->data);
  }
  for (Type type : results) {
    resultTypes.push_back(inARow(type));
    targets.push_back(makeBuffer(type));
    targetData.push_back(targets.back()->data);
  }
  try {
    program.native->run(key, operandTypes, resultTypes, emit, sourceData, targetData);
  } catch (const CompileError &error) {
    Diagnostic diagnostic = error.diagnostic;
    diagnostic.location = location(); // the operation has no other text
    diagnostic.calls.clear();
    throw CompileError(std::move(diagnostic));
  }
  Values values;
  for (const BufferRef &target : targets)
    values.push_back(valueOf(target));
  return values;
}

Values EagerBuilder::inlineAssembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Value> operands,
                                    llvm::ArrayRef<Type> results, bool isPure, int pack) {
  std::string key =
      "asm\n" + std::to_string(pack) + (isPure ? " pure\n" : "\n") + constraints.str() + "\n" + text.str();
  return runNative(key, operands, results, [&](Builder &builder, llvm::ArrayRef<Value> values) {
    llvm::SmallVector<Type> types;
    Shape shape = values.empty() ? Shape() : values.front().type().shape();
    for (Type type : results)
      types.push_back(type.withShape(shape));
    return builder.inlineAssembly(text, constraints, values, types, isPure, pack);
  });
}

Value EagerBuilder::externalCall(const ExternalFunction &function, llvm::ArrayRef<Value> operands, Type result,
                                 bool isPure) {
  std::string key = "extern\n" + function.linkName() + (isPure ? " pure" : "");
  Values values = runNative(key, operands, result, [&](Builder &builder, llvm::ArrayRef<Value> inner) -> Values {
    Shape shape = inner.empty() ? Shape() : inner.front().type().shape();
    return {builder.externalCall(function, inner, result.withShape(shape), isPure)};
  });
  return values.front();
}
