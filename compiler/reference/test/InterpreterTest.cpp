// A kernel as an embedder would run it: every step a call of a builtin or an operator, with the evaluator underneath.
#include "compiler/reference/Interpreter.h"
#include "compiler/language/builtins/Builtins.h"
#include "compiler/reference/test/Tiles.h"
#include <map>

using namespace nacre;

namespace {
// Functions of the language, written in C++: what the embedder would run in Python.
class Functions : public InterpreterEmbedder {
public:
  using Function = std::function<Object(llvm::ArrayRef<Object>)>;
  Object add(const std::string &name, Function function) {
    functions[name] = std::move(function);
    return JitReference{name, nullptr};
  }
  Object call(const Object &function, llvm::ArrayRef<Object> arguments) override {
    ++calls;
    return functions.at(function.as<JitReference>().key)(arguments);
  }
  void forgetError() override {}
  void staticPrint(llvm::StringRef text) override { printed += text; }

  int calls = 0;
  std::string printed;

private:
  std::map<std::string, Function> functions;
};

class InterpreterTest : public testing::Test {
protected:
  Functions embedder;
  Interpreter interpreter{embedder, {}};

  Object tl(const char *name, std::vector<Object> positional,
            std::vector<std::pair<std::string, Object>> keywords = {}) {
    const Builtin *builtin = findBuiltin("triton.language", name);
    EXPECT_NE(builtin, nullptr) << name;
    return callBuiltin(interpreter, *builtin, positional, keywords);
  }
  Object op(Operator op, const Object &lhs, const Object &rhs) { return applyOperator(interpreter, op, lhs, rhs); }
  Object pointer(Type element, const void *place) {
    return interpreter.scalar(Type::pointer(element), reinterpret_cast<uint64_t>(place));
  }
};

TEST_F(InterpreterTest, VectorAdd) {
  constexpr int n = 10, block = 4;
  std::vector<float> x(n), y(n), out(n, -1);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5f * static_cast<float>(i);
  }
  interpreter.program().grid = {3, 1, 1};
  for (uint32_t program = 0; program < 3; ++program) {
    interpreter.program().programId = {program, 0, 0};
    Object pid = tl("program_id", {Object(0)});
    Object offsets = op(Operator::Add, op(Operator::Mul, pid, Object(block)), tl("arange", {Object(0), Object(block)}));
    Object mask = applyComparison(interpreter, Comparison::Lt, offsets, interpreter.scalar(int32(), n));
    Object a = tl("load", {op(Operator::Add, pointer(float32(), x.data()), offsets)}, {{"mask", mask}});
    Object b = tl("load", {op(Operator::Add, pointer(float32(), y.data()), offsets)},
                  {{"mask", mask}, {"other", Object(1.0)}});
    tl("store", {op(Operator::Add, pointer(float32(), out.data()), offsets), op(Operator::Add, a, b)},
       {{"mask", mask}});
  }
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(out[i], x[i] + y[i]);
}

// The combining function runs once in the embedder; the other calls replay it.
TEST_F(InterpreterTest, ReductionAsksTheEmbedderOnce) {
  Object add = embedder.add(
      "add", [&](llvm::ArrayRef<Object> arguments) { return op(Operator::Add, arguments[0], arguments[1]); });
  Object tile = tl("arange", {Object(0), Object(1024)});
  for (int repeat = 0; repeat < 3; ++repeat) {
    Object sum = tl("reduce", {tile, Object(0), add});
    EXPECT_EQ(scalarOf<int32_t>(sum.value()), 1023 * 512);
  }
  EXPECT_EQ(embedder.calls, 1);
  // Other types are another recording.
  Object floats = Object(castTo(interpreter, tile.value(), float32()));
  EXPECT_EQ(scalarOf<float>(tl("reduce", {floats, Object(0), add}).value()), 1023 * 512);
  EXPECT_EQ(embedder.calls, 2);
}

TEST_F(InterpreterTest, RecordedConstantsAndTuples) {
  // Doubles and keeps both: (a + b) * 2, and the larger index.
  Object pair = embedder.add("pair", [&](llvm::ArrayRef<Object> arguments) {
    Object sum = op(Operator::Add, arguments[0], arguments[2]);
    Object wins = applyComparison(interpreter, Comparison::Gt, arguments[1], arguments[3]);
    Object index = tl("where", {wins, arguments[1], arguments[3]});
    return Object::makeTuple({op(Operator::Mul, sum, Object(2)), index});
  });
  Object values = tl("full", {Object::makeTuple({Object(8)}), Object(1), Object(int32())});
  Object result = tl("reduce", {Object::makeTuple({values, tl("arange", {Object(0), Object(8)})}), Object(0), pair});
  EXPECT_EQ(scalarOf<int32_t>(result.tuple().items[0].value()), 64); // three levels, each adds up pairs and doubles
  EXPECT_EQ(scalarOf<int32_t>(result.tuple().items[1].value()), 7);
  EXPECT_EQ(embedder.calls, 1);
}

// A function that looks at its values, or prints, is called every time.
TEST_F(InterpreterTest, FunctionsWithEffectsAreNotReplayed) {
  Object chatty = embedder.add("chatty", [&](llvm::ArrayRef<Object> arguments) {
    interpreter.staticPrint("x");
    return op(Operator::Add, arguments[0], arguments[1]);
  });
  Object looking = embedder.add("looking", [&](llvm::ArrayRef<Object> arguments) {
    interpreter.text(arguments[0].value());
    return op(Operator::Add, arguments[0], arguments[1]);
  });
  Object tile = tl("arange", {Object(0), Object(8)});
  EXPECT_EQ(scalarOf<int32_t>(tl("reduce", {tile, Object(0), chatty}).value()), 28);
  EXPECT_EQ(embedder.printed, "xxx");
  embedder.calls = 0;
  EXPECT_EQ(scalarOf<int32_t>(tl("reduce", {tile, Object(0), looking}).value()), 28);
  EXPECT_EQ(embedder.calls, 3);
}

TEST_F(InterpreterTest, ErrorsLeaveItUsable) {
  Object failing = embedder.add(
      "failing", [&](llvm::ArrayRef<Object> arguments) -> Object { throw std::runtime_error("from the embedder"); });
  Object tile = tl("arange", {Object(0), Object(8)});
  EXPECT_THROW(tl("reduce", {tile, Object(0), failing}), std::runtime_error);
  EXPECT_THROW(op(Operator::Add, tile, tl("arange", {Object(0), Object(4)})), CompileError);
  EXPECT_EQ(numbers<int32_t>(op(Operator::Add, tile, Object(1)).value())[7], 8);
}

TEST_F(InterpreterTest, WhatTheEmbedderAsksOfValues) {
  Value three = interpreter.asVariable(Object(3)).value();
  EXPECT_EQ(three.type(), int32());
  EXPECT_EQ(interpreter.integer(three).getSExtValue(), 3);
  EXPECT_EQ(interpreter.number(interpreter.asVariable(Object(2.5)).value()), 2.5);
  EXPECT_TRUE(interpreter.truth(applyComparison(interpreter, Comparison::Eq, three, Object(3))));
  EXPECT_FALSE(interpreter.truth(applyComparison(interpreter, Comparison::Eq, three, Object(4))));
  EXPECT_TRUE(interpreter.truth(Object("text")));
  EXPECT_EQ(interpreter.text(three), "3");
  Value tile = tl("arange", {Object(0), Object(4)}).value();
  EXPECT_EQ(interpreter.text(tile), "[0 1 2 3]");
  EXPECT_THROW((void)interpreter.integer(tile), CompileError);
  Value zeros = tl("zeros", {Object::makeTuple({Object(2), Object(2)}), Object(int32())}).value();
  auto elements = interpreter.elements(zeros);
  EXPECT_EQ(reinterpret_cast<const int32_t *>(elements.get())[3], 0);
}
} // namespace
