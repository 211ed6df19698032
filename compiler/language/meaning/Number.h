// Python's numbers over llvm::DynamicAPInt and double: what the standard arithmetic of those two does not give by
// itself. Nothing here fails with a location: a question without an answer returns none, and the caller says what was
// wrong.
#pragma once

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace nacre {

using Integer = llvm::DynamicAPInt;

// The integer in two's complement, in the fewest bits that hold it.
llvm::APInt toBits(const Integer &value);
Integer fromBits(const llvm::APInt &value, bool isSigned = true);
std::optional<int64_t> toInt64(const Integer &value); // none when it does not fit
bool isAbsurdlyLarge(const Integer &value);           // more bits than any kernel needs

// Decimal digits, or hexadecimal, octal, binary with Python's prefixes left off; an optional sign. None when malformed.
std::optional<Integer> parseInteger(llvm::StringRef digits, unsigned radix = 10);
std::string integerText(const Integer &value, unsigned radix = 10);

std::optional<double> toDouble(const Integer &value);      // nearest; none when too large
std::optional<Integer> truncateToInteger(double value);    // toward zero; none for NaN and infinities
int compareNumbers(const Integer &integer, double number); // exact: -1, 0, 1; 2 when `number` is NaN

Integer floorDivide(const Integer &a, const Integer &b);                      // b != 0
Integer floorModulo(const Integer &a, const Integer &b);                      // b != 0; has b's sign
double trueDivide(const Integer &a, const Integer &b);                        // b != 0; correctly rounded
double floorDivide(double a, double b);                                       // b != 0
double floorModulo(double a, double b);                                       // b != 0
std::optional<Integer> power(const Integer &base, const Integer &exponent);   // exponent >= 0; none when absurdly large
std::optional<Integer> shiftLeft(const Integer &value, const Integer &count); // count >= 0; none when absurdly large
Integer shiftRight(const Integer &value, const Integer &count);               // count >= 0

enum class BitOperation { And, Or, Xor };
Integer bitwise(BitOperation operation, const Integer &a, const Integer &b);

// As Python's repr writes it: the shortest text that reads back equal.
std::string floatText(double value);

} // namespace nacre
