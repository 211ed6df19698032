// Tile IR to machine code and back, without the front end: each kernel is compiled for the host, loaded and run.
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>

using namespace nacre;

namespace {

// Compiles `text` and runs the programs of a one-axis grid on `args`.
void runKernel(const std::string &text, std::vector<uint64_t> args, uint32_t programs) {
  mlir::DialectRegistry registry;
  cpu::target().registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  CompileObserver options;
  if (const char *stage = std::getenv("SHOW_STAGE"))
    options.onStage = [stage](const std::string &name, const std::function<std::string()> &print) {
      if (name == stage)
        std::cout << print() << std::endl;
    };
  Artifact code = cpu::target().compile(*module, {}, options);
  auto kernel = cpu::load(code.binary, code.symbol);
  void *scratch = std::aligned_alloc(64, (code.metadata.scratchBytes + 127) / 64 * 64);
  KernelContext kernelContext{};
  kernelContext.grid[0] = programs;
  kernelContext.grid[1] = kernelContext.grid[2] = 1;
  kernelContext.scratch = scratch;
  EXPECT_EQ(kernel->function(args.data(), 0, programs, &kernelContext), 0);
  std::free(scratch);
}

template <typename T> uint64_t slot(T *pointer) { return reinterpret_cast<uint64_t>(pointer); }

TEST(CpuTarget, VectorAddWithTail) {
  const char *text = R"(
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0
  %block = arith.constant 128 : i32
  %base = arith.muli %pid, %block : i32
  %lane = tile.arange 0 : tensor<128xi32>
  %bases = tile.splat %base : i32 -> tensor<128xi32>
  %offsets = arith.addi %bases, %lane : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offsets : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %xp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %b = tile.load %yp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>> -> tensor<128xf32>
  %sum = arith.addf %a, %b : tensor<128xf32>
  tile.store %yp, %sum mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>>, tensor<128xf32>
  return
})";
  std::vector<float> x(300), y(300, 1.0f);
  for (int i = 0; i < 300; ++i)
    x[i] = i;
  runKernel(text, {slot(x.data()), slot(y.data()), 290}, 3);
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(y[i], i < 290 ? i + 1.0f : 1.0f) << i;
}

TEST(CpuTarget, ReduceOverEachAxisOfAnOddShape) {
  const char *text = R"(
func.func @sums(%x: !tile.ptr<f32>, %rows: !tile.ptr<f32>, %columns: !tile.ptr<f32>) attributes {tile.kernel} {
  %r = tile.arange 0 : tensor<7xi32>
  %c = tile.arange 0 : tensor<45xi32>
  %r2 = tile.expand_dims %r 1 : tensor<7xi32> -> tensor<7x1xi32>
  %c2 = tile.expand_dims %c 0 : tensor<45xi32> -> tensor<1x45xi32>
  %width = arith.constant dense<45> : tensor<7x1xi32>
  %r3 = arith.muli %r2, %width : tensor<7x1xi32>
  %rb = tile.broadcast %r3 : tensor<7x1xi32> -> tensor<7x45xi32>
  %cb = tile.broadcast %c2 : tensor<1x45xi32> -> tensor<7x45xi32>
  %offset = arith.addi %rb, %cb : tensor<7x45xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<7x45x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offset : tensor<7x45x!tile.ptr<f32>>, tensor<7x45xi32>
  %v = tile.load %xp : tensor<7x45x!tile.ptr<f32>> -> tensor<7x45xf32>
  %byRow = tile.reduce %v axis 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<7x45xf32>) -> tensor<7xf32>
  %byColumn = tile.reduce %v axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (tensor<7x45xf32>) -> tensor<45xf32>
  %rs = tile.splat %rows : !tile.ptr<f32> -> tensor<7x!tile.ptr<f32>>
  %rp = tile.addptr %rs, %r : tensor<7x!tile.ptr<f32>>, tensor<7xi32>
  tile.store %rp, %byRow : tensor<7x!tile.ptr<f32>>, tensor<7xf32>
  %cs = tile.splat %columns : !tile.ptr<f32> -> tensor<45x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %c : tensor<45x!tile.ptr<f32>>, tensor<45xi32>
  tile.store %cp, %byColumn : tensor<45x!tile.ptr<f32>>, tensor<45xf32>
  return
})";
  std::vector<float> x(7 * 45), rows(7), columns(45), expectedRows(7), expectedColumns(45);
  for (int i = 0; i < 7 * 45; ++i) {
    x[i] = (i * 37) % 101;
    expectedRows[i / 45] += x[i];
    expectedColumns[i % 45] += x[i];
  }
  runKernel(text, {slot(x.data()), slot(rows.data()), slot(columns.data())}, 1);
  EXPECT_EQ(rows, expectedRows);
  EXPECT_EQ(columns, expectedColumns);
}

TEST(CpuTarget, UnknownCpuIsAnError) {
  mlir::DialectRegistry registry;
  cpu::target().registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>("func.func @k() attributes {tile.kernel} { return }", &context);
  TargetOptions options;
  options.architecture = "pentagon";
  EXPECT_THROW(cpu::target().compile(*module, options, {}), CompileError);
}

} // namespace
