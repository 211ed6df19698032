// The command line of the PTX simulator.
#include "runtime/commands/Simulate.h"
#include "simulator/Formats.h"
#include "simulator/Simulator.h"
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <sstream>

using namespace nacre::simulator;

namespace {

const char *const usage = R"(usage: nacre simulate FILE.ptx --args ARGUMENTS [options]

  --kernel NAME      the kernel (needless where the file has one)
  --grid X[,Y[,Z]]   blocks (default 1)
  --block X[,Y[,Z]]  threads of a block (default: as the kernel requires, or 32)
  --cluster X[,Y,Z]  blocks of a cluster (default: as the kernel requires, or 1)
  --shared BYTES     dynamic shared memory
  --cooperative      all blocks at once, for kernels that synchronize the grid
  --args LIST        the kernel's arguments, separated by commas:
                       i32=64  f32=1.5                a number: i8 i16 i32 i64 u8 ... f16 bf16 f32 f64
                       f32[1000]=iota                 an array: iota, random, a number, or @FILE of raw bytes (default 0)
                       map(f16[128x64]=iota;box=64x64;swizzle=128)
                                                      a tensor map over an array, the contiguous dimension last
                       ptr=N                          the array of argument N again
  --show COUNT       print the first COUNT elements of every array after the run
  --write N=FILE     write the array of argument N to a file, as raw bytes
  --schedule KIND    fixed (default) or random, which --seed N makes repeatable
  --no-checks        bounds and alignment only
  --findings N       different findings to show (default 100); all are counted
  --threads N        host threads (default: all cores, or one where the order of blocks may show)
  --limit N          warp instructions a block (or a cluster) may execute
  --lines            counters of every source line
  --json             the report as JSON
  --list             the kernels of the file and their parameters; runs nothing
)";

struct WrongUse {
  std::string problem;
};

enum class ElementKind { Signed, Unsigned, Float };
struct ElementType {
  ElementKind kind;
  unsigned bytes;
  bool brain = false;
};

ElementType elementType(const std::string &name) {
  if (name == "bf16")
    return {ElementKind::Float, 2, true};
  static const struct {
    const char *name;
    ElementType type;
  } types[] = {
      {"i8", {ElementKind::Signed, 1}},    {"i16", {ElementKind::Signed, 2}},   {"i32", {ElementKind::Signed, 4}},
      {"i64", {ElementKind::Signed, 8}},   {"u8", {ElementKind::Unsigned, 1}},  {"u16", {ElementKind::Unsigned, 2}},
      {"u32", {ElementKind::Unsigned, 4}}, {"u64", {ElementKind::Unsigned, 8}}, {"f16", {ElementKind::Float, 2}},
      {"f32", {ElementKind::Float, 4}},    {"f64", {ElementKind::Float, 8}}};
  for (auto &candidate : types)
    if (name == candidate.name)
      return candidate.type;
  throw WrongUse{"there is no type `" + name + "`; types: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64"};
}

uint64_t encodeNumber(const ElementType &type, double value) {
  if (type.kind != ElementKind::Float)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  const FloatFormat &format = type.bytes == 8   ? doubleFormat
                              : type.bytes == 4 ? singleFormat
                              : type.brain      ? bfloatFormat
                                                : halfFormat;
  return encode(format, value, Rounding::Nearest);
}
double decodeNumber(const ElementType &type, uint64_t bits);
// All digits that tell it from others of its type.
std::string showNumber(const ElementType &type, uint64_t bits) {
  char text[40];
  unsigned shift = 64 - type.bytes * 8;
  if (type.kind == ElementKind::Unsigned)
    std::snprintf(text, sizeof text, "%" PRIu64, bits);
  else if (type.kind == ElementKind::Signed)
    std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(bits << shift) >> shift);
  else
    std::snprintf(text, sizeof text, "%.*g", type.bytes == 8 ? 17 : 9, decodeNumber(type, bits));
  return text;
}
double decodeNumber(const ElementType &type, uint64_t bits) {
  if (type.kind == ElementKind::Float)
    return decodeBits(type.bytes == 8   ? doubleFormat
                      : type.bytes == 4 ? singleFormat
                      : type.brain      ? bfloatFormat
                                        : halfFormat,
                      bits);
  if (type.kind == ElementKind::Unsigned)
    return static_cast<double>(bits);
  unsigned shift = 64 - type.bytes * 8;
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

double parseFraction(const std::string &text) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception &) {
    used = 0;
  }
  if (used == 0 || used != text.size())
    throw WrongUse{"`" + text + "` is not a number"};
  return value;
}
// A whole number, decimal or 0x; false if it is none or has more than 64 bits.
bool parseWhole(std::string_view text, bool &negative, uint64_t &magnitude) {
  negative = text.starts_with("-");
  text.remove_prefix(negative || text.starts_with("+") ? 1 : 0);
  int base = text.starts_with("0x") || text.starts_with("0X") ? 16 : 10;
  text.remove_prefix(base == 16 ? 2 : 0);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  return error == std::errc() && end == text.data() + text.size();
}
uint64_t parseCount(const std::string &text, const char *what, uint64_t most) {
  bool negative;
  uint64_t value;
  if (!parseWhole(text, negative, value) || (negative && value) || value > most)
    throw WrongUse{std::string(what) + " is a whole number of at most " + std::to_string(most) + ", not `" + text +
                   "`"};
  return value;
}
// The bits of a number as the type holds it.
uint64_t parseNumber(const ElementType &type, const std::string &text) {
  if (type.kind == ElementKind::Float) {
    double value = parseFraction(text);
    uint64_t bits = encodeNumber(type, value);
    if (std::isfinite(value) && !std::isfinite(decodeNumber(type, bits)))
      throw WrongUse{"`" + text + "` is too large for its type of " + std::to_string(type.bytes * 8) + " bits"};
    return bits;
  }
  bool negative, isBits = text.starts_with("0x") || text.starts_with("0X");
  uint64_t magnitude;
  if (!parseWhole(text, negative, magnitude)) {
    parseFraction(text); // says if it is no number at all
    throw WrongUse{"`" + text + "` is not a whole number of 64 bits"};
  }
  unsigned bits = type.bytes * 8;
  uint64_t most = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  bool fits = type.kind == ElementKind::Unsigned || isBits ? magnitude <= most && !(negative && magnitude)
                                                           : magnitude <= most / 2 + negative;
  if (!fits)
    throw WrongUse{"`" + text + "` does not fit into " + std::to_string(bits) + " bits" +
                   (type.kind == ElementKind::Unsigned ? " without a sign" : "")};
  return negative ? 0 - magnitude : magnitude;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == separator && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else if (c != ' ' || depth) {
      part += c;
    }
  }
  if (!part.empty() || !parts.empty())
    parts.push_back(part);
  return parts;
}

constexpr uint64_t mostBytes = uint64_t(1) << 33;

// An array of a kernel, with guards around it that belong to nobody.
struct Array {
  ElementType type;
  std::vector<uint64_t> shape;
  uint64_t count = 1;
  std::vector<std::byte> storage;
  std::byte *data = nullptr;
  size_t bytes() const { return count * type.bytes; }

  Array(const std::string &declaration, const std::string &content) {
    size_t bracket = declaration.find('[');
    type = elementType(declaration.substr(0, bracket));
    for (const std::string &extent : split(declaration.substr(bracket + 1, declaration.size() - bracket - 2), 'x')) {
      shape.push_back(parseCount(extent, "an array's size", mostBytes));
      if (shape.back() && count > mostBytes / type.bytes / shape.back())
        throw WrongUse{"`" + declaration + "` is larger than 8 GiB"};
      count *= shape.back();
    }
    storage.resize(bytes() + 3 * 4096, std::byte(0xA5));
    data = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(storage.data()) + 4096 + 1023) / 1024 * 1024);
    fill(content);
  }
  void put(uint64_t index, uint64_t bits) { std::memcpy(data + index * type.bytes, &bits, type.bytes); }
  std::string show(uint64_t index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, data + index * type.bytes, type.bytes);
    return showNumber(type, bits);
  }
  void fill(const std::string &content) {
    if (content.starts_with("@")) {
      std::ifstream file(content.substr(1), std::ios::binary);
      if (!file)
        throw WrongUse{"`" + content.substr(1) + "` cannot be read"};
      file.read(reinterpret_cast<char *>(data), static_cast<std::streamsize>(bytes()));
      if (static_cast<size_t>(file.gcount()) != bytes())
        throw WrongUse{"`" + content.substr(1) + "` has fewer than " + std::to_string(bytes()) + " bytes"};
      return;
    }
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    uint64_t value = content.empty() || content == "iota" || content == "random" ? 0 : parseNumber(type, content);
    for (uint64_t i = 0; i < count; ++i)
      put(i, content == "iota" ? encodeNumber(type, static_cast<double>(i))
             : content == "random"
                 ? encodeNumber(type,
                                type.kind == ElementKind::Float ? normal(random) : static_cast<double>(random() % 100))
                 : value);
  }
};

Dimensions parseDimensions(const std::string &text, const char *what) {
  std::vector<std::string> parts = split(text, ',');
  if (parts.empty() || parts.size() > 3)
    throw WrongUse{std::string(what) + " takes one to three numbers"};
  uint32_t values[3] = {1, 1, 1};
  for (size_t i = 0; i < parts.size(); ++i)
    values[i] = static_cast<uint32_t>(parseCount(parts[i], what, INT32_MAX));
  return {values[0], values[1], values[2]};
}

struct Command {
  std::string file, arguments;
  Launch launch;
  bool hasBlock = false, json = false, list = false, lines = false;
  uint64_t show = 0;
  std::vector<std::pair<size_t, std::string>> writes;
  std::vector<std::unique_ptr<Array>> arrays; // by argument; null for numbers
  std::vector<Array *> byArgument;

  explicit Command(const std::vector<std::string> &given) {
    for (size_t i = 0; i < given.size(); ++i) {
      std::string option = given[i];
      auto value = [&]() -> std::string {
        if (i + 1 == given.size())
          throw WrongUse{option + " needs a value"};
        return given[++i];
      };
      if (option == "--kernel")
        launch.kernel = value();
      else if (option == "--grid")
        launch.grid = parseDimensions(value(), "--grid");
      else if (option == "--block")
        launch.block = parseDimensions(value(), "--block"), hasBlock = true;
      else if (option == "--cluster")
        launch.cluster = parseDimensions(value(), "--cluster");
      else if (option == "--shared")
        launch.sharedBytes = static_cast<uint32_t>(parseCount(value(), "--shared", INT32_MAX));
      else if (option == "--cooperative")
        launch.cooperative = true;
      else if (option == "--args")
        arguments = value();
      else if (option == "--show")
        show = parseCount(value(), "--show", INT64_MAX);
      else if (option == "--write") {
        std::string text = value();
        size_t equals = text.find('=');
        if (equals == std::string::npos)
          throw WrongUse{"--write takes ARGUMENT=FILE"};
        writes.emplace_back(parseCount(text.substr(0, equals), "--write", INT32_MAX), text.substr(equals + 1));
      } else if (option == "--schedule") {
        std::string kind = value();
        if (kind != "fixed" && kind != "random")
          throw WrongUse{"--schedule is fixed or random"};
        launch.schedule = kind == "random" ? Schedule::Random : Schedule::Fixed;
      } else if (option == "--seed")
        launch.seed = parseCount(value(), "--seed", UINT64_MAX);
      else if (option == "--threads")
        launch.threads = static_cast<unsigned>(parseCount(value(), "--threads", 1024));
      else if (option == "--limit")
        launch.instructionLimit = parseCount(value(), "--limit", UINT64_MAX);
      else if (option == "--findings")
        launch.findingLimit = static_cast<unsigned>(parseCount(value(), "--findings", INT32_MAX));
      else if (option == "--no-checks")
        launch.checks = false;
      else if (option == "--json")
        json = true;
      else if (option == "--lines")
        lines = true;
      else if (option == "--list")
        list = true;
      else if (option.starts_with("-"))
        throw WrongUse{"there is no option `" + option + "`"};
      else if (file.empty())
        file = option;
      else
        throw WrongUse{"more than one file: " + file + " and " + option};
    }
    if (file.empty())
      throw WrongUse{"no file is named"};
  }

  Array *makeArray(const std::string &text, const std::string &name) {
    size_t equals = text.find('=');
    std::string declaration = text.substr(0, equals),
                content = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (declaration.empty() || declaration.back() != ']')
      throw WrongUse{"`" + text + "` is not an array"};
    arrays.push_back(std::make_unique<Array>(declaration, content));
    Array *array = arrays.back().get();
    launch.memory.push_back({array->data, array->bytes(), name, true});
    return array;
  }

  void addMap(const std::string &text, const std::string &name) {
    std::vector<std::string> parts = split(text, ';');
    Array *array = makeArray(parts.at(0), name);
    TensorMapParameters map;
    map.rank = static_cast<uint32_t>(array->shape.size());
    if (map.rank > 5)
      throw WrongUse{"a tensor map has at most 5 dimensions"};
    map.address = array->data;
    uint64_t stride = array->type.bytes;
    for (uint32_t i = 0; i < map.rank; ++i) {
      map.sizes[i] = array->shape[map.rank - 1 - i];
      stride *= map.sizes[i];
      if (i + 1 < map.rank)
        map.strides[i] = stride;
      map.box[i] = static_cast<uint32_t>(std::min<uint64_t>(map.sizes[i], 256));
    }
    using Type = TensorMapParameters::Type;
    const ElementType &type = array->type;
    map.type = type.kind == ElementKind::Float ? (type.bytes == 8   ? Type::F64
                                                  : type.bytes == 4 ? Type::F32
                                                  : type.brain      ? Type::BF16
                                                                    : Type::F16)
               : type.bytes == 1               ? Type::U8
               : type.bytes == 2               ? Type::U16
               : type.bytes == 4               ? Type::S32
                                               : Type::S64;
    for (size_t i = 1; i < parts.size(); ++i) {
      size_t equals = parts[i].find('=');
      std::string key = parts[i].substr(0, equals),
                  value = equals == std::string::npos ? "" : parts[i].substr(equals + 1);
      if (key == "box") {
        std::vector<std::string> extents = split(value, 'x');
        if (extents.size() != map.rank)
          throw WrongUse{"the box has " + std::to_string(extents.size()) + " dimensions, the array " +
                         std::to_string(map.rank)};
        for (uint32_t k = 0; k < map.rank; ++k)
          map.box[k] = static_cast<uint32_t>(parseCount(extents[map.rank - 1 - k], "a box dimension", 256));
      } else if (key == "swizzle") {
        uint64_t bytes = parseCount(value, "a swizzle", 128);
        if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)
          throw WrongUse{"a swizzle is 0, 32, 64 or 128 bytes"};
        map.swizzle = static_cast<TensorMapParameters::Swizzle>(bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3);
      } else {
        throw WrongUse{"a tensor map has no `" + key + "`"};
      }
    }
    TensorMap encoded = encodeTensorMap(map);
    launch.addBytes(encoded.data(), encoded.size());
    byArgument.push_back(array);
  }

  void addArguments() {
    size_t index = 0;
    for (const std::string &text : split(arguments, ',')) {
      std::string name = "argument " + std::to_string(index++);
      if (text.starts_with("map(") && text.back() == ')') {
        addMap(text.substr(4, text.size() - 5), name);
        continue;
      }
      size_t equals = text.find('=');
      std::string left = text.substr(0, equals), right = equals == std::string::npos ? "" : text.substr(equals + 1);
      if (left == "ptr") {
        uint64_t other = parseCount(right, "ptr", INT32_MAX);
        if (other >= byArgument.size() || !byArgument[other])
          throw WrongUse{"argument " + right + " is not an array"};
        launch.addPointer(byArgument[other]->data);
        byArgument.push_back(nullptr);
      } else if (left.find('[') != std::string::npos) {
        Array *array = makeArray(text, name);
        launch.addPointer(array->data);
        byArgument.push_back(array);
      } else {
        ElementType type = elementType(left);
        uint64_t bits = parseNumber(type, right);
        launch.addBytes(&bits, type.bytes);
        byArgument.push_back(nullptr);
      }
    }
  }

  int run() {
    std::ifstream input(file, std::ios::binary);
    if (!input) {
      std::fprintf(stderr, "nacre: %s cannot be read\n", file.c_str());
      return 1;
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
      std::fprintf(stderr, "nacre: %s is a directory\n", file.c_str());
      return 1;
    }
    std::string text((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    std::unique_ptr<Module> module;
    try {
      module = load(text, file);
    } catch (const Error &error) {
      std::fprintf(stderr, "%s:%u: error: %s\n", file.c_str(), error.line, error.what());
      return 1;
    }
    if (list)
      return listKernels(*module);
    for (const KernelInfo &kernel : module->kernels())
      if (!hasBlock && (kernel.name == launch.kernel || launch.kernel.empty()))
        launch.block = kernel.requiredThreads.x ? kernel.requiredThreads : Dimensions{32, 1, 1};
    addArguments();
    for (auto &[index, path] : writes)
      if (index >= byArgument.size() || !byArgument[index])
        throw WrongUse{"--write: argument " + std::to_string(index) + " is not an array"};
    Report report;
    try {
      report = module->run(launch);
    } catch (const Error &error) {
      if (!error.line)
        throw;
      std::fprintf(stderr, "%s:%u: error: %s\n", file.c_str(), error.line, error.what());
      return 1;
    }
    std::fflush(stdout);
    std::fputs(json ? report.json().c_str() : report.text().c_str(), stdout);
    if (lines && !json)
      printLines(report);
    for (size_t i = 0; i < byArgument.size() && show && !json; ++i)
      if (byArgument[i]) {
        std::printf("argument %zu:", i);
        for (uint64_t k = 0; k < std::min(show, byArgument[i]->count); ++k)
          std::printf(" %s", byArgument[i]->show(k).c_str());
        std::printf("\n");
      }
    for (auto &[index, path] : writes) {
      std::ofstream output(path, std::ios::binary);
      output.write(reinterpret_cast<const char *>(byArgument[index]->data),
                   static_cast<std::streamsize>(byArgument[index]->bytes()));
      if (!output) {
        std::fprintf(stderr, "nacre: %s cannot be written\n", path.c_str());
        return 1;
      }
    }
    return report.clean() && report.completed ? 0 : 1;
  }

  static int listKernels(const Module &module) {
    for (const KernelInfo &kernel : module.kernels()) {
      std::printf("%s(", kernel.name.c_str());
      for (size_t i = 0; i < kernel.parameters.size(); ++i)
        std::printf("%s.%s %s", i ? ", " : "", kernel.parameters[i].type.c_str(), kernel.parameters[i].name.c_str());
      std::printf("), %u bytes of static shared memory\n", kernel.staticSharedBytes);
      if (!kernel.refusal.empty())
        std::printf("  cannot be run: %s\n", kernel.refusal.c_str());
    }
    return 0;
  }

  static void printLines(const Report &report) {
    std::printf("  %-48s %12s %12s %10s %10s %10s\n", "line", "warp instr.", "threads", "sectors", "at best",
                "conflicts");
    for (const LineCounters &line : report.counters.lines)
      std::printf("  %-48s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                  line.place.text().c_str(), line.warpInstructions, line.threadInstructions, line.globalSectors,
                  line.idealSectors, line.sharedWavefronts - line.idealWavefronts);
  }
};

} // namespace

int nacre::simulateCommand(const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments)
    if (argument == "--help" || argument == "-h") {
      std::fputs(usage, stdout);
      return 0;
    }
  try {
    int status = Command(arguments).run();
    std::fflush(stdout);
    return status;
  } catch (const WrongUse &wrong) {
    std::fprintf(stderr, "nacre simulate: %s\nnacre simulate --help shows what there is\n", wrong.problem.c_str());
    return 2;
  } catch (const Error &error) {
    std::fprintf(stderr, "nacre: %s\n", error.what());
    return 1;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "nacre: there is no memory for the arrays and what is recorded of them\n");
    return 1;
  }
}
