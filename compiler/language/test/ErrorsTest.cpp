// What errors say: "message | hint".
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Iteration.h"
#include "compiler/language/test/RecordingBuilder.h"
#include <gtest/gtest.h>

using namespace nacre;
using namespace nacre::test;

namespace {

class Errors : public testing::Test {
protected:
  Object x = named("x", float32(), {4}), h = named("h", float16(), {4}), i = named("i", int32(), {4}),
         u = named("u", uint8(), {4});
  Object p = named("p", Type::pointer(float32())), block = named("b", Type::pointer(float32()), {4}),
         mask = named("mask", int1(), {4});
  Object fp8 = named("f", Type::scalar(ScalarKind::Float8E5), {4}), s = named("s", int32());
  RecordingEvaluation evaluation;

  std::string apply(Operator op, const Object &lhs, const Object &rhs) {
    return errorOf([&] { applyOperator(evaluation, op, lhs, rhs); });
  }
  std::string compare(Comparison op, const Object &lhs, const Object &rhs) {
    return errorOf([&] { applyComparison(evaluation, op, lhs, rhs); });
  }
  std::string castOf(const Object &value, Type type) {
    return errorOf([&] { castTo(evaluation, value.value(), type); });
  }
  std::string call(const char *name, std::vector<Object> arguments,
                   std::vector<std::pair<std::string, Object>> keywords = {}, const char *module = "triton.language") {
    return errorOf([&] { callLanguage(evaluation, name, arguments, keywords, module); });
  }
};

TEST_F(Errors, Operators) {
  EXPECT_EQ(apply(Operator::Add, u, 300), "the number 300 is out of range for uint8 (0 to 255) | convert the tensor to "
                                          "a wider type first, e.g. x.to(tl.int64)");
  EXPECT_EQ(apply(Operator::Add, u, -1),
            "the negative number -1 cannot be uint8 | convert the tensor to a signed type first, e.g. x.to(tl.int32)");
  EXPECT_EQ(apply(Operator::Add, fp8, i),
            "there is no common type for fp8e5 and int32 | convert the fp8 operand first, e.g. x.to(tl.float32)");
  EXPECT_EQ(
      apply(Operator::FloorDiv, i, u),
      "Cannot use /, // or % with int32 and uint8 because they have different signedness | convert one of them so "
      "that both have the same signedness, e.g. x.to(tl.int32)");
  EXPECT_EQ(apply(Operator::FloorDiv, x, x),
            "invalid operands of type fp32 tensor of shape [4] and fp32 tensor of shape [4]: // needs integers | use "
            "tl.floor(a / b)");
  EXPECT_EQ(
      apply(Operator::And, x, i),
      "invalid operands of type fp32 tensor of shape [4] and int32 tensor of shape [4]: & needs integers | to work "
      "on a float's bits use x.to(tl.int32, bitcast=True)");
  EXPECT_EQ(apply(Operator::Pow, x, 2),
            "** is not defined on tensors | write x * x, tl.exp2(y * tl.log2(x)), or tl.extra.libdevice.pow(x, y)");
  EXPECT_EQ(apply(Operator::MatMul, x, x), "@ is not defined on tensors | use tl.dot(a, b)");
  std::string instead = "an array arrives as a pointer: read from it with tl.load, or pass a number, such as x.item()";
  EXPECT_EQ(apply(Operator::Add, p, p),
            "invalid operands of type pointer<fp32> and pointer<fp32>: two pointers have no + | " + instead);
  EXPECT_EQ(apply(Operator::Add, p, 1.5),
            "invalid operands of type pointer<fp32> and the float 1.5: a pointer's offset must be an integer | convert "
            "it: offset.to(tl.int32)");
  EXPECT_EQ(
      apply(Operator::Add, x, p),
      "invalid operands of type fp32 tensor of shape [4] and pointer<fp32>: a pointer's offset must be an integer | "
      "convert it, offset.to(tl.int32); " +
          instead);
  EXPECT_EQ(apply(Operator::Mul, p, 2),
            "invalid operands of type pointer<fp32> and the int 2: a pointer has no * | a pointer takes + offset and - "
            "offset; " +
                instead);
  EXPECT_EQ(apply(Operator::Add, x, "a"), "cannot use + on fp32 tensor of shape [4] and the str 'a'");
  EXPECT_EQ(apply(Operator::Add, x, Object()),
            "cannot use + on fp32 tensor of shape [4] and None | give it a value, or leave this branch out at compile "
            "time with `if x is not None`");
  EXPECT_EQ(apply(Operator::Add, x, named("z", float32(), {8})),
            "shapes [4] and [8] do not go together: axis 0 has 4 and 8 elements | extents must be equal or 1; x[:, "
            "None] and x[None, :] insert an axis of 1");
  EXPECT_EQ(apply(Operator::Div, 1, 0), "division by zero: 1 / 0");
  EXPECT_EQ(apply(Operator::Shl, 1, -1), "a shift count cannot be negative: -1");
  EXPECT_EQ(apply(Operator::Add, 1, "a"), "cannot use + on the int 1 and the str 'a'");
}

TEST_F(Errors, UnaryAndComparisons) {
  EXPECT_EQ(errorOf([&] { applyUnary(evaluation, UnaryOperator::Plus, x); }),
            "+x is not defined on tensors | leave the + out");
  EXPECT_EQ(errorOf([&] { applyUnary(evaluation, UnaryOperator::Not, x); }),
            "not needs an int1 tensor, not fp32 tensor of shape [4] | write x == 0");
  EXPECT_EQ(errorOf([&] { applyUnary(evaluation, UnaryOperator::Invert, x); }),
            "~ needs an integer, not fp32 tensor of shape [4] | to work on a float's bits use x.to(tl.int32, "
            "bitcast=True)");
  EXPECT_EQ(compare(Comparison::In, x, Object::makeTuple({1, 2})),
            "`in` is not defined on tensors | compare with == and join with |");
  EXPECT_EQ(compare(Comparison::Eq, p, p),
            "cannot compare pointer<fp32> with pointer<fp32> | convert pointers to tl.int64 first");
  EXPECT_EQ(errorOf([&] { applyLogical(evaluation, true, i, mask); }),
            "`and` needs int1 operands, not int32 tensor of shape [4] | write x != 0");
  EXPECT_EQ(errorOf([&] { toCondition(evaluation, mask); }),
            "a condition must be a scalar, not int1 tensor of shape [4] | reduce it first, e.g. tl.max(x, axis=0), or "
            "choose per element with tl.where");
}

TEST_F(Errors, Casts) {
  EXPECT_EQ(castOf(fp8, int32()), "cannot convert fp8e5 to int32 | convert to fp32 first: x.to(tl.float32)");
  EXPECT_EQ(castOf(p, int32()), "cannot convert pointer<fp32> to int32 | a pointer converts to tl.int64 or tl.uint64");
  EXPECT_EQ(castOf(x, Type::pointer(int8())), "cannot convert fp32 to pointer<int8>");
  EXPECT_EQ(call("cast", {h, float32(), "rtz"}),
            "tl.cast: a rounding mode is only for conversions to a narrower float, not from fp16 to fp32");
  EXPECT_EQ(call("cast", {x, float16(), "up"}),
            "tl.cast: `fp_downcast_rounding` cannot be \"up\" | use one of \"rtne\", \"rtz\"");
  EXPECT_EQ(call("cast", {x, int64()}, {{"bitcast", true}}),
            "tl.cast: cannot bitcast fp32 (32 bits) to int64 (64 bits): the widths differ | leave bitcast=True out to "
            "convert the value, or choose a type of 32 bits");
  EXPECT_EQ(call("cast", {x, 32}), "tl.cast: `dtype` must be a dtype such as tl.float32, not the int 32");
  EXPECT_EQ(errorOf([&] { toValue(evaluation, 2.5, int32()); }),
            "the float 2.5 is not an integer, so it cannot be int32");
}

TEST_F(Errors, Subscripts) {
  EXPECT_EQ(errorOf([&] { subscript(evaluation, x, x); }),
            "unsupported tensor index: fp32 tensor of shape [4]; a tensor is indexed by None, :, ..., integers and "
            "slices | use tl.gather to read at many places");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, p, Object::makeSlice(10, Object(), Object())); }),
            "unsupported tensor index: slice(10, None, None) of pointer<fp32>, which has no axis to slice | a pointer "
            "takes offsets: tl.load(pointer + tl.arange(0, 16))");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, x, 4); }),
            "index 4 is out of range for axis 0 of a tensor of shape [4]");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, x, Object::makeTuple({0, 0})); }),
            "too many indices: 2 for a tensor of rank 1 | each index but None takes one axis; None inserts one");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, x, Object::makeSlice(2, 2, Object())); }),
            "the slice of axis 0 of a tensor of shape [4] is empty");
  EXPECT_EQ(errorOf([&] { subscript(evaluation, Object::makeTuple({1}), s); }),
            "a tuple is indexed by a constexpr int or a slice, not int32 scalar | a run-time index cannot choose among "
            "a tuple's items; use tl.static_range");
}

TEST_F(Errors, Binding) {
  EXPECT_EQ(call("program_id", {}), "tl.program_id needs the argument `axis` | its parameters are axis");
  EXPECT_EQ(call("program_id", {0, 1}),
            "tl.program_id takes at most 1 arguments, but 2 were given | its parameters are axis");
  EXPECT_EQ(call("arange", {0, 4}, {{"stop", 4}}), "tl.arange has no parameter `stop` | its parameters are start, end");
  EXPECT_EQ(call("arange", {0, 4}, {{"end", 4}}), "tl.arange got `end` twice | its parameters are start, end");
  EXPECT_EQ(call("tanh", {}, {}, "triton.language.extra.libdevice"),
            "tl.extra.libdevice.tanh needs the argument `x` | its parameters are x");
}

// Nothing that is written wrongly is left out of account, of no builtin.
TEST_F(Errors, UnknownKeywords) {
  std::vector<std::pair<std::string, Object>> unknown = {{"no_such_keyword", 1}};
  Object four = 4;
  std::string message = " has no parameter `no_such_keyword` | ";
  for (const Builtin &builtin : allBuiltins()) {
    if (llvm::any_of(builtin.parameters, [](const Parameter &parameter) { return parameter.isKeywords; }))
      continue;
    std::string error = errorOf([&] { callBuiltin(evaluation, builtin, {}, unknown); });
    EXPECT_EQ(error.rfind(displayName(builtin) + message, 0), 0u)
        << builtin.module << "." << builtin.name << ": " << error;
  }
  std::string hints =
      "num_stages, loop_unroll_factor, disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm";
  for (const char *module : {"builtins", "triton.language"})
    EXPECT_EQ(errorOf([&] { rangeArguments(evaluation, *findBuiltin(module, "range"), four, unknown); }),
              "tl.range" + message + "its parameters are arg1, arg2, step, " + hints);
  EXPECT_EQ(
      errorOf([&] { rangeArguments(evaluation, *findBuiltin("triton.language", "static_range"), four, unknown); }),
      "tl.static_range" + message + "its parameters are arg1, arg2, step");
  EXPECT_EQ(errorOf([&] { conditionArguments(evaluation, four, unknown); }),
            "tl.condition" + message + "its parameters are arg1, disable_licm");
}

TEST_F(Errors, Arguments) {
  EXPECT_EQ(call("program_id", {3}), "tl.program_id: `axis` must be 0, 1 or 2, not 3");
  EXPECT_EQ(call("arange", {0, s}), "tl.arange: `end` must be a constexpr int, not int32 scalar | its value must be "
                                    "known at compile time: pass a literal or a tl.constexpr parameter");
  EXPECT_EQ(call("arange", {0, 512.0}), "tl.arange: `end` must be a constexpr int, not the float 512.0 | write 512; "
                                        "a // b divides integers to an integer");
  EXPECT_EQ(call("arange", {0, 2.5}), "tl.arange: `end` must be a constexpr int, not the float 2.5 | a // b divides "
                                      "integers to an integer, and int(x) rounds towards zero");
  EXPECT_EQ(call("arange", {4, 4}), "tl.arange: `end` (4) must be greater than `start` (4)");
  EXPECT_EQ(call("zeros", {Object::makeTuple({1024, 2048}), float32()}),
            "tl.zeros: a tensor of shape [1024, 2048] has more elements than a tensor may have (1048576)");
  EXPECT_EQ(call("zeros", {Object::makeTuple({0}), float32()}),
            "tl.zeros: `shape` must hold positive extents, not [0]");
  EXPECT_EQ(call("full", {Object::makeTuple({4}), 1}),
            "tl.full: `dtype` is needed when `value` is a number | write dtype=tl.float32");
  EXPECT_EQ(call("exp", {h}),
            "tl.exp: Expected dtype fp32 or fp64 for `x` but got fp16 | convert it first: x.to(tl.float32)");
  EXPECT_EQ(call("sqrt", {i}),
            "tl.sqrt: Expected dtype fp32 or fp64 for `x` but got int32 | convert it first: x.to(tl.float32)");
  EXPECT_EQ(
      call("expand_dims", {x, 3}),
      "tl.expand_dims: invalid axis 3 for `axis`: the tensor has 2 axes | axes count from 0, or from -1 backwards");
  EXPECT_EQ(call("reshape", {x, 3}),
            "tl.reshape: shape [4] has 4 elements, and [3] has 3 | a reshape keeps the number of elements");
  EXPECT_EQ(call("permute", {x, 1, 0}), "tl.permute: `dims` must name each of the 1 axes once, not [1, 0]");
  EXPECT_EQ(
      call("broadcast_to", {x, 4, 4}),
      "tl.broadcast_to: cannot broadcast shape [4] to [4, 4]: the ranks differ | add axes first, e.g. x[:, None]");
  EXPECT_EQ(call("split", {x}), "tl.split: the last axis must have 2 elements, but the shape is [4] | reshape first, "
                                "e.g. x.reshape(M, N // 2, 2)");
  EXPECT_EQ(call("multiple_of", {i, Object::makeTuple({4, 4})}),
            "tl.multiple_of: `values` has 2 entries for a tensor of shape [4] | give one for each axis");
}

TEST_F(Errors, Memory) {
  EXPECT_EQ(call("load", {x}),
            "tl.load: `pointer` must be a pointer or a tensor of pointers, not fp32 tensor of shape [4]");
  EXPECT_EQ(call("load", {s}), "tl.load: `pointer` must be a pointer or a tensor of pointers, not int32 scalar | an "
                               "address held in an integer becomes a "
                               "pointer with x.to(tl.pointer_type(tl.float32))");
  EXPECT_EQ(call("load", {p}, {{"other", 0}}),
            "tl.load: `other` is given without `mask` | `other` is what masked-off elements read as");
  EXPECT_EQ(call("load", {p, mask}), "tl.load: `mask` has shape [4], but `pointer` is a scalar | make a tensor of "
                                     "pointers, e.g. pointer + tl.arange(0, N)");
  EXPECT_EQ(call("load", {block, i}), "tl.load: `mask` must be int1, not int32 tensor of shape [4] | write mask != 0");
  EXPECT_EQ(call("load", {block}, {{"cache_modifier", ".wb"}}),
            "tl.load: `cache_modifier` cannot be \".wb\" | use one of \".ca\", \".cg\", \".cs\", \".cv\"");
  EXPECT_EQ(call("store", {p, x}), "tl.store: `value` has shape [4], but `pointer` is a scalar | make a tensor of "
                                   "pointers, e.g. pointer + tl.arange(0, N)");
  EXPECT_EQ(call("store", {named("c", Type::pointer(float32(), true)), 1.0}),
            "tl.store: cannot write through a const pointer");
  EXPECT_EQ(call("store", {block, named("z", float32(), {2, 4})}),
            "tl.store: `value` of shape [2, 4] does not fit pointers of shape [4]");
  EXPECT_EQ(call("make_block_ptr", {p, 1, 1, 1, 1, 1}),
            "tl.make_block_ptr: `order` must name each of the 1 axes once, found [1]");
}

TEST_F(Errors, Dot) {
  Object a = named("a", float16(), {16, 8}), b = named("b", float16(), {8, 4});
  EXPECT_EQ(call("dot", {a, a}), "tl.dot: shapes [16, 8] and [16, 8] cannot be multiplied | the shapes are [M, K] and "
                                 "[K, N], with equal leading axes");
  EXPECT_EQ(call("dot", {a, named("c", float32(), {8, 4})}),
            "tl.dot: the operands have different types, fp16 and fp32 | convert one of them, e.g. x.to(tl.float16)");
  EXPECT_EQ(call("dot", {a, b}, {{"out_dtype", bfloat16()}}),
            "tl.dot: the result cannot be bf16 | take fp32 and convert it: tl.dot(a, b).to(tl.bfloat16)");
  EXPECT_EQ(call("dot", {a, b, named("c", float32(), {4, 4})}),
            "tl.dot: `acc` has shape [4, 4], but the product has [16, 4]");
  EXPECT_EQ(call("dot", {named("n", uint8(), {2, 2}), named("m", uint8(), {2, 2})}),
            "tl.dot: integer operands must be int8, not uint8 | convert them, x.to(tl.int8), or compute in a float: "
            "x.to(tl.float32)");
  EXPECT_EQ(call("dot", {x, x}),
            "tl.dot: `input` must have at least two axes, not shape [4] | insert an axis, e.g. x[None, :], or "
            "write tl.sum(a * b) for the product of two vectors");
  EXPECT_EQ(call("dot", {a, b}, {{"input_precision", "fast"}}),
            "tl.dot: `input_precision` cannot be \"fast\" | use one of \"tf32\", \"tf32x3\", \"ieee\", \"bf16x3\", "
            "\"bf16x6\"");
}

TEST_F(Errors, Atomics) {
  EXPECT_EQ(
      call("atomic_add", {named("c", Type::pointer(int8())), 1}),
      "tl.atomic_add: memory of int8 cannot be accessed this way; it must be a type of 32 or 64 bits, fp16 or bf16");
  EXPECT_EQ(call("atomic_max", {named("c", Type::pointer(float16())), 1}),
            "tl.atomic_max: memory of fp16 cannot be accessed this way; it must be a type of 32 or 64 bits");
  EXPECT_EQ(
      call("atomic_cas", {p, s, 1.0}),
      "tl.atomic_cas: `cmp` must be fp32 scalar like the memory, not int32 scalar | convert and broadcast it first");
  EXPECT_EQ(
      call("atomic_add", {p, 1}, {{"sem", "strong"}}),
      "tl.atomic_add: `sem` cannot be \"strong\" | use one of \"relaxed\", \"acquire\", \"release\", \"acq_rel\"");
}

TEST_F(Errors, Assertions) {
  EXPECT_EQ(call("static_assert", {1 == 2, "sizes differ"}), "static assertion failed: sizes differ");
  EXPECT_EQ(call("static_assert", {false}), "static assertion failed");
  EXPECT_EQ(call("assume", {false}), "tl.assume: the assumption is false");
}

TEST_F(Errors, Reductions) {
  EXPECT_EQ(call("reduce", {x, 1, JitReference{"add", nullptr}}),
            "tl.reduce: invalid axis 1 for `axis`: the tensor has 1 axis | axes count from 0, or from -1 backwards");
  EXPECT_EQ(call("reduce", {x, 0, 5}),
            "tl.reduce: `combine_fn` must be a function of the language, not the int 5 | mark it with @triton.jit");
  evaluation.functions["wide"] = [](Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
    return Object(castTo(evaluation, arguments[0].value(), float64()));
  };
  EXPECT_EQ(call("reduce", {x, 0, JitReference{"wide", nullptr}}),
            "tl.reduce: `combine_fn` takes fp32 and returns fp64 | both must be one type; convert the result");
  EXPECT_EQ(call("histogram", {x, 4}),
            "tl.histogram: `input` must hold 32-bit integers, not fp32 | convert it first: x.to(tl.int32)");
}

TEST_F(Errors, CarryThePlace) {
  auto source = std::make_shared<SourceText>(SourceText{"kernel.py", "y = tl.exp(x)\n", 12, 0});
  evaluation.builder().setLocation({source, 12, 4, 12, 13});
  try {
    callLanguage(evaluation, "exp", {h});
    FAIL() << "an error was expected";
  } catch (CompileError &error) {
    EXPECT_EQ(error.diagnostic.location.line, 12);
    EXPECT_EQ(error.diagnostic.kind, Diagnostic::Kind::Type);
  }
}

} // namespace
