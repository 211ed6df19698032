// Matrix products: types of elements, fragments as the PTX ISA defines them, and the sums.
//
// Fragments, from the tables of the ISA (sections on mma.m*n*k* and wgmma). With g = lane / 4, t = lane % 4 and e
// elements in a register (32 bits / their width; 1 for f64):
//   A, register r, element j:  row g + 8 (r % 2), column t e + j + 4 e (r / 2)      (shapes with m8: one register, row
//   g) B, register r, element j:  row t e + j + 4 e r, column g C and D, element i:        row g + 8 ((i / 2) % 2),
//   column 2 t + i % 2 + 8 (i / 4)   (16-bit results: two elements a register)
#pragma once

#include "simulator/Execute.h"

namespace nacre::simulator {

enum class MatrixType : uint8_t { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1 };
std::optional<MatrixType> matrixType(std::string_view name);
unsigned bitsOf(MatrixType type);
inline bool isIntegerMatrix(MatrixType type) { return type >= MatrixType::S8; }

// Element `index` of a register, or of bytes in memory, as a number.
double elementValue(MatrixType type, uint64_t bits);
inline uint64_t elementBits(uint64_t word, unsigned index, unsigned bits) {
  return bits == 64 ? word : word >> (index * bits) & ((uint64_t(1) << bits) - 1);
}

struct FragmentPlace {
  unsigned row, column;
};
inline FragmentPlace placeInA(unsigned lane, unsigned reg, unsigned element, unsigned perRegister) {
  return {lane / 4 + 8 * (reg & 1), lane % 4 * perRegister + element + 4 * perRegister * (reg >> 1)};
}
inline FragmentPlace placeInB(unsigned lane, unsigned reg, unsigned element, unsigned perRegister) {
  return {lane % 4 * perRegister + element + 4 * perRegister * reg, lane / 4};
}
inline FragmentPlace placeInC(unsigned lane, unsigned element) {
  return {lane / 4 + 8 * (element >> 1 & 1), lane % 4 * 2 + (element & 1) + 8 * (element >> 2)};
}

// sums[m][n] += a[m][k] b[k][n], in double.
void multiplyAdd(double *sums, const double *a, const double *b, unsigned m, unsigned n, unsigned k);

// Products of f16, bf16, tf32 and 8-bit floats added to f32, bit for bit as an H200 does it (found by comparison with
// one): the k products and the accumulator are cut off, not rounded, at 2^-25 of the largest of them, measured by the
// sum of its factors' exponents; the sum is cut off to 24 bits. 8-bit floats: wgmma cuts at 2^-13 and to 14 bits;
// mma.sync makes two products of 16, of the pairs of elements 0, 1 and 2, 3 of each register, and adds the accumulator
// afterwards, rounded to nearest; with `halfSums`, whose results are f16, each of the two is rounded to f16.
enum class TensorUnit : uint8_t { Mma, Wgmma };
void multiplyAddTensor(float *sums, const double *a, const double *b, unsigned m, unsigned n, unsigned k,
                       MatrixType type, TensorUnit unit, bool halfSums = false);

} // namespace nacre::simulator
