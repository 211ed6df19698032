// Parts of the CUDA target by themselves: the table of GPUs, LLVM IR to PTX, the assembler and what it says.
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/cuda/Assembler.h"
#include "compiler/targets/cuda/PtxCode.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::cuda;

TEST(Architectures, AreFoundByAnyOfTheirNames) {
  for (const char *name : {"90", "90a", "sm90", "sm_90", "sm_90a"})
    EXPECT_STREQ(architectureNamed(name).name, "sm_90a") << name;
  EXPECT_STREQ(architectureNamed("87").name, "sm_86") << "the next one below, of the same generation";
  EXPECT_STREQ(architectureNamed("121").name, "sm_120");
  for (const char *name : {"", "70", "60", "90b", "sm", "86a", "110", "x"})
    EXPECT_THROW(architectureNamed(name), CompileError) << name;
}

namespace {
const char *const kernelText = R"(
@shared_memory = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @scale(ptr addrspace(1) align 16 %x, float %f) #0 !dbg !4 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7
  %a = getelementptr float, ptr addrspace(1) %x, i32 %t
  %v = load float, ptr addrspace(1) %a, align 4, !dbg !7
  %m = fmul contract float %v, %f
  %s = fadd contract float %m, %f, !dbg !8
  %p = getelementptr float, ptr addrspace(3) @shared_memory, i32 %t
  store float %s, ptr addrspace(3) %p, align 4
  store float %s, ptr addrspace(1) %a, align 4, !dbg !8
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
attributes #0 = { "nvvm.reqntid"="128" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "kernel.py", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "scale", scope: !1, file: !1, line: 3, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 4, column: 9, scope: !4)
!8 = !DILocation(line: 5, column: 5, scope: !4)
)";

std::string ptxOf(const char *text, const char *architecture, TargetOptions options = {}) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  auto machine = makeTargetMachine(architectureNamed(architecture), options);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  optimize(*module, *machine, nullptr, false);
  return emitPtx(*module, *machine, /*isChecked=*/false);
}

bool contains(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }
} // namespace

TEST(PtxCode, CodeOfTheStandardLibraryHasTheLineThatCallsIt) {
  std::string text = kernelText;
  text.replace(text.rfind("!8 ="), std::string::npos, R"(!8 = !DILocation(line: 155, column: 12, scope: !10, inlinedAt: !11)
!9 = !DIFile(filename: "nacre/language/standard.py", directory: "")
!10 = distinct !DISubprogram(name: "sum", scope: !9, file: !9, line: 150, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!11 = distinct !DILocation(line: 51, column: 3, scope: !12, inlinedAt: !13)
!12 = distinct !DISubprogram(name: "reduce", scope: !9, file: !9, line: 50, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!13 = distinct !DILocation(line: 7, column: 5, scope: !4)
)");
  std::string ptx = ptxOf(text.c_str(), "90");
  EXPECT_TRUE(contains(ptx, ".loc\t1 7 5")) << ptx;
  EXPECT_FALSE(contains(ptx, "standard.py")) << ptx;
}

TEST(PtxCode, SaysWhatTheKernelIs) {
  std::string ptx = ptxOf(kernelText, "90");
  EXPECT_TRUE(contains(ptx, ".target sm_90a\n")) << "and no `, debug`, which would stop ptxas from optimizing\n" << ptx;
  EXPECT_TRUE(contains(ptx, ".visible .entry scale("));
  EXPECT_TRUE(contains(ptx, ".ptr .global .align 16"));
  EXPECT_TRUE(contains(ptx, ".reqntid 128"));
  EXPECT_TRUE(contains(ptx, ".extern .shared .align 1024 .b8 shared_memory[]"));
  EXPECT_TRUE(contains(ptx, ".loc"));
  EXPECT_TRUE(contains(ptx, "fma.rn.f32"));
  EXPECT_FALSE(contains(ptx, "cvta")) << "addresses of shared memory are short and know their space";
}

TEST(PtxCode, FusesOnlyWhatMayBeFused) {
  std::string text = kernelText;
  for (size_t at; (at = text.find(" contract")) != std::string::npos;)
    text.erase(at, strlen(" contract"));
  std::string ptx = ptxOf(text.c_str(), "80");
  EXPECT_FALSE(contains(ptx, "fma.rn.f32")) << ptx;
}

TEST(Assembler, TakesTheCodeOfEveryGpu) {
  std::optional<std::string> assembler = findAssembler({});
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  for (const Architecture &architecture : architectures()) {
    std::string ptx = ptxOf(kernelText, architecture.name);
    AssembledCode code = assemble(ptx, *assembler, architecture, {});
    EXPECT_EQ(code.cubin.substr(1, 3), "ELF") << architecture.name;
    EXPECT_GT(code.report.registers, 0u) << architecture.name;
    EXPECT_EQ(code.report.spilledBytes, 0u) << architecture.name;
  }
}

TEST(Assembler, ReportsAnErrorAtThePlaceInTheKernel) {
  std::optional<std::string> assembler = findAssembler({});
  if (!assembler)
    GTEST_SKIP() << "there is no ptxas here";
  std::string ptx = ptxOf(kernelText, "80");
  size_t store = ptx.find("st.global");
  ASSERT_NE(store, std::string::npos);
  ptx.replace(store, 9, "stt.global");
  try {
    assemble(ptx, *assembler, architectureNamed("80"), {});
    FAIL() << "it took nonsense";
  } catch (const CompileError &error) {
    EXPECT_EQ(error.diagnostic.location.line, 5) << error.what();
    ASSERT_TRUE(error.diagnostic.location.source);
    EXPECT_EQ(error.diagnostic.location.source->fileName, "kernel.py");
    EXPECT_NE(error.diagnostic.message.find("stt.global"), std::string::npos) << error.what();
  }
}

TEST(Assembler, ThatIsNoProgramIsAnError) {
  TargetOptions options;
  options.assembler = "/nowhere/ptxas";
  EXPECT_THROW(findAssembler(options), CompileError);
}

TEST(AssemblerReport, HoldsRegistersSpillsAndRemarks) {
  AssemblerReport report = AssemblerReport::parse(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    40 bytes stack frame, 36 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 40 bytes cumulative stack size\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n");
  EXPECT_EQ(report.registers, 168u);
  EXPECT_EQ(report.stackBytes, 40u);
  EXPECT_EQ(report.spilledBytes, 36u);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_EQ(report.remarks.front().substr(0, 7), "(C7510)");
}
