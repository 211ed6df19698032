// See CompiledMath.h. The kernel is tile IR, compiled by the CPU target as any other and called as the runtime does.
#include "compiler/targets/cpu/test/CompiledMath.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <stdexcept>

namespace nacre {

struct CompiledMath::Code {
  std::unique_ptr<cpu::LoadedCode> kernel;
};

static const char *elementName(MathElement element) {
  switch (element) {
  case MathElement::Half:
    return "f16";
  case MathElement::BFloat:
    return "bf16";
  case MathElement::Single:
    return "f32";
  case MathElement::Double:
    return "f64";
  }
  llvm_unreachable("no such element");
}

// Program p: out[p * lanes + i] = op(x[p * lanes + i], ...). The offset is 64 bits wide: --all takes 2^32 elements.
static std::string kernelText(const std::string &opName, unsigned operandCount, MathElement element) {
  std::string type = elementName(element), tile = llvm::formatv("tensor<{0}x{1}>", CompiledMath::lanes, type).str();
  std::string pointers = llvm::formatv("tensor<{0}x!tile.ptr<{1}>>", CompiledMath::lanes, type).str();
  std::string body, operands, types;
  auto address = [&](const char *argument) {
    body += llvm::formatv("  %{0}s = tile.splat %{0} : !tile.ptr<{1}> -> {2}\n"
                          "  %{0}p = tile.addptr %{0}s, %offsets : {2}, tensor<{3}xi64>\n",
                          argument, type, pointers, CompiledMath::lanes)
                .str();
  };
  const char *names[] = {"x", "y"};
  for (unsigned operand = 0; operand < operandCount; ++operand) {
    address(names[operand]);
    body += llvm::formatv("  %{0}v = tile.load %{0}p : {1} -> {2}\n", names[operand], pointers, tile).str();
    operands += llvm::formatv("{0}%{1}v", operand ? ", " : "", names[operand]).str();
    types += (operand ? ", " : "") + tile;
  }
  address("out");
  return llvm::formatv(R"(
func.func @loop(%x: !tile.ptr<{0}>, %y: !tile.ptr<{0}>, %out: !tile.ptr<{0}>) attributes {{tile.kernel} {{
  %pid = tile.program_id 0
  %wide = arith.extui %pid : i32 to i64
  %lanes = arith.constant {1} : i64
  %base = arith.muli %wide, %lanes : i64
  %lane = tile.arange 0 : tensor<{1}xi32>
  %laneWide = arith.extui %lane : tensor<{1}xi32> to tensor<{1}xi64>
  %bases = tile.splat %base : i64 -> tensor<{1}xi64>
  %offsets = arith.addi %bases, %laneWide : tensor<{1}xi64>
{2}  %result = "{3}"({4}) : ({5}) -> {6}
  tile.store %outp, %result : {7}, {6}
  return
})",
                       type, CompiledMath::lanes, body, opName, operands, types, tile, pointers)
      .str();
}

CompiledMath::CompiledMath(const std::string &opName, unsigned operandCount, MathElement element,
                           const std::string &cpuName)
    : code(std::make_unique<Code>()) {
  mlir::DialectRegistry registry;
  cpu::target().registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernelText(opName, operandCount, element), &context);
  if (!module)
    throw std::runtime_error(opName + ": the kernel cannot be read");
  TargetOptions options;
  options.architecture = cpuName;
  try {
    Artifact artifact = cpu::target().compile(*module, options, {});
    if (artifact.metadata.scratchBytes != 0)
      throw std::runtime_error(opName + ": an elementwise kernel asks for scratch memory");
    code->kernel = cpu::load(artifact.binary, artifact.symbol);
  } catch (const CompileError &error) {
    throw std::runtime_error(opName + ": " + error.diagnostic.message);
  }
}

CompiledMath::~CompiledMath() = default;

void CompiledMath::operator()(const void *x, const void *y, void *out, int64_t count) const {
  uint64_t arguments[] = {reinterpret_cast<uint64_t>(x), reinterpret_cast<uint64_t>(y),
                          reinterpret_cast<uint64_t>(out)};
  uint64_t programs = static_cast<uint64_t>(count / lanes);
  KernelContext context{};
  context.grid[0] = static_cast<uint32_t>(programs);
  context.grid[1] = context.grid[2] = 1;
  code->kernel->function(arguments, 0, programs, &context);
}

} // namespace nacre
