// Kernels for NVIDIA's GPUs as C functions: the code is part of the source, launches have a stream
// (api/ahead_of_time/nacre_cuda.h).
#include "runtime/devices/cuda/ExportedCode.h"
#include "compiler/targets/cuda/Architectures.h"
#include "compiler/targets/cuda/CudaTarget.h"
#include "runtime/devices/cuda/TensorMaps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nacre::cuda {

namespace {

// An expression of the launch's arguments in C.
std::string inC(const simt::LaunchExpression &expression) {
  using Kind = simt::LaunchExpression::Kind;
  std::vector<std::string> stack;
  for (const simt::LaunchExpression::Step &step : expression.steps) {
    std::string number = std::to_string(step.number);
    auto extend = [&](const char *name) {
      stack.back() = "nacre_cuda_" + std::string(name) + "(" + stack.back() + ", " + number + ")";
    };
    auto combine = [&](const char *name) {
      std::string right = stack.back();
      stack.pop_back();
      stack.back() = "nacre_cuda_" + std::string(name) + "(" + stack.back() + ", " + right + ")";
    };
    switch (step.kind) {
    case Kind::Argument:
      stack.push_back("(int64_t)arguments[" + number + "]");
      break;
    case Kind::Number: // the smallest number has no literal of its own
      stack.push_back(step.number == INT64_MIN ? "INT64_MIN" : "INT64_C(" + number + ")");
      break;
    case Kind::SignExtend:
      extend("signed");
      break;
    case Kind::ZeroExtend:
      extend("unsigned");
      break;
    case Kind::Add:
      combine("add");
      break;
    case Kind::Subtract:
      combine("subtract");
      break;
    case Kind::Multiply:
      combine("multiply");
      break;
    case Kind::Minimum:
      combine("smaller");
      break;
    case Kind::Maximum:
      combine("larger");
      break;
    }
  }
  return stack.back();
}

std::string arrayInC(const simt::TensorMapRecipe &recipe) {
  std::vector<std::string> shape, strides, box;
  for (unsigned axis = 0; axis < recipe.rank(); ++axis) {
    shape.push_back(inC(recipe.shape[axis]));
    strides.push_back(axis + 1 == recipe.rank() ? "1" : inC(recipe.strides[axis]));
    box.push_back(std::to_string(recipe.box[axis]));
  }
  std::string text;
  llvm::raw_string_ostream(text) << "{" << static_cast<int>(recipe.element) << ", "
                                 << simt::TensorMapRecipe::bytesOf(recipe.element) << ", " << recipe.rank() << ", "
                                 << TensorMaps::swizzleCode(recipe) << ", " << (recipe.fillsNaN ? 1 : 0)
                                 << ", (uint64_t)" << inC(recipe.base) << ",\n     {" << llvm::join(shape, ", ")
                                 << "}, {" << llvm::join(strides, ", ") << "}, {" << llvm::join(box, ", ") << "}}";
  return text;
}

void writeBytes(llvm::raw_ostream &out, llvm::StringRef bytes) {
  constexpr size_t perLine = 32;
  for (auto [i, byte] : llvm::enumerate(bytes))
    out << (i % perLine == 0 ? "\n    " : "") << static_cast<unsigned>(static_cast<uint8_t>(byte)) << ",";
}

// The image and its description, as `kernel` or `general`.
void writeKernel(llvm::raw_ostream &out, const std::string &name, const CompiledCode &code, size_t argumentCount) {
  out << "static _Alignas(16) const unsigned char " << name << "_image[] = {";
  writeBytes(out, code.object);
  out << " 0};\n\nstatic nacre_cuda_kernel " << name << " = {" << name << "_image, \"" << code.symbol << "\", "
      << code.metadata.warps * uint64_t(warpSize) << ", " << code.metadata.sharedBytes << ", " << argumentCount << ", "
      << TensorMaps::of(code).recipes.size() << ", " << code.metadata.cooperative << ", "
      << code.metadata.dependentLaunch << ", 0};\n\n";
}

// Of the first axis: those of a cluster run a program together.
std::string blocksOf(const CompiledCode &code) {
  return code.metadata.ctas > 1 ? "nacre_grid[0] * " + std::to_string(code.metadata.ctas) + "u" : "nacre_grid[0]";
}

void writeLaunch(llvm::raw_ostream &out, const std::string &name, const CompiledCode &code) {
  std::vector<std::string> arrays;
  for (const simt::TensorMapRecipe &recipe : TensorMaps::of(code).recipes)
    arrays.push_back(arrayInC(recipe));
  if (!arrays.empty())
    out << "  const nacre_cuda_array " << name << "_arrays[] = {\n    " << llvm::join(arrays, ",\n    ") << "};\n";
  out << "  return nacre_cuda_launch(&" << name << ", stream, " << blocksOf(code)
      << ", nacre_grid[1], nacre_grid[2], arguments, " << (arrays.empty() ? "0" : name + "_arrays") << ");\n";
}

std::vector<ExportedFile> filesOf(const ExportedFunction &function, const CompiledCode &code,
                                  const CompiledCode *general, const ExportRequest &request) {
  if (!code.metadata.accessSites.empty())
    failExport(request, "a kernel that checks its accesses cannot be compiled ahead of time for a GPU",
               "compile it without debug");
  if (code.metadata.tells)
    failExport(request, "a kernel that is profiled from inside cannot be compiled ahead of time for a GPU",
               "compile it while no session looks inside of kernels (NACRE_WATCH)");
  std::string text;
  llvm::raw_string_ostream out(text);
  const char *extension = isPtx(code.object) ? ".ptx" : ".cubin";
  std::vector<ExportedFile> files = {
      {function.stem + extension, code.object}, aheadOfTimeFile("nacre_cuda.h"), aheadOfTimeFile("nacre_cuda.c")};
  out << function.include();
  if (general)
    out << "#include \"nacre_ranges.h\"\n\n";
  writeKernel(out, "kernel", code, function.slots.size());
  if (general) {
    writeKernel(out, "general", *general, function.slots.size());
    out << launchCheckInC(code.metadata.launchCheck);
    files.push_back({function.stem + ".general" + extension, general->object});
    files.push_back(aheadOfTimeFile("nacre_ranges.h"));
  }
  out << "nacre_result " << function.name << "_load(void) {\n";
  if (general)
    out << "  nacre_result result = nacre_cuda_load(&general);\n  if (result)\n    return result;\n";
  out << "  return nacre_cuda_load(&kernel);\n}\n\nvoid " << function.name << "_unload(void) {\n"
      << (general ? "  nacre_cuda_unload(&general);\n" : "") << "  nacre_cuda_unload(&kernel);\n}\n\n"
      << function.prototype << " {\n"
      << function.argumentArray() << function.declarations << "  const uint32_t nacre_grid[3] = {"
      << llvm::join(function.grid, ", ") << "};\n";
  if (general) {
    out << "  if (!passes(nacre_grid, arguments)) {\n";
    writeLaunch(out, "general", *general);
    out << "  }\n";
  }
  writeLaunch(out, "kernel", code);
  out << "}\n";
  files.insert(files.begin(), {function.stem + ".c", text});
  return files;
}

} // namespace

const ExportedCode &exportedCode() {
  static constexpr ExportedCode known{/*hasStream=*/true, /*checksLaunches=*/true, "nacre_cuda.h", filesOf};
  return known;
}

} // namespace nacre::cuda
