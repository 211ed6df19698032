// The values of literals: numbers of any size and form, and string bodies with their escapes.
#pragma once

#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace nacre {

// `text` is an Integer token's: any base, underscores.
llvm::DynamicAPInt integerValue(llvm::StringRef text);
// `text` is a Float token's, or an Imaginary's without its last letter. Rounds to nearest; out of range is infinity or
// zero.
double floatValue(llvm::StringRef text);

struct StringForm {
  bool isRaw = false;
  bool isBytes = false;
  bool isFormatted = false; // a piece of an f-string's text: doubled braces stand for one
  bool isFormat = false;    // ... of its format specification: braces are never doubled
};

// A String token taken apart.
struct StringParts {
  StringForm form;
  llvm::StringRef body; // between the quotes
};
StringParts splitString(llvm::StringRef token);
StringForm prefixForm(llvm::StringRef prefixAndQuotes); // of an FStringStart token

// The body's value. `fail` is called with the place of a bad escape, as a part of `body`, and must not return.
std::string decodeString(llvm::StringRef body, const StringForm &form,
                         llvm::function_ref<void(size_t offset, size_t length, const std::string &message)> fail);

} // namespace nacre
