// Changing the shape of tensors.
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

static Object broadcast(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [first, second] = unifyShapes(evaluation, valueArgument(evaluation, arguments[0], "input"),
                                     valueArgument(evaluation, arguments[1], "other"));
  return Object::makeTuple({first, second});
}

static Object broadcastToShape(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return broadcastTo(evaluation, valueArgument(evaluation, arguments[0], "input"),
                     shapeArgument(evaluation, arguments[1], "shape"));
}

static Value insertAxis(Evaluation &evaluation, Value value, int axis) {
  return value.type().isBlock() ? evaluation.builder().expandDims(value, axis) : evaluation.builder().splat(value, {1});
}

static Object expandDims(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "input");
  std::vector<Object> requested = sequenceArgument(arguments[1]);
  int64_t rank = value.type().rank() + static_cast<int64_t>(requested.size());
  llvm::SmallVector<int> axes;
  for (const Object &axis : requested)
    axes.push_back(axisArgument(evaluation, axis, rank));
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    evaluation.fail(Diagnostic::Kind::Value, "duplicate axes: `axis` names one place twice, " + arguments[1].repr());
  for (int axis : axes)
    value = insertAxis(evaluation, value, axis);
  return value;
}

static Value reshapeTo(Evaluation &evaluation, Value value, Shape shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  if (count != value.type().elementCount())
    evaluation.fail(Diagnostic::Kind::Value,
                    "shape " + shapeText(value.type().shape()) + " has " +
                        std::to_string(value.type().elementCount()) + " elements, and " + shapeText(shape) + " has " +
                        std::to_string(count),
                    "a reshape keeps the number of elements");
  if (value.type().shape() == shape)
    return value;
  if (shape.empty())
    return toScalar(evaluation, value);
  return value.type().isBlock() ? evaluation.builder().reshape(value, shape) : evaluation.builder().splat(value, shape);
}

static Object reshape(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return reshapeTo(evaluation, valueArgument(evaluation, arguments[0], "input"),
                   shapeArgument(evaluation, arguments[1], "shape"));
}

static Object ravel(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  return reshapeTo(evaluation, value, {value.type().elementCount()});
}

static Object squeeze(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = blockArgument(evaluation, arguments[0], "x");
  int axis = axisArgument(evaluation, arguments[1], value.type().rank(), "dim");
  llvm::SmallVector<int64_t> shape(value.type().shape());
  if (shape[axis] != 1)
    evaluation.fail(Diagnostic::Kind::Value,
                    "axis " + std::to_string(axis) + " of shape " + shapeText(shape) + " has more than one element");
  shape.erase(shape.begin() + axis);
  return reshapeTo(evaluation, value, shape);
}

static Object unsqueeze(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  return insertAxis(evaluation, value, axisArgument(evaluation, arguments[1], value.type().rank() + 1, "dim"));
}

static Object permuteBy(Evaluation &evaluation, Value value, llvm::ArrayRef<int64_t> dims) {
  int64_t rank = value.type().rank();
  llvm::SmallVector<int> order;
  llvm::SmallVector<bool> isUsed(rank, false);
  for (int64_t dim : dims) {
    int64_t axis = dim < 0 ? dim + rank : dim;
    if (axis < 0 || axis >= rank || isUsed[axis])
      break;
    isUsed[axis] = true;
    order.push_back(static_cast<int>(axis));
  }
  if (order.size() != dims.size() || static_cast<int64_t>(order.size()) != rank)
    evaluation.fail(Diagnostic::Kind::Value,
                    "`dims` must name each of the " + std::to_string(rank) + " axes once, not " + shapeText(dims));
  if (llvm::is_sorted(order))
    return value;
  return evaluation.builder().permute(value, order);
}

static Object permute(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return permuteBy(evaluation, valueArgument(evaluation, arguments[0], "input"),
                   integersArgument(evaluation, arguments[1], "dims"));
}

static Object trans(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "input");
  llvm::SmallVector<int64_t> dims = integersArgument(evaluation, arguments[1], "dims");
  if (dims.empty()) {
    int64_t rank = value.type().rank();
    if (rank < 2)
      evaluation.fail(Diagnostic::Kind::Value,
                      "a tensor of shape " + shapeText(value.type().shape()) + " has no two axes to swap");
    for (int64_t axis = 0; axis < rank; ++axis)
      dims.push_back(axis);
    std::swap(dims[rank - 2], dims[rank - 1]);
  }
  return permuteBy(evaluation, value, dims);
}

static Object join(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [first, second] = unify(evaluation, arguments[0], arguments[1]);
  if (first.type().isBlock())
    return evaluation.builder().join(first, second);
  Value joined =
      evaluation.builder().join(evaluation.builder().splat(first, {1}), evaluation.builder().splat(second, {1}));
  return evaluation.builder().reshape(joined, {2});
}

static Object split(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = blockArgument(evaluation, arguments[0], "a");
  if (value.type().shape().back() != 2)
    evaluation.fail(Diagnostic::Kind::Value,
                    "the last axis must have 2 elements, but the shape is " + shapeText(value.type().shape()),
                    "reshape first, e.g. x.reshape(M, N // 2, 2)");
  if (value.type().rank() == 1)
    return Object::makeTuple({evaluation.builder().extract(value, {0}), evaluation.builder().extract(value, {1})});
  auto [first, second] = evaluation.builder().split(value);
  return Object::makeTuple({first, second});
}

void addShape(Table &table) {
  table.section(languageModule, "shape");
  table.add("broadcast(input: tensor, other: tensor)", "Both tensors, grown to one shape, as a pair.", broadcast);
  table.add("broadcast_to(input: tensor, *shape: constexpr int)",
            "Grows axes of extent 1, or a scalar, to this shape. Never adds axes to a tensor.\n\n"
            "shape: the extents, as a tuple or one by one.",
            broadcastToShape, Table::method);
  table.add("expand_dims(input: tensor, axis: constexpr int)",
            "Inserts axes of extent 1.\n\n"
            "axis: the place of the new axis in the result, or a tuple of places.",
            expandDims, Table::method);
  const char *reshapeDocumentation = "The same elements, in row-major order, in another shape.\n\n"
                                     "shape: the extents, as a tuple or one by one.\n"
                                     "can_reorder: allows any order of the elements; row-major order is kept anyway.";
  table.add("reshape(input: tensor, *shape: constexpr int, can_reorder: constexpr bool = False)", reshapeDocumentation,
            reshape, Table::method);
  table.add("view(input: tensor, *shape: constexpr int, can_reorder: constexpr bool = False)", reshapeDocumentation,
            reshape, Table::method);
  table.add("ravel(x: tensor, can_reorder: constexpr bool = False)", "All elements in one axis, in row-major order.",
            ravel, Table::method);
  table.add("squeeze(x: tensor, dim: constexpr int)", "Removes an axis of extent 1.", squeeze, Table::method);
  table.add("unsqueeze(x: tensor, dim: constexpr int)", "Inserts an axis of extent 1; dim is its place in the result.",
            unsqueeze, Table::method);
  table.add("permute(input: tensor, *dims: constexpr int)",
            "Reorders the axes: axis i of the result is axis dims[i] of the input.\n\n"
            "dims: every axis once, as a tuple or one by one.",
            permute, Table::method);
  table.add("trans(input: tensor, *dims: constexpr int)",
            "Swaps the last two axes; with dims, reorders as permute does.\n\n"
            "dims: every axis once, as a tuple or one by one.",
            trans, Table::method);
  table.add("join(a: tensor, b: tensor)",
            "Puts two tensors side by side in a new last axis of 2. Scalars give a tensor of 2.", join);
  table.add("split(a: tensor)", "Takes a last axis of 2 apart: the pair of tensors that join would have been given.",
            split, Table::method);
}

} // namespace nacre
