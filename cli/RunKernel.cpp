// Reading the argument list, laying out the arrays, running, printing.
#include "cli/RunKernel.h"
#include "cli/RunOnDevice.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/IRWalker.h"
#include "compiler/reference/Printing.h"
#include "compiler/targets/Target.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ManagedStatic.h"
#include <bit>
#include <optional>

using namespace nacre;

namespace {
struct Options {
  llvm::cl::OptionCategory category{"Running a kernel"};
  llvm::cl::opt<std::string> kernel{"run", llvm::cl::desc("Evaluate this kernel after the passes and print its arrays"),
                                    llvm::cl::cat(category)};
  llvm::cl::list<uint32_t> grid{"grid", llvm::cl::desc("Programs along each axis"), llvm::cl::CommaSeparated,
                                llvm::cl::cat(category)};
  llvm::cl::opt<std::string> arguments{
      "args", llvm::cl::desc("The kernel's arguments, e.g. f32[64]=iota,f32[64]=0,i32=64"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> engine{
      "engine", llvm::cl::desc("What runs the kernel: reference, or a device of the host's memory (cpu, simulate)"),
      llvm::cl::init("reference"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> architecture{"architecture",
                                          llvm::cl::desc("What --engine=DEVICE compiles for, as its target names it"),
                                          llvm::cl::cat(category)};
  llvm::cl::opt<std::string> shownStage{"show-stage", llvm::cl::desc("Print this stage of --engine=DEVICE first"),
                                        llvm::cl::cat(category)};
};
llvm::ManagedStatic<Options> options;

struct BadArgument {
  std::string message;
};

// One argument: a scalar's slot, or an array.
struct Argument {
  std::string text;
  Type element;
  llvm::SmallVector<int64_t> shape; // empty: a scalar
  uint64_t slot = 0;
  BufferRef array;
};

Type elementNamed(llvm::StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f64", float64())
      .Case("f32", float32())
      .Case("f16", float16())
      .Case("bf16", bfloat16())
      .Case("f8E4M3FN", Type::scalar(ScalarKind::Float8E4NV))
      .Case("f8E5M2", Type::scalar(ScalarKind::Float8E5))
      .Case("f8E4M3FNUZ", Type::scalar(ScalarKind::Float8E4B8))
      .Case("f8E5M2FNUZ", Type::scalar(ScalarKind::Float8E5B16))
      .Case("f8E4B15", Type::scalar(ScalarKind::Float8E4B15))
      .Case("i64", int64())
      .Case("i32", int32())
      .Case("i16", int16())
      .Case("i8", int8())
      .Case("i1", int1())
      .Default(Type());
}

struct Number {
  double real = 0;
  int64_t integer = 0;
};

Number parseNumber(llvm::StringRef text) {
  Number number;
  text = text.trim();
  if (!text.getAsInteger(0, number.integer)) {
    number.real = static_cast<double>(number.integer);
    return number;
  }
  if (text == "nan" || text == "inf" || text == "-inf")
    number.real = std::strtod(text.str().c_str(), nullptr);
  else if (text.getAsDouble(number.real))
    throw BadArgument{"'" + text.str() + "' is not a number"};
  return number;
}

void writeElement(Type element, std::byte *place, const Number &number) {
  ScalarKind kind = storedKind(element);
  if (kind == ScalarKind::Float64)
    std::memcpy(place, &number.real, 8);
  else if (kind == ScalarKind::Float32 || isNarrowFloat(kind)) {
    float rounded = static_cast<float>(number.real);
    if (kind == ScalarKind::Float32)
      std::memcpy(place, &rounded, 4);
    else
      encodeFloats(kind, &number.real, place, 1);
  } else {
    int64_t value = element.isBool() ? number.integer & 1 : number.integer;
    std::memcpy(place, &value, element.byteSize());
  }
}

// A small generator of our own, so that the numbers are the same everywhere.
struct Random {
  uint64_t state;
  uint64_t next() { // splitmix64
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  Number number(bool isFloat) {
    Number result;
    result.integer = static_cast<int64_t>(next() % 200) - 100;
    result.real = isFloat ? static_cast<double>(next() >> 40) / (1 << 23) - 1.0 : static_cast<double>(result.integer);
    return result;
  }
};

// The comma-separated parts, commas inside brackets not counting.
llvm::SmallVector<llvm::StringRef> splitList(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (c == '{' || c == '(' || c == '[')
      ++depth;
    else if (c == '}' || c == ')' || c == ']')
      --depth;
    else if (c == ',' && depth == 0) {
      if (i > begin || i < text.size())
        parts.push_back(text.slice(begin, i).trim());
      begin = i + 1;
    }
  }
  return parts;
}

// "name(a, b)" -> a, b; none when `text` is not a call of `name`.
std::optional<llvm::SmallVector<llvm::StringRef>> argumentsOf(llvm::StringRef text, llvm::StringRef name) {
  if (!text.consume_front(name))
    return std::nullopt;
  if (text.empty())
    return llvm::SmallVector<llvm::StringRef>();
  if (!text.consume_front("(") || !text.consume_back(")"))
    return std::nullopt;
  return splitList(text);
}

void fillArray(Argument &argument, llvm::StringRef contents) {
  argument.array = makeBuffer(Type::block(argument.element, argument.shape));
  int size = argument.array->elementSize();
  int64_t count = argument.array->count();
  auto place = [&](int64_t i) { return argument.array->data + i * size; };
  if (contents.starts_with("{")) {
    auto numbers = splitList(contents.drop_front().drop_back());
    if (static_cast<int64_t>(numbers.size()) != count)
      throw BadArgument{"'" + argument.text + "' needs " + std::to_string(count) + " numbers"};
    for (int64_t i = 0; i < count; ++i)
      writeElement(argument.element, place(i), parseNumber(numbers[i]));
  } else if (auto parameters = argumentsOf(contents, "iota")) {
    Number start = parameters->size() > 0 ? parseNumber((*parameters)[0]) : Number();
    Number step = parameters->size() > 1 ? parseNumber((*parameters)[1]) : Number{1.0, 1};
    for (int64_t i = 0; i < count; ++i)
      writeElement(argument.element, place(i),
                   {start.real + static_cast<double>(i) * step.real, start.integer + i * step.integer});
  } else if (auto parameters = argumentsOf(contents, "random")) {
    Random random{parameters->empty() ? 0 : static_cast<uint64_t>(parseNumber((*parameters)[0]).integer)};
    for (int64_t i = 0; i < count; ++i)
      writeElement(argument.element, place(i), random.number(argument.element.isFloating()));
  } else {
    Number number = parseNumber(contents);
    for (int64_t i = 0; i < count; ++i)
      writeElement(argument.element, place(i), number);
  }
}

Argument parseArgument(llvm::StringRef text) {
  Argument argument;
  auto [left, contents] = text.split('=');
  argument.text = left.trim().str();
  left = left.trim();
  contents = contents.trim();
  llvm::StringRef name = left.take_until([](char c) { return c == '['; });
  argument.element = elementNamed(name);
  if (!argument.element || contents.empty())
    throw BadArgument{"'" + text.str() + "' is not TYPE=NUMBER or TYPE[EXTENTS]=CONTENTS"};
  llvm::StringRef extents = left.drop_front(name.size());
  if (extents.empty()) {
    Number number = parseNumber(contents);
    if (isNarrowFloat(storedKind(argument.element)) || argument.element == float32())
      argument.slot = std::bit_cast<uint32_t>(static_cast<float>(number.real));
    else if (argument.element == float64())
      argument.slot = std::bit_cast<uint64_t>(number.real);
    else
      argument.slot = static_cast<uint64_t>(number.integer);
    return argument;
  }
  if (!extents.consume_front("[") || !extents.consume_back("]"))
    throw BadArgument{"'" + argument.text + "': extents are written [4x8]"};
  llvm::SmallVector<llvm::StringRef> parts;
  extents.split(parts, 'x');
  for (llvm::StringRef part : parts) {
    int64_t extent;
    if (part.trim().getAsInteger(10, extent) || extent < 1)
      throw BadArgument{"'" + argument.text + "': '" + part.str() + "' is not an extent"};
    argument.shape.push_back(extent);
  }
  fillArray(argument, contents);
  argument.slot = reinterpret_cast<uint64_t>(argument.array->data);
  return argument;
}

// The argument must be what the kernel takes; integers may differ in sign only, which IR does not say.
void checkAgainst(mlir::Type expected, const Argument &argument, size_t index) {
  bool matches = argument.shape.empty() ? typeOfIR(expected) == argument.element : false;
  if (auto pointer = mlir::dyn_cast<tile::PointerType>(expected))
    matches = !argument.shape.empty() && typeOfIR(pointer.getPointee()) == argument.element;
  if (matches)
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "argument " << index << " of the kernel is " << expected << ", but '" << argument.text << "' was given";
  throw BadArgument{text};
}

void runKernel(mlir::func::FuncOp kernel) {
  llvm::SmallVector<Argument> arguments;
  for (llvm::StringRef part : splitList(options->arguments))
    arguments.push_back(parseArgument(part));
  if (arguments.size() != kernel.getNumArguments())
    throw BadArgument{"the kernel takes " + std::to_string(kernel.getNumArguments()) + " arguments, --args has " +
                      std::to_string(arguments.size())};
  RunOptions run;
  if (options->grid.size() > 3)
    throw BadArgument{"a grid has at most three axes"};
  for (auto [axis, extent] : llvm::enumerate(options->grid))
    run.grid[axis] = extent;
  MemoryMap memory;
  run.memory = &memory;
  run.print = [](llvm::StringRef text) { llvm::outs() << text; };
  llvm::SmallVector<uint64_t> slots;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    checkAgainst(kernel.getArgumentTypes()[i], argument, i);
    slots.push_back(argument.slot);
    if (argument.array)
      memory.add(argument.slot, argument.slot + argument.array->count() * argument.array->elementSize(),
                 "argument " + std::to_string(i));
  }
  if (options->engine == "reference")
    runTileIR(kernel, slots, run);
  else
    runOnDevice(kernel, slots, run, {options->engine, options->architecture, options->shownStage});
  PrintStyle style;
  style.threshold = std::numeric_limits<int64_t>::max();
  style.lineWidth = 100;
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.array)
      llvm::outs() << "argument " << i << ": " << argument.text << "\n" << formatTile(*argument.array, style) << "\n";
}

struct RunKernel : mlir::PassWrapper<RunKernel, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunKernel)
  llvm::StringRef getName() const override { return "RunKernel"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    for (const Target *target : targets())
      target->registerDialects(registry);
  }

  void runOnOperation() override {
    auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(options->kernel);
    if (!kernel || !kernel->hasAttr(tile::kernelAttribute)) {
      getOperation().emitError("there is no kernel '") << options->kernel << "'";
      return signalPassFailure();
    }
    try {
      runKernel(kernel);
    } catch (const BadArgument &bad) {
      mlir::emitError(kernel.getLoc(), bad.message);
      signalPassFailure();
    } catch (const CompileError &error) {
      const SourceLocation &place = error.diagnostic.location;
      mlir::Location location = kernel.getLoc();
      if (place.source)
        location = mlir::FileLineColLoc::get(&getContext(), place.source->fileName, place.line, place.column + 1);
      mlir::emitError(location, error.diagnostic.message);
      signalPassFailure();
    }
  }
};
} // namespace

void nacre::registerRunOptions() { *options; }
bool nacre::isRunRequested() { return !options->kernel.empty(); }
std::unique_ptr<mlir::Pass> nacre::createRunKernel() { return std::make_unique<RunKernel>(); }
