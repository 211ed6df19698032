// Nacre from C++: kernels written in the language, loaded from a .py file or a string, compiled for this machine when
// they are first launched, and run over raw pointers. No Python is needed.
//
//   nacre::KernelSource source = nacre::KernelSource::fromFile("vector_add.py");
//   nacre::KernelHandle add = source.kernel("add_kernel");
//   add.launch(nacre::Grid((n + 1023) / 1024), x, y, out, n, nacre::constexprInt(1024));   // float *x, *y, *out; int n
//
// On a GPU, whose pointers are of the GPU's memory, a launch returns when the grid has been started:
//
//   add.onStream(stream).launch(nacre::Grid((n + 1023) / 1024), x, y, out, n, nacre::constexprInt(1024));
//   cudaStreamSynchronize(stream);
//
// Compiled kernels are kept in the same cache on disk that Python uses. Everything may be called from several threads
// at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define NACRE_EXPORT __attribute__((visibility("default")))
#else
#define NACRE_EXPORT
#endif

namespace nacre {

// What goes wrong: a kernel that does not compile, arguments that do not fit, a device_assert that fails, an access of
// memory that is not there. what() is the whole text: the place, the message, the kernel's own line with a caret, a
// hint.
class NACRE_EXPORT Error : public std::runtime_error {
public:
  Error(const std::string &text, std::string message, std::string hint, std::string file, int line, int column);
  ~Error() override;
  std::string message; // what is wrong, in one sentence
  std::string hint;    // what to do about it; may be empty
  std::string file;    // where; empty when it is no place in a text
  int line = 0;        // counts from 1
  int column = 0;      // counts from 0
};

// How many programs run along each axis.
struct Grid {
  uint32_t x = 1, y = 1, z = 1;
  Grid(uint32_t x, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};

// One argument of a launch. Pointers and numbers convert by themselves; element types that C++ does not have are named.
class NACRE_EXPORT Argument {
public:
  enum class Kind : uint8_t { Pointer, Integer, Float, Bool, Constant };

  template <typename T, std::enable_if_t<std::is_pointer_v<T>, int> = 0>
  Argument(T pointer) : Argument(elementName<std::remove_const_t<std::remove_pointer_t<T>>>(), pointer) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Argument(T value) : kind(Kind::Integer), isUnsigned(std::is_unsigned_v<T>), integer(static_cast<int64_t>(value)) {}
  template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Argument(T value) : kind(Kind::Float), number(static_cast<double>(value)) {}
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  Argument(T value, int = 0) : kind(Kind::Bool), integer(value) {}
  // A pointer to elements of a type by its short name: "bf16", "fp16", "fp8e5", ...
  Argument(const char *elementType, const void *pointer) : kind(Kind::Pointer), text(elementType), address(pointer) {}

  // A value for a constexpr parameter, as the language writes it: "1024", "True", "None", "'relu'", "fp32".
  static Argument constant(std::string text);

  Kind kind;
  bool isUnsigned = false;
  int64_t integer = 0;
  double number = 0;
  std::string text; // of a pointer, its element type; of a constant, its value
  const void *address = nullptr;

private:
  Argument(Kind kind, std::string text) : kind(kind), text(std::move(text)) {}
  template <typename T> static constexpr const char *elementName() {
    if constexpr (std::is_same_v<T, float>)
      return "fp32";
    else if constexpr (std::is_same_v<T, double>)
      return "fp64";
    else if constexpr (std::is_same_v<T, bool>)
      return "i1";
    else {
      static_assert(std::is_integral_v<T>, "name the element type: nacre::Argument(\"bf16\", pointer)");
      constexpr bool isSigned = std::is_signed_v<T>;
      switch (sizeof(T)) {
      case 1:
        return isSigned ? "i8" : "u8";
      case 2:
        return isSigned ? "i16" : "u16";
      case 4:
        return isSigned ? "i32" : "u32";
      default:
        return isSigned ? "i64" : "u64";
      }
    }
  }
};

inline Argument constexprInt(int64_t value) { return Argument::constant(std::to_string(value)); }
inline Argument constexprBool(bool value) { return Argument::constant(value ? "True" : "False"); }
inline Argument constexprText(const std::string &value) { return Argument::constant("'" + value + "'"); }

struct CompileSettings {
  bool debug = false;           // device_assert is live
  bool sanitizeOverflow = true; // integer overflow is checked, under debug
  bool fpFusion = true;         // a*b+c may be fused
  std::string device;           // "cpu", "cuda": what it runs on; empty: where kernels run that nothing is said of
  std::string cpu;              // as LLVM names it ("znver4"); empty: this machine's. Launch only what runs here.
  std::string features;         // "+avx512f,-avx2"
  std::vector<std::pair<std::string, int64_t>> options; // of the launch, by name: {"num_warps", 8}
};

// A kernel compiled for arguments of certain types.
class NACRE_EXPORT SpecializedKernel {
public:
  // Runs it over the grid; returns when the last program has ended, on a GPU when the grid has been started. Constants
  // may be left out or given; they are not looked at.
  template <typename... Arguments> void launch(Grid grid, const Arguments &...arguments) const {
    launchArguments(grid, {Argument(arguments)...});
  }
  void launchArguments(Grid grid, const std::vector<Argument> &arguments) const;
  // The same, whose launches go to a stream of their device (a CUstream or cudaStream_t) and not to its current one.
  SpecializedKernel onStream(void *stream) const;

  std::string signature() const;                    // "x=*fp32:16, n=i32, BLOCK=1024"
  std::string hash() const;                         // names the code
  std::string stage(const std::string &name) const; // "tile", "cpu", "llvm" or "asm", as text
  std::string object() const;                       // the object file (ELF)

private:
  friend class KernelHandle;
  struct Implementation;
  std::shared_ptr<const Implementation> implementation;
  std::optional<uint64_t> stream;
};

// A kernel of a source.
class NACRE_EXPORT KernelHandle {
public:
  // Compiles for the arguments' types when it meets them first, and runs it over the grid, on the device whose memory
  // the pointers point at. Specializes as Python does:
  // an integer that is 1 is a constant, addresses and integers divisible by 16 are known to be so.
  template <typename... Arguments> void launch(Grid grid, const Arguments &...arguments) const {
    launchArguments(grid, {Argument(arguments)...});
  }
  void launchArguments(Grid grid, const std::vector<Argument> &arguments) const;

  // The same, whose launches go to a stream of their device (a CUstream or cudaStream_t) and not to its current one.
  KernelHandle onStream(void *stream) const;

  // Compiles for a signature: "*fp32:16, *fp32:16, n=i32, BLOCK=1024". A type may say what divides the value or the
  // address; constants stand for themselves; parameters with a literal default may be left out.
  SpecializedKernel specialize(std::string_view signature, const CompileSettings &settings = {}) const;

  std::string name() const;
  std::vector<std::string> parameters() const;

private:
  friend class KernelSource;
  struct Implementation;
  std::shared_ptr<Implementation> implementation;
  std::optional<uint64_t> stream;
};

// A text with kernels: names in it are looked up among its own functions, constants and imports of the language.
class NACRE_EXPORT KernelSource {
public:
  static KernelSource fromFile(const std::string &path);
  static KernelSource fromString(std::string text, std::string name = "<string>");
  KernelHandle kernel(const std::string &name) const;

private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation;
};

// The version of this library, "0.1.0".
NACRE_EXPORT const char *version();
// How many threads run a grid; 0: one for each core.
NACRE_EXPORT void setThreads(int threads);

} // namespace nacre
