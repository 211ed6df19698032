// The front end as a C++ program uses it: parameters, embedders of its own, what static_print says, and errors as data.
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Parser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>

using namespace nacre;

namespace {

const char *header = "import triton\nimport triton.language as tl\n\n";

std::shared_ptr<const SourceText> textOf(const std::string &body) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "test.py";
  text->text = header + body;
  return text;
}

ArgumentSpec argument(const std::string &name, const char *type) {
  ArgumentSpec spec;
  spec.name = name;
  spec.type = Type::parseShortName(type);
  return spec;
}

ArgumentSpec constant(const std::string &name, Object value) {
  ArgumentSpec spec;
  spec.name = name;
  spec.isConstant = true;
  spec.constant = std::move(value);
  return spec;
}

std::string build(Embedder &embedder, const FunctionSource &kernel, llvm::ArrayRef<ArgumentSpec> arguments,
                  const FrontendOptions &options = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  buildTileIR(context, kernel, arguments, embedder, options, module);
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out);
  return text;
}

std::string build(const std::string &body, llvm::ArrayRef<ArgumentSpec> arguments,
                  const FrontendOptions &options = {}) {
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(textOf(body));
  return build(*embedder, findFunction(*embedder, "kernel"), arguments, options);
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(Frontend, ParametersAsWritten) {
  std::unique_ptr<Embedder> embedder =
      makeFileEmbedder(textOf("@triton.jit\n"
                              "def kernel(x, n: tl.int32, p: tl.const, B: tl.constexpr, f: 'tl.constexpr' = -1.5,\n"
                              "           t=(1, 'a', None), g=tl.float32):\n"
                              "    pass\n"));
  std::vector<ParameterInfo> parameters = functionParameters(findFunction(*embedder, "kernel"));
  ASSERT_EQ(parameters.size(), 7u);
  EXPECT_EQ(parameters[0].name, "x");
  EXPECT_FALSE(parameters[0].isConstexpr);
  EXPECT_FALSE(parameters[0].defaultValue);
  EXPECT_EQ(parameters[1].annotation, "tl.int32");
  EXPECT_TRUE(parameters[2].isConst);
  EXPECT_TRUE(parameters[3].isConstexpr);
  EXPECT_TRUE(parameters[4].isConstexpr);
  EXPECT_EQ(parameters[4].defaultValue->as<double>(), -1.5);
  EXPECT_EQ(parameters[5].defaultValue->repr(), "(1, 'a', None)");
  EXPECT_FALSE(parameters[6].defaultValue) << "not a literal: only the embedder knows it";
}

TEST(Frontend, DefaultsOfTheKernel) {
  std::string ir =
      build("@triton.jit\ndef kernel(x, value=tl.constexpr(7)):\n    tl.store(x, value)\n", {argument("x", "*i32")});
  EXPECT_TRUE(contains(ir, "arith.constant 7 : i32"));
}

TEST(Frontend, ConstantsMayBeAnything) {
  std::string ir =
      build("@triton.jit\ndef kernel(x, T, name, size):\n"
            "    if name == 'one':\n        tl.store(x, tl.full((size,), 1, T).sum(axis=0))\n",
            {argument("x", "*fp32"), constant("T", float32()), constant("name", "one"), constant("size", 4)});
  EXPECT_TRUE(contains(ir, "dense<1.000000e+00> : tensor<4xf32>"));
}

TEST(Frontend, StaticPrintsGoToTheCaller) {
  std::string printed;
  FrontendOptions options;
  options.staticPrint = [&](llvm::StringRef text) { printed += text; };
  std::string body = "@triton.jit\ndef kernel(x, n):\n"
                     "    k: tl.constexpr = 1\n"
                     "    for i in range(n):\n"
                     "        tl.static_print('in the loop')\n"
                     "        k = k + 1\n"
                     "    tl.static_print('after', 3)\n";
  build(body, {argument("x", "*i32"), argument("n", "i32")}, options);
  EXPECT_EQ(printed, "in the loop\nafter 3\n") << "once, although the loop's body is built twice";

  printed.clear();
  EXPECT_THROW(build(body + "    tl.static_assert(False)\n", {argument("x", "*i32"), argument("n", "i32")}, options),
               CompileError);
  EXPECT_EQ(printed, "in the loop\nafter 3\n") << "what comes before an error is shown";
}

TEST(Frontend, AssertsOnlyWhenDebugging) {
  std::string body = "@triton.jit\ndef kernel(x, n):\n    tl.device_assert(n > 0, 'n')\n    assert n < 9, 'm'\n";
  FrontendOptions debug;
  debug.debug = true;
  EXPECT_FALSE(contains(build(body, {argument("x", "*i32"), argument("n", "i32")}), "tile.assert"));
  std::string ir = build(body, {argument("x", "*i32"), argument("n", "i32")}, debug);
  EXPECT_TRUE(contains(ir, "\"n\"") && contains(ir, "\"m\""));
}

TEST(Frontend, ErrorsAreData) {
  try {
    build("@triton.jit\ndef helper(x):\n    return x + nothing\n\n@triton.jit\ndef kernel(x):\n    tl.store(x, "
          "helper(1))\n",
          {argument("x", "*i32")});
    FAIL() << "it must not compile";
  } catch (const CompileError &error) {
    const Diagnostic &diagnostic = error.diagnostic;
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::Name);
    EXPECT_EQ(diagnostic.message, "`nothing` is not defined");
    EXPECT_EQ(diagnostic.location.line, 6);
    EXPECT_EQ(diagnostic.location.column, 15);
    ASSERT_EQ(diagnostic.calls.size(), 1u);
    EXPECT_EQ(diagnostic.calls[0].line, 10);
  }
}

// A failed build leaves the caller's module alone, and the context serves the next one.
TEST(Frontend, AFailureLeavesNothingBehind) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(textOf("@triton.jit\ndef kernel(x, BAD: tl.constexpr):\n"
                                                               "    for i in range(4):\n"
                                                               "        v = tl.load(x + i)\n"
                                                               "        if v > 1:\n"
                                                               "            tl.store(x, v)\n"
                                                               "            tl.static_assert(not BAD)\n"));
  FunctionSource kernel = findFunction(*embedder, "kernel");
  EXPECT_THROW(buildTileIR(context, kernel, {argument("x", "*i32"), constant("BAD", true)}, *embedder, {}, module),
               CompileError);
  EXPECT_FALSE(module);
  buildTileIR(context, kernel, {argument("x", "*i32"), constant("BAD", false)}, *embedder, {}, module);
  EXPECT_TRUE(module);
}

// An embedder that keeps what it was asked.
class RecordingEmbedder : public Embedder {
public:
  Answer global(const FunctionSource &function, llvm::StringRef name) override {
    asked.push_back("global " + name.str());
    if (name == "tl")
      return {ModuleReference{"nacre.language"}, ""};
    if (name == "settings" || name == "double")
      return {OpaqueReference{name.str(), 1}, ""};
    if (name == "secret")
      return {std::nullopt, "a list"};
    return {};
  }
  Answer attribute(const Object &object, llvm::StringRef name) override {
    asked.push_back("attribute " + name.str());
    if (object.is<OpaqueReference>() && name == "width")
      return {Object(24), ""};
    return {};
  }
  Answer call(const Object &callee, llvm::ArrayRef<Object> positional,
              llvm::ArrayRef<std::pair<std::string, Object>> keywords) override {
    asked.push_back("call " + callee.as<OpaqueReference>().key);
    return {Object(positional[0].as<llvm::DynamicAPInt>() * 2), ""};
  }
  std::vector<std::string> asked;
};

FunctionSource sourceOf(const std::string &body) {
  auto text = std::make_shared<SourceText>();
  text->fileName = "host.py";
  text->text = body;
  text->firstLine = 40;
  return FunctionSource{"host.kernel", "kernel", text, 0, false};
}

TEST(Frontend, TheEmbedderIsAskedOnceForEachName) {
  RecordingEmbedder embedder;
  std::string ir =
      build(embedder,
            sourceOf("@jit\ndef kernel(x):\n"
                     "    tl.store(x, settings.width + double(4))\n"
                     "    tl.store(x, tl.sum(tl.arange(0, 4), axis=0) + getattr(settings, 'height', 5))\n"),
            {argument("x", "*i32")});
  EXPECT_TRUE(contains(ir, "arith.constant 32 : i32"));
  EXPECT_TRUE(contains(ir, "arith.constant 5 : i32"));
  std::vector<std::string> expected = {"global tl",     "global settings",         "attribute width",
                                       "global double", "attribute __aggregate__", "attribute _fields",
                                       "call double",   "global getattr",          "attribute height"};
  EXPECT_EQ(embedder.asked, expected) << "the standard library's own names are never asked for";
}

TEST(Frontend, WhatAnEmbedderRefuses) {
  RecordingEmbedder embedder;
  try {
    build(embedder, sourceOf("@jit\ndef kernel(x):\n    tl.store(x, secret)\n"), {argument("x", "*i32")});
    FAIL() << "it must not compile";
  } catch (const CompileError &error) {
    EXPECT_EQ(std::string(error.what()), "host.py:42:17: error: `secret` cannot be used in a kernel: it is a list\n"
                                         "    tl.store(x, secret)\n"
                                         "                ^~~~~~\n");
  }
}

TEST(Frontend, ALongFunctionIsTakenFromItsFileInOneWalk) {
  std::string body = "@triton.jit\ndef kernel(x):\n";
  for (int i = 0; i < 200000; ++i)
    body += "    # a line\n";
  body += "    tl.store(x, 1.0)\n";
  auto before = std::chrono::steady_clock::now();
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(textOf(body));
  FunctionSource kernel = findFunction(*embedder, "kernel");
  EXPECT_TRUE(contains(kernel.text->text, "tl.store(x, 1.0)"));
  EXPECT_TRUE(contains(build(*embedder, kernel, {argument("x", "*fp32")}), "tile.store"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(120)); // line by line it takes minutes
}

} // namespace
