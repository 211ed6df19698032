// Matrix products. Floats are multiplied and added in float (fp64 in double) and rounded to the accumulator's type at
// the end; integers in int32. Every precision asked for is met: nothing is rounded to tf32.
#include "compiler/reference/ChunkFunctions.h"
#include "compiler/reference/EagerBuilder.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/Vectorized.h"

using namespace nacre;

namespace {
// c[m, n] += a[m, k] * b[k, n], all row-major and contiguous. A block of 4 rows by 16 columns stays in registers over
// k.
template <typename T>
[[gnu::always_inline]] inline void multiplyBlocked(const T *a, const T *b, T *c, int64_t m, int64_t n, int64_t k) {
  constexpr int rows = 4, columns = 64 / sizeof(T);
  int64_t row = 0;
  for (; row + rows <= m; row += rows) {
    int64_t column = 0;
    for (; column + columns <= n; column += columns) {
      T sums[rows][columns];
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < columns; ++j)
          sums[r][j] = c[(row + r) * n + column + j];
      for (int64_t i = 0; i < k; ++i) {
        const T *right = b + i * n + column;
        for (int r = 0; r < rows; ++r) {
          T left = a[(row + r) * k + i];
          for (int j = 0; j < columns; ++j)
            sums[r][j] += left * right[j];
        }
      }
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < columns; ++j)
          c[(row + r) * n + column + j] = sums[r][j];
    }
    for (; column < n; ++column)
      for (int r = 0; r < rows; ++r)
        for (int64_t i = 0; i < k; ++i)
          c[(row + r) * n + column] += a[(row + r) * k + i] * b[i * n + column];
  }
  for (; row < m; ++row)
    for (int64_t i = 0; i < k; ++i) {
      T left = a[row * k + i];
      for (int64_t column = 0; column < n; ++column)
        c[row * n + column] += left * b[i * n + column];
    }
}

template <typename T> void multiply(const T *a, const T *b, T *c, int64_t m, int64_t n, int64_t k) {
  vectorized([=]() NACRE_LOOP { multiplyBlocked<T>(a, b, c, m, n, k); });
}

// The operand as contiguous elements of the type that is multiplied in.
BufferRef widened(EagerBuilder &builder, const Value &value, Type element) {
  Type type = withScalar(value.type(), element);
  if (value.type() == type)
    return contiguous(bufferRef(value));
  CastOp op = value.type().isFloating() ? CastOp::FloatExtend
              : value.type().isSigned() ? CastOp::ExtendSigned
                                        : CastOp::ExtendUnsigned;
  return contiguous(bufferRef(builder.cast(op, value, type)));
}
} // namespace

Value EagerBuilder::dot(Value a, Value b, Value accumulator, const DotOptions &) {
  Type resultType = accumulator.type();
  bool isDouble = resultType.scalarType() == float64() || a.type().scalarType() == float64();
  Type element = isDouble ? float64() : resultType.isFloating() ? float32() : int32();
  BufferRef left = widened(*this, a, element), right = widened(*this, b, element);
  BufferRef result = makeBuffer(withScalar(resultType, element));
  copyElements(*widened(*this, accumulator, element), result->data);

  Shape leftShape = left->shape(), shape = resultType.shape();
  int64_t rank = shape.size(), m = shape[rank - 2], n = shape[rank - 1], k = leftShape[rank - 1];
  int64_t batches = resultType.elementCount() / (m * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t atLeft = batch * m * k, atRight = batch * k * n, atResult = batch * m * n;
    if (isDouble)
      multiply(left->as<double>() + atLeft, right->as<double>() + atRight, result->as<double>() + atResult, m, n, k);
    else if (element == float32())
      multiply(left->as<float>() + atLeft, right->as<float>() + atRight, result->as<float>() + atResult, m, n, k);
    else
      multiply(left->as<uint32_t>() + atLeft, right->as<uint32_t>() + atRight, result->as<uint32_t>() + atResult, m, n,
               k);
  }
  Value wide = valueOf(result);
  Value product = wide.type() == resultType ? wide : cast(CastOp::FloatTruncate, wide, resultType);
  if (program.watcher)
    program.watcher->value(program, "dot", {a, b, product});
  return product;
}
