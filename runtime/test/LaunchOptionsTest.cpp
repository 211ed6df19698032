// The options of a launch reach the targets that compile by them, and no others.
#include "compiler/targets/StageText.h"
#include "runtime/compile/Compiler.h"
#include "gtest/gtest.h"

using namespace nacre;

namespace {

// Its binary is the text of the module that it is given.
class TextTarget : public Target {
public:
  llvm::StringRef name() const override { return "text"; }
  llvm::StringRef title() const override { return "a text"; }
  llvm::ArrayRef<StageName> stages() const override { return {}; }
  llvm::ArrayRef<llvm::StringRef> moduleStages() const override { return {}; }
  llvm::StringRef binaryName() const override { return "text"; }
  void registerDialects(mlir::DialectRegistry &) const override {}
  std::string description(const TargetOptions &) const override { return ""; }
  llvm::ArrayRef<TargetOption> options() const override {
    static constexpr TargetOption taken[] = {{LaunchOptionId::NumWarps, 1, 16, /*isPowerOfTwo=*/true}};
    return taken;
  }
  int warpSize(llvm::StringRef) const override { return 64; }
  std::string languageName(const TargetOptions &) const override { return "text:7"; }
  Artifact compile(mlir::ModuleOp module, const TargetOptions &, const CompileObserver &) const override {
    Artifact made;
    llvm::raw_string_ostream stream(made.binary);
    module.print(stream);
    return made;
  }
};

CompileRequest requestFor(const Target &target, const std::unique_ptr<Embedder> &embedder,
                          const LaunchOptionValues &values) {
  CompileRequest request;
  request.kernel = findFunction(*embedder, "kernel");
  request.options.target = &target;
  applyLaunchOptions(request.options, values);
  request.arguments.emplace_back();
  request.arguments[0].name = "x";
  request.arguments[0].type = Type::pointer(Type::scalar(ScalarKind::Int32));
  return request;
}

// Compiles by every option that stands on the module.
class WholeTextTarget : public TextTarget {
public:
  llvm::ArrayRef<TargetOption> options() const override {
    static constexpr TargetOption taken[] = {
#define NACRE_MODULE_OPTION(identifier, member, name, kind, fallback, inGrid, help) {LaunchOptionId::identifier, -1},
#include "compiler/ir/tile/LaunchOptions.def"
    };
    return taken;
  }
};

std::unique_ptr<Embedder> plainKernel() {
  auto text = std::make_shared<SourceText>();
  text->fileName = "kernel.py";
  text->text = "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n";
  return makeFileEmbedder(text);
}

TEST(LaunchOptions, EachStandsOnTheModuleAndInTheKey) {
  std::unique_ptr<Embedder> embedder = plainKernel();
  WholeTextTarget target;
  CompileRequest plain = requestFor(target, embedder, LaunchOptionValues());
  std::string module = compileKernel(plain, *embedder).object;
  for (const TargetOption &option : target.options()) {
    const LaunchOption &row = launchOptions[static_cast<size_t>(option.id)];
    LaunchOptionValues values;
    values[option.id] = row.kind == LaunchOptionKind::Integer ? row.fallback + 1 : 1;
    if (option.id == LaunchOptionId::FpFusion)
      values[option.id] = 0;
    CompileRequest changed = requestFor(target, embedder, values);
    EXPECT_NE(changed.sourceKey(), plain.sourceKey()) << row.name;
    std::string other = compileKernel(changed, *embedder).object;
    EXPECT_NE(other, module) << row.name;
    EXPECT_NE(other.find(std::string("tile.") + row.name), std::string::npos) << row.name << other;
  }
}

TEST(LaunchOptions, ReachTheTargetsThatCompileByThem) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "kernel.py";
  text->text = "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x):\n"
               "    tl.store(x, tl.extra.cuda.num_threads())\n"
               "    tl.static_assert(tl.target_info.current_target() == 'text:7')\n";
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
  TextTarget target;
  LaunchOptionValues values;
  values[LaunchOptionId::NumWarps] = 8;
  CompileRequest eight = requestFor(target, embedder, values);
  std::string module = compileKernel(eight, *embedder).object;
  EXPECT_NE(module.find("tile.num_warps = 8"), std::string::npos) << module;
  EXPECT_EQ(module.find("tile.num_stages"), std::string::npos) << module;
  EXPECT_NE(module.find("512"), std::string::npos) << module; // 8 warps of 64 threads

  values[LaunchOptionId::NumStages] = 7; // the target does not ask for it
  EXPECT_EQ(requestFor(target, embedder, values).sourceKey(), eight.sourceKey());
  values[LaunchOptionId::NumWarps] = 4;
  EXPECT_NE(requestFor(target, embedder, values).sourceKey(), eight.sourceKey());
  for (int64_t wrong : {0, 3, 32}) {
    values[LaunchOptionId::NumWarps] = wrong;
    EXPECT_THROW(requestFor(target, embedder, values), std::invalid_argument) << wrong;
  }
}

} // namespace
