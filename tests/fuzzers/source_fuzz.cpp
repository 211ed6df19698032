// A libFuzzer target: whatever the text is, parsing it as a kernel's source ends with a tree or a CompileError.
#include "compiler/frontend/Parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto source = std::make_shared<nacre::SourceText>();
  source->fileName = "fuzz.py";
  source->text.assign(reinterpret_cast<const char *>(data), size);
  for (auto *parse : {nacre::parseModule, nacre::parseFunction})
    try {
      parse(source);
    } catch (const nacre::CompileError &) {
    }
  return 0;
}
