// The table of builtins: look-up, binding, and what the groups build.
#include "compiler/language/builtins/StandardLibrary.h"
#include "compiler/language/test/RecordingBuilder.h"
#include <gtest/gtest.h>
#include <set>

using namespace nacre;
using namespace nacre::test;

namespace {

class Builtins : public testing::Test {
protected:
  Object x = named("x", float32(), {4}), y = named("y", float32(), {4}), i = named("i", int32(), {4}),
         mask = named("mask", int1(), {4});
  Object p = named("p", Type::pointer(float32()), {4}), q = named("q", Type::pointer(float32()));
  RecordingEvaluation evaluation;

  std::string call(const char *name, std::vector<Object> arguments,
                   std::vector<std::pair<std::string, Object>> keywords = {}) {
    return show(callLanguage(evaluation, name, std::move(arguments), std::move(keywords)));
  }
  std::string device(const char *name, std::vector<Object> arguments) {
    return show(callLanguage(evaluation, name, std::move(arguments), {}, "triton.language.extra.libdevice"));
  }
  std::string python(const char *name, std::vector<Object> arguments) {
    return show(callLanguage(evaluation, name, std::move(arguments), {}, "builtins"));
  }
  std::string lastEffect() { return evaluation.recorder.effects.empty() ? "none" : evaluation.recorder.effects.back(); }
};

TEST_F(Builtins, EveryRowIsDocumentedAndWellFormed) {
  std::set<std::string> names;
  for (const Builtin &row : allBuiltins()) {
    EXPECT_TRUE(names.insert(row.module + "." + row.name).second) << row.name;
    EXPECT_FALSE(row.documentation.empty()) << row.name;
    EXPECT_FALSE(row.group.empty()) << row.name;
    EXPECT_NE(row.invoke, nullptr) << row.name;
    bool hasDefault = false;
    for (const Parameter &parameter : row.parameters) {
      EXPECT_FALSE(parameter.annotation.empty()) << row.name << " " << parameter.name;
      EXPECT_TRUE(!hasDefault || parameter.defaultValue) << row.name << ": " << parameter.name << " follows a default";
      hasDefault |= parameter.defaultValue.has_value();
    }
  }
  EXPECT_GT(names.size(), 250u);
}

TEST_F(Builtins, NamesAreFoundThroughEveryModuleThatShowsThem) {
  EXPECT_EQ(findBuiltin("triton.language", "exp"), findBuiltin("triton.language.math", "exp"));
  EXPECT_EQ(findBuiltin("triton.language.core", "load"), findBuiltin("triton.language", "load"));
  EXPECT_NE(findBuiltin("triton.language.math", "tanh"), nullptr);
  EXPECT_NE(findBuiltin("triton.language.extra.libdevice", "exp"), nullptr);
  EXPECT_EQ(findBuiltin("triton.language", "tanh"), nullptr);
  EXPECT_EQ(canonicalModule("triton.language.extra.cuda.libdevice"), "triton.language.extra.libdevice");
  EXPECT_EQ(canonicalModule("nacre.language.math"), "triton.language.math");
  EXPECT_EQ(canonicalModule("numpy"), "");
  EXPECT_EQ(moduleMember("triton.language", "float32")->repr(), "fp32");
  EXPECT_EQ(moduleMember("triton.language", "math")->as<ModuleReference>().name, "triton.language.math");
  EXPECT_EQ(moduleMember("triton.language.extra", "cuda")->as<ModuleReference>().name, "triton.language.extra.cuda");
  EXPECT_EQ(moduleMember("triton.language.extra.cuda", "libdevice")->as<ModuleReference>().name,
            "triton.language.extra.libdevice");
  EXPECT_EQ(moduleMember("triton.language", "TRITON_MAX_TENSOR_NUMEL")->repr(), "1048576");
  EXPECT_FALSE(moduleMember("triton.language", "nothing").has_value());
  EXPECT_FALSE(moduleMember("triton.language", "sum").has_value());
}

TEST_F(Builtins, TheStandardLibraryIsEmbedded) {
  EXPECT_EQ(standardFunctionFile("triton.language", "sum"), "standard.py");
  EXPECT_EQ(standardFunctionFile("triton.language.random", "rand"), "random.py");
  EXPECT_EQ(standardFunctionFile("triton.language", "load"), "");
  EXPECT_TRUE(isStandardMethod("argmax"));
  EXPECT_FALSE(isStandardMethod("swizzle2d"));
  EXPECT_EQ(standardLibraryGlobal("standard.py", "core")->as<ModuleReference>().name, "triton.language.core");
  for (const StandardFunction &function : allStandardFunctions()) {
    EXPECT_TRUE(standardLibrarySource(function.file).contains("\ndef " + function.name.str() + "("))
        << function.name.str();
    EXPECT_EQ(findBuiltin("triton.language", function.name), nullptr) << function.name.str();
  }
}

TEST_F(Builtins, LoadsAndStores) {
  EXPECT_EQ(call("load", {p}), "load(p) : fp32[4]");
  EXPECT_EQ(call("load", {p, mask, 0}), "load(p, mask=mask, other=0.0) : fp32[4]");
  EXPECT_EQ(call("load", {q}, {{"volatile", true}, {"cache_modifier", ".cg"}}), "load(q, cache=2, volatile) : fp32");
  Object column = named("c", Type::pointer(int8()), {2, 1}), rowMask = named("k", int1(), {1, 4});
  EXPECT_EQ(call("load", {column, rowMask}), "load(broadcast(c), mask=broadcast(k)) : i8[2, 4]");
  EXPECT_EQ(call("load", {named("b", Type::pointer(int1()))}), "Ne(load(Bitcast(b)), 0) : i1");
  EXPECT_EQ(call("load", {named("b", Type::pointer(uint8()), {4}), mask, -1}),
            "load(b, mask=mask, other=Truncate(-1)) : u8[4]");
  call("store", {p, 1});
  EXPECT_EQ(lastEffect(), "store(p, 1.0)");
  call("store", {p, i, mask});
  EXPECT_EQ(lastEffect(), "store(p, SignedToFloat(i), mask=mask)");
  call("store", {named("b", Type::pointer(int1()), {4}), mask});
  EXPECT_EQ(lastEffect(), "store(Bitcast(b), ExtendUnsigned(mask))");
}

TEST_F(Builtins, Shapes) {
  Object m = named("m", float32(), {4, 8});
  EXPECT_EQ(call("arange", {2, 6}), "arange(2,6) : i32[4]");
  EXPECT_EQ(call("full", {Object::makeTuple({2, 3}), 1, float16()}), "1.0 : fp16[2, 3]");
  EXPECT_EQ(call("zeros", {Object::makeTuple({}), int32()}), "0 : i32");
  EXPECT_EQ(call("expand_dims", {x, Object::makeTuple({0, -1})}), "expand(expand(x,0),2) : fp32[1, 4, 1]");
  EXPECT_EQ(call("reshape", {m, 2, 16}), "reshape(m) : fp32[2, 16]");
  EXPECT_EQ(call("reshape", {m, Object::makeTuple({32})}), "reshape(m) : fp32[32]");
  EXPECT_EQ(call("trans", {m}), "permute(m,[1,0]) : fp32[8, 4]");
  EXPECT_EQ(call("permute", {m, Object::makeTuple({1, 0})}), "permute(m,[1,0]) : fp32[8, 4]");
  EXPECT_EQ(call("join", {x, 1}), "join(x, 1.0) : fp32[4, 2]");
  EXPECT_EQ(call("split", {named("s", int32(), {3, 2})}), "(first(s) : i32[3]; second(s) : i32[3])");
  EXPECT_EQ(call("split", {named("s", int32(), {2})}), "(s[0] : i32; s[1] : i32)");
  EXPECT_EQ(call("cat", {x, named("z", float32(), {2})}), "cat(x, z) : fp32[6]");
  EXPECT_EQ(call("broadcast_to", {3, 4, 2}), "3 : i32[4, 2]");
  EXPECT_EQ(call("squeeze", {named("s", int32(), {3, 1}), 1}), "reshape(s) : i32[3]");
}

TEST_F(Builtins, Casts) {
  EXPECT_EQ(call("cast", {x, float16(), "rtz"}), "FloatTruncateRtz(x) : fp16[4]");
  EXPECT_EQ(call("cast", {0.1, float64()}), "0.1 : fp64");
  EXPECT_EQ(call("cast", {-1, uint8()}), "Truncate(-1) : u8");
  EXPECT_EQ(call("cast", {x, int32()}, {{"bitcast", true}}), "Bitcast(x) : i32[4]");
}

TEST_F(Builtins, Dot) {
  Object a = named("a", float16(), {16, 8}), b = named("b", float16(), {8, 4});
  EXPECT_EQ(call("dot", {a, b}), "dot0(a, b, 0.0) : fp32[16, 4]");
  EXPECT_EQ(call("dot", {a, b}, {{"out_dtype", float16()}}), "dot0(a, b, 0.0) : fp16[16, 4]");
  EXPECT_EQ(call("dot", {a, b, named("c", float16(), {16, 4})}), "dot0(a, b, c) : fp16[16, 4]");
  EXPECT_EQ(call("dot", {a, b}, {{"allow_tf32", false}}), "dot2(a, b, 0.0) : fp32[16, 4]");
  EXPECT_EQ(call("dot", {named("n", int8(), {2, 3}), named("m", int8(), {3, 5})}), "dot0(n, m, 0) : i32[2, 5]");
  EXPECT_EQ(call("dot", {a, named("t", float16(), {4, 8})}, {{"trans_b", true}}),
            "dot0(a, permute(t,[1,0]), 0.0) : fp32[16, 4]");
  Type e4 = Type::scalar(ScalarKind::Float8E4NV), e5 = Type::scalar(ScalarKind::Float8E5);
  EXPECT_EQ(call("dot", {named("e", e4, {2, 2}), named("f", e5, {2, 2})}),
            "dot0(FloatExtend(e), FloatExtend(f), 0.0) : fp32[2, 2]");
}

TEST_F(Builtins, ArithmeticAndMath) {
  EXPECT_EQ(call("where", {mask, x, 0}), "select(mask, x, 0.0) : fp32[4]");
  EXPECT_EQ(call("where", {i, x, y}), "select(Ne(i, 0), x, y) : fp32[4]");
  EXPECT_EQ(call("maximum", {x, y}), "MaxNumF(x, y) : fp32[4]");
  EXPECT_EQ(call("maximum", {x, y, *moduleMember("triton.language.PropagateNan", "ALL")}), "MaximumF(x, y) : fp32[4]");
  EXPECT_EQ(call("minimum", {i, 3}), "MinS(i, 3) : i32[4]");
  EXPECT_EQ(call("clamp", {x, 0, 1}), "MinNumF(MaxNumF(x, 0.0), 1.0) : fp32[4]");
  EXPECT_EQ(call("fma", {x, 2, named("h", float16(), {4})}), "fma(x, 2.0, FloatExtend(h)) : fp32[4]");
  EXPECT_EQ(call("abs", {i}), "AbsI(i) : i32[4]");
  EXPECT_EQ(call("exp", {x}), "Exp(x) : fp32[4]");
  EXPECT_EQ(call("cdiv", {i, 4}), "DivS(AddI(i, 3), 4) : i32[4]");
  EXPECT_EQ(call("cdiv", {9, 4}), "3");
  EXPECT_EQ(call("umulhi", {named("u", uint32()), 5}), "MulHighU(u, 5) : u32");
  EXPECT_EQ(device("pow", {x, 2.0}), "Pow(x, 2.0) : fp32[4]");
  EXPECT_EQ(device("pow", {x, i}), "Pow(x, SignedToFloat(i)) : fp32[4]");
  EXPECT_EQ(device("isnan", {x}), "NeF(x, x) : i1[4]");
  EXPECT_EQ(device("isinf", {x}), "EqF(AbsF(x), inf) : i1[4]");
  EXPECT_EQ(device("float2int_rn", {x}), "FloatToSigned(RoundEven(x)) : i32[4]");
  EXPECT_EQ(device("float_as_int", {x}), "Bitcast(x) : i32[4]");
}

TEST_F(Builtins, ReductionsCallTheirFunction) {
  evaluation.functions["add"] = [](Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
    return applyOperator(evaluation, Operator::Add, arguments[0], arguments[1]);
  };
  evaluation.functions["pair"] = [](Evaluation &, llvm::ArrayRef<Object> arguments) {
    return Object::makeTuple({arguments[0], arguments[3]});
  };
  Object add = JitReference{"add", nullptr}, pair = JitReference{"pair", nullptr};
  Object m = named("m", float32(), {4, 8});
  EXPECT_EQ(call("reduce", {m, 1, add}), "reduce(m,1, AddF(l0, r0)) : fp32[4]");
  EXPECT_EQ(call("reduce", {m, -1, add, true}), "expand(reduce(m,1, AddF(l0, r0)),1) : fp32[4, 1]");
  EXPECT_EQ(call("reduce", {m, Object(), add}), "reduce(reshape(m),0, AddF(l0, r0)) : fp32");
  EXPECT_EQ(call("reduce", {m, Object(), add, true}), "reduce(reshape(m),0, AddF(l0, r0)) : fp32[1, 1]");
  EXPECT_EQ(call("reduce", {Object::makeTuple({x, i}), 0, pair}), "(reduce(x,0, l0) : fp32; reduce(i,0, r1) : i32)");
  EXPECT_EQ(call("associative_scan", {m, 0, add, true}), "scan(m,0,reverse, AddF(l, r)) : fp32[4, 8]");
  // A sum of small floats is carried in fp32.
  evaluation.sums.insert("add");
  Object small = named("s", bfloat16(), {8});
  EXPECT_EQ(call("reduce", {small, 0, add}), "FloatTruncate(reduce(FloatExtend(s),0, AddF(l0, r0))) : bf16");
  EXPECT_EQ(call("associative_scan", {small, 0, add}), "FloatTruncate(scan(FloatExtend(s),0, AddF(l, r))) : bf16[8]");
  EXPECT_EQ(call("reduce", {m, 1, add}), "reduce(m,1, AddF(l0, r0)) : fp32[4]");
  EXPECT_EQ(call("histogram", {i, 16}), "histogram(i) : i32[16]");
}

TEST_F(Builtins, Atomics) {
  Object counter = named("n", Type::pointer(int32()), {4}), halves = named("h", Type::pointer(float16()));
  EXPECT_EQ(call("atomic_add", {counter, 1}), "atomic3(n, 1, 31) : i32[4]");
  EXPECT_EQ(call("atomic_add", {halves, 1}), "atomic4(h, 1.0, 31) : fp16");
  EXPECT_EQ(call("atomic_max", {p, x, mask}, {{"sem", "relaxed"}, {"scope", "sys"}}),
            "atomic9(p, x, mask=mask, 02) : fp32[4]");
  EXPECT_EQ(call("atomic_cas", {counter, i, 3}), "cas(n, i, 3) : i32[4]");
  EXPECT_EQ(call("atomic_load", {q}), "Bitcast(atomic1(Bitcast(q), 0, 11)) : fp32");
}

TEST_F(Builtins, HintsAndDebugging) {
  EXPECT_EQ(call("multiple_of", {i, 16}), "divisibility(i,[16]) : i32[4]");
  EXPECT_EQ(call("multiple_of", {32, 16}), "32");
  call("assume", {named("b", int1())});
  EXPECT_EQ(lastEffect(), "assume(b)");
  call("static_print", {"a", 1, x});
  EXPECT_EQ(evaluation.printed, "a 1 <['4'], fp32>\n");
  call("device_print", {"x", x, 1}, {{"hex", true}});
  EXPECT_EQ(lastEffect(), "print('x', (x, 1), hex)");
  python("print", {"total", x});
  EXPECT_EQ(lastEffect(), "print('total', (x))");
  call("device_assert", {mask, "bounds", mask});
  EXPECT_EQ(lastEffect(), "assert(Or(mask, Not(mask)), 'bounds')");
  evaluation.isDebug = false;
  evaluation.recorder.effects.clear();
  call("device_assert", {mask, "bounds"});
  EXPECT_EQ(lastEffect(), "none");
}

TEST_F(Builtins, PythonFunctions) {
  EXPECT_EQ(python("float", {"-inf"}), "-inf");
  EXPECT_EQ(python("int", {-2.9}), "-2");
  EXPECT_EQ(python("len", {Object::makeTuple({1, 2})}), "2");
  EXPECT_EQ(python("min", {3, 2.5, 7}), "2.5");
  EXPECT_EQ(python("max", {i, 0}), "MaxS(i, 0) : i32[4]");
  EXPECT_EQ(python("zip", {Object::makeTuple({1, 2}), Object::makeTuple({"a", "b", "c"})}), "((1, 'a'), (2, 'b'))");
  EXPECT_EQ(python("enumerate", {Object::makeTuple({"a"}), 5}), "((5, 'a'),)");
  EXPECT_EQ(python("range", {3, 0, -1}), "(3, 2, 1)");
  EXPECT_EQ(python("isinstance", {x, *moduleMember("triton.language", "tensor")}), "True");
  EXPECT_EQ(python("isinstance",
                   {3, Object::makeTuple({*moduleMember("builtins", "float"), *moduleMember("builtins", "int")})}),
            "True");
  EXPECT_EQ(python("getattr", {x, "colour", 7}), "7");
  EXPECT_EQ(python("hasattr", {x, "dtype"}), "True");
  EXPECT_EQ(python("abs", {-3}), "3");
}

TEST_F(Builtins, TargetInformationIsConstexpr) {
  EXPECT_EQ(show(callLanguage(evaluation, "is_cuda", {}, {}, "triton.language.target_info")), "False");
  EXPECT_EQ(show(callLanguage(evaluation, "num_threads", {}, {}, "triton.language.extra.cuda")), "1");
  evaluation.targetName = "cuda:90";
  EXPECT_EQ(show(callLanguage(evaluation, "cuda_capability_geq", {9, 0}, {}, "triton.language.target_info")), "True");
  EXPECT_EQ(show(callLanguage(evaluation, "num_warps", {}, {}, "triton.language.extra.cuda")), "8");
  EXPECT_EQ(show(callLanguage(evaluation, "num_threads", {}, {}, "triton.language.extra.cuda")), "256");
}

} // namespace
