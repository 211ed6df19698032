// Tensor descriptors: an array with the shape of the blocks it is accessed by. Every access checks the bounds: outside
// of them nothing is written, and reads give the padding.
#include "compiler/language/BlockView.h"
#include "compiler/language/Definitions.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

Object makeDescriptor(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  ArrayArguments array = arrayArguments(evaluation, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (array.rank > 5)
    evaluation.fail(Diagnostic::Kind::Value, "a descriptor has at most 5 axes, found " + std::to_string(array.rank));
  const Object &last = array.strides.tuple().items.back();
  if (!last.isInt() || last.as<Integer>() != 1)
    evaluation.fail(Diagnostic::Kind::Value, "the last of `strides` must be the constexpr 1, not " + describe(last),
                    "the last axis of a descriptor lies in memory without gaps");
  int padding = choiceArgument(evaluation, arguments[4], {"zero", "nan"}, 0, "padding_option");
  Object descriptor =
      makeRecord(descriptorName, {"base", "shape", "strides", "block_shape", "padding"},
                 {array.base, array.shape, array.strides, array.blockShape, padding == 1 ? "nan" : "zero"});
  BlockView view(descriptor);
  int64_t extent = view.blockShape.back(), size = view.element().byteSize();
  if (extent * size < 16)
    evaluation.fail(Diagnostic::Kind::Value,
                    "Descriptor block shape must have at least 16 bytes in the last dimension, but got " +
                        std::to_string(extent) + " * " + std::to_string(size) + " = " + std::to_string(extent * size) +
                        " bytes",
                    "make the last of `block_shape` larger, or load with pointers and a mask");
  paddingValue(evaluation, view, padding == 1 ? "nan" : "zero"); // fails where it cannot be
  return descriptor;
}

const Object &descriptorArgument(Evaluation &evaluation, const Object &object) {
  if (!object.isRecord(descriptorName))
    evaluation.fail(Diagnostic::Kind::Type, "`desc` must be a tensor descriptor, not " + describe(object),
                    "make one with tl.make_tensor_descriptor, or pass a TensorDescriptor to the kernel");
  return object;
}

Value padding(Evaluation &evaluation, const BlockView &view, const Object &descriptor) {
  return paddingValue(evaluation, view, descriptor.tuple().items.back().as<std::string>());
}

BlockPlace placeOf(Evaluation &evaluation, const BlockView &view, const Object &offsets) {
  llvm::SmallVector<bool> checked(view.blockShape.size(), true);
  return locate(evaluation, view, offsetsArgument(evaluation, offsets, view.blockShape.size(), "offsets"), checked);
}

Object loadAt(Evaluation &evaluation, const Object &descriptor, const BlockPlace &place, const LoadOptions &options) {
  Value filler = padding(evaluation, BlockView(descriptor), descriptor);
  return loadTile(evaluation, place.pointers, place.mask, filler ? Object(filler) : Object(), options);
}

// A tile of the block's shape, or one that has as many elements: an axis of 1 may be left out or added.
Object blockValue(Evaluation &evaluation, Shape blockShape, const Object &object) {
  if (!object.isValue() || object.value().type().shape() == blockShape ||
      object.value().type().rank() == static_cast<int64_t>(blockShape.size()))
    return object;
  int64_t count = 1;
  for (int64_t extent : blockShape)
    count *= extent;
  if (object.value().type().isBlock() && object.value().type().elementCount() == count)
    return evaluation.builder().reshape(object.value(), blockShape);
  return object;
}

Object load(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  LoadOptions options = loadOptions(evaluation, arguments.size() > 2 ? arguments[2] : Object(),
                                    arguments.size() > 3 ? arguments[3] : Object());
  return loadAt(evaluation, descriptor, placeOf(evaluation, BlockView(descriptor), arguments[1]), options);
}

Object store(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  BlockView view(descriptorArgument(evaluation, arguments[0]));
  requireWritable(evaluation, view.base);
  BlockPlace place = placeOf(evaluation, view, arguments[1]);
  storeTile(evaluation, place.pointers, blockValue(evaluation, view.blockShape, arguments[2]), place.mask,
            StoreOptions());
  return Object();
}

constexpr const char *atomicNames[] = {"atomic_add", "atomic_min", "atomic_max",
                                       "atomic_and", "atomic_or",  "atomic_xor"};

// The atomic of that name, on the block's pointers. Nothing is returned: a descriptor's atomics only write.
template <int name> Object atomic(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  BlockView view(descriptorArgument(evaluation, arguments[0]));
  BlockPlace place = placeOf(evaluation, view, arguments[1]);
  const Builtin *builtin = findBuiltin(languageModule, atomicNames[name]);
  builtin->invoke(evaluation, {place.pointers, blockValue(evaluation, view.blockShape, arguments[2]), place.mask,
                               Object("relaxed"), Object()});
  return Object();
}

// Rows for gather and scatter: the descriptor's blocks are single rows.
BlockPlace rowsOf(Evaluation &evaluation, const BlockView &view, const Object &rowOffsets, const Object &columnOffset) {
  if (view.blockShape.size() != 2 || view.blockShape[0] != 1)
    evaluation.fail(Diagnostic::Kind::Value,
                    "needs a descriptor of two axes whose blocks have one row, found blocks of "
                    "shape " +
                        shapeText(view.blockShape));
  Value rows = blockArgument(evaluation, rowOffsets, "x_offsets");
  if (rows.type().rank() != 1 || !rows.type().isInteger())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`x_offsets` must be a tensor of integers with one axis, not " + describe(rowOffsets));
  Value column = offsetsArgument(evaluation, columnOffset, 1, "y_offset").front();
  return locateRows(evaluation, view, rows, column);
}

Object gather(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  return loadAt(evaluation, descriptor, rowsOf(evaluation, BlockView(descriptor), arguments[1], arguments[2]),
                loadOptions(evaluation, arguments[3], arguments[4]));
}

Object scatter(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  BlockView view(descriptorArgument(evaluation, arguments[0]));
  requireWritable(evaluation, view.base);
  BlockPlace place = rowsOf(evaluation, view, arguments[2], arguments[3]);
  storeTile(evaluation, place.pointers, arguments[1], place.mask, StoreOptions());
  return Object();
}

} // namespace

void addTensorDescriptors(Table &table) {
  table.section(languageModule, "memory");
  table.add("make_tensor_descriptor(base: tensor, shape: tuple, strides: tuple, block_shape: constexpr tuple, "
            "padding_option: constexpr str = \"zero\")",
            "A descriptor of an array, from which blocks are loaded and to which they are stored, bounds checked.\n\n"
            "base: a pointer to the array's first element.\n"
            "shape, strides: of the array, one integer an axis, counted in elements; the last stride is 1.\n"
            "block_shape: of the tiles that are loaded and stored.\n"
            "padding_option: what elements outside read as: \"zero\" or \"nan\".",
            makeDescriptor);
  table.add("load_tensor_descriptor(desc: tensor_descriptor, offsets: tuple)",
            "Loads the block that starts at offsets: desc.load(offsets).", load);
  table.add("store_tensor_descriptor(desc: tensor_descriptor, offsets: tuple, value: tensor)",
            "Stores value at offsets: desc.store(offsets, value).", store);

  table.section(descriptorModule, "memory");
  table.add("load(desc: tensor_descriptor, offsets: tuple, cache_modifier: constexpr str = \"\", eviction_policy: "
            "constexpr str = \"\")",
            "Loads the block that starts at offsets. Elements outside the array read as the padding.", load);
  table.add("store(desc: tensor_descriptor, offsets: tuple, value: tensor)",
            "Stores a block at offsets. Elements outside the array are dropped.", store);
  auto addAtomic = [&](const char *name, const char *what, Table::Invoke invoke) {
    std::string signature = std::string(name) + "(desc: tensor_descriptor, offsets: tuple, value: tensor)";
    table.add(signature.c_str(), std::string(what) + " the block at offsets, each element in one step.", invoke);
  };
  addAtomic(atomicNames[0], "Adds value to", atomic<0>);
  addAtomic(atomicNames[1], "Lowers to value, where that is smaller,", atomic<1>);
  addAtomic(atomicNames[2], "Raises to value, where that is larger,", atomic<2>);
  addAtomic(atomicNames[3], "Joins value with & to", atomic<3>);
  addAtomic(atomicNames[4], "Joins value with | to", atomic<4>);
  addAtomic(atomicNames[5], "Joins value with ^ to", atomic<5>);
  table.add("gather(desc: tensor_descriptor, x_offsets: tensor, y_offset: tensor, cache_modifier: constexpr str = "
            "\"\", eviction_policy: constexpr str = \"\")",
            "Loads rows of an array of two axes: row x_offsets[i], from column y_offset on, becomes row i. The "
            "descriptor's blocks have one row.",
            gather);
  table.add("scatter(desc: tensor_descriptor, value: tensor, x_offsets: tensor, y_offset: tensor)",
            "Stores row i of value to row x_offsets[i], from column y_offset on.", scatter);
}

} // namespace nacre
