// include/nacre/nacre.h over the runtime.
#include "compiler/support/ForkSafety.h"
#include "nacre/nacre.h"
#include "runtime/compile/BuildId.h"
#include "runtime/launch/KernelCache.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/Signature.h"
#include "runtime/launch/Specialization.h"
#include "runtime/threads/ThreadPool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <bit>
#include <functional>

namespace nacre {

namespace {

// Runs `body`; what it throws leaves the library as Error.
template <typename Body> auto translated(Body body) {
  try {
    return body();
  } catch (const CompileError &error) {
    const Diagnostic &diagnostic = error.diagnostic;
    const SourceText *source = diagnostic.location.source.get();
    throw Error(error.what(), diagnostic.message, diagnostic.hint, source ? source->fileName : "",
                diagnostic.location.line, diagnostic.location.column);
  } catch (const DeviceAssertError &error) {
    throw Error(error.what(), error.message, "", error.file, static_cast<int>(error.line), 0);
  } catch (const KernelFaultError &error) {
    throw Error(error.what(), error.summary, "", error.file, static_cast<int>(error.line), 0);
  } catch (const Error &) {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(error.what(), error.what(), "", "", 0, 0);
  }
}

[[noreturn]] void fail(const std::string &message) { throw Error(message, message, "", "", 0, 0); }

uint64_t floatSlot(double value, Type type) {
  if (type.scalarKind() == ScalarKind::Float64)
    return std::bit_cast<uint64_t>(value);
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

// The slot of one run-time argument. Throws when it is not of the specialization's type.
uint64_t slotOf(const ArgumentSpec &spec, const Argument &argument) {
  auto mismatch = [&](const char *found) {
    fail("argument `" + spec.name + "`: expected " + spec.type.shortName() + ", found " + found);
  };
  switch (argument.kind) {
  case Argument::Kind::Pointer: {
    if (!spec.type.isPointer() || spec.type.element().shortName() != argument.text)
      mismatch(("*" + argument.text).c_str());
    auto address = reinterpret_cast<uint64_t>(argument.address);
    if (address % static_cast<uint64_t>(spec.divisibility) != 0)
      fail("argument `" + spec.name + "`: its address is not divisible by " + std::to_string(spec.divisibility));
    return address;
  }
  case Argument::Kind::Integer:
    if (!spec.type.isScalar())
      mismatch("an integer");
    if (spec.type.isFloating())
      return floatSlot(static_cast<double>(argument.integer), spec.type);
    if (argument.integer % spec.divisibility != 0)
      fail("argument `" + spec.name + "`: it is not divisible by " + std::to_string(spec.divisibility));
    return static_cast<uint64_t>(argument.integer);
  case Argument::Kind::Float:
    if (!spec.type.isScalar() || !spec.type.isFloating())
      mismatch("a floating-point number");
    return floatSlot(argument.number, spec.type);
  case Argument::Kind::Bool:
    if (!spec.type.isScalar() || spec.type.isFloating())
      mismatch("a bool");
    return static_cast<uint64_t>(argument.integer);
  case Argument::Kind::Constant:
    mismatch("a constant");
  }
  return 0;
}

// The argument as a launch specializes it.
ArgumentSpec specialized(const FunctionSource &kernel, const ParameterInfo &parameter, const Argument &argument) {
  switch (argument.kind) {
  case Argument::Kind::Pointer:
    if (Type element = Type::parseShortName(argument.text))
      return pointerArgument(parameter, element, reinterpret_cast<uint64_t>(argument.address));
    fail("argument `" + parameter.name + "`: `" + argument.text + "` is not the name of a type");
  case Argument::Kind::Integer:
    return integerArgument(parameter, argument.integer, argument.isUnsigned && argument.integer < 0);
  case Argument::Kind::Float:
    return floatArgument(parameter, argument.number);
  case Argument::Kind::Bool:
    return boolArgument(parameter, argument.integer != 0);
  case Argument::Kind::Constant:
    break;
  }
  return parseArgument(kernel, argument.text, parameter.isConstexpr);
}

} // namespace

Error::Error(const std::string &text, std::string message, std::string hint, std::string file, int line, int column)
    : std::runtime_error(text), message(std::move(message)), hint(std::move(hint)), file(std::move(file)), line(line),
      column(column) {}
Error::~Error() = default;

Argument Argument::constant(std::string text) { return Argument(Kind::Constant, std::move(text)); }

namespace {
struct Specialized {
  std::shared_ptr<Kernel> kernel;
  Device *device = nullptr; // null: there is none that it could run on
  bool cooperative = false;
  std::vector<ArgumentSpec> arguments;
  std::string obstacle; // why it cannot run here; empty when it can
};
} // namespace
struct SpecializedKernel::Implementation : Specialized {};

struct KernelSource::Implementation {
  std::shared_ptr<const SourceText> text;
};

struct KernelHandle::Implementation {
  std::shared_ptr<const SourceText> text;
  FunctionSource function;
  std::vector<ParameterInfo> parameters;
  RenewedLock lock;
  std::map<std::pair<Device *, std::string>, SpecializedKernel> specializations; // by device and signature
};

KernelSource KernelSource::fromString(std::string text, std::string name) {
  auto source = std::make_shared<SourceText>();
  source->fileName = std::move(name);
  source->text = std::move(text);
  translated([&] { return makeFileEmbedder(source); }); // finds its mistakes now
  KernelSource made;
  made.implementation = std::make_shared<Implementation>(Implementation{source});
  return made;
}

KernelSource KernelSource::fromFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    fail(path + ": " + buffer.getError().message());
  return fromString((*buffer)->getBuffer().str(), path);
}

KernelHandle KernelSource::kernel(const std::string &name) const {
  return translated([&] {
    KernelHandle handle;
    handle.implementation = std::make_shared<KernelHandle::Implementation>();
    handle.implementation->text = implementation->text;
    std::unique_ptr<Embedder> embedder = makeFileEmbedder(implementation->text);
    handle.implementation->function = findFunction(*embedder, name);
    handle.implementation->parameters = functionParameters(handle.implementation->function);
    return handle;
  });
}

std::string KernelHandle::name() const { return implementation->function.name; }

std::vector<std::string> KernelHandle::parameters() const {
  std::vector<std::string> names;
  for (const ParameterInfo &parameter : implementation->parameters)
    names.push_back(parameter.name);
  return names;
}

// What the settings say of the launch. Throws Error.
static LaunchOptionValues optionsIn(const CompileSettings &settings) {
  LaunchOptionValues values;
  for (const auto &[name, value] : settings.options) {
    const LaunchOption *option = findLaunchOption(name);
    bool isNumber = option && option->kind != LaunchOptionKind::Text && option->kind != LaunchOptionKind::Libraries;
    if (!isNumber)
      fail("there is no option `" + name + "` that takes a number");
    values[option->id] = value;
  }
  return values;
}

// `device` may be null: then there is none of the driver's.
static Specialized specializeFor(const std::shared_ptr<const SourceText> &text, const FunctionSource &kernel,
                                 std::vector<ArgumentSpec> arguments, const CompileSettings &settings, Driver &driver,
                                 Device *device) {
  // An embedder of its own: embedders are not shared between threads.
  std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
  CompileRequest request;
  request.kernel = kernel;
  request.arguments = std::move(arguments);
  request.options = device ? compileOptionsFor(*device) : compileOptionsFor(driver);
  request.options.debug |= settings.debug;
  request.options.checkAccesses |= settings.debug;
  request.options.sanitizeOverflow &= settings.sanitizeOverflow;
  request.options.fpFusion &= settings.fpFusion;
  applyLaunchOptions(request.options, optionsIn(settings));
  if (!settings.cpu.empty())
    request.options.architecture = settings.cpu;
  if (!settings.features.empty())
    request.options.features = settings.features;
  Specialized made;
  made.arguments = request.arguments;
  made.kernel = findOrCompile(request, *embedder, defaultCacheSettings());
  if (!made.kernel)
    fail("the kernel `" + request.kernel.name + "` was not compiled: a listener to events said to skip it");
  made.device = device;
  made.cooperative = optionsIn(settings)[LaunchOptionId::CooperativeGrid] != 0;
  made.obstacle = device ? device->whyNot(request.options) // the architecture is known to exist by now
                         : "there is no such device here: " + driver.whyNone();
  return made;
}

SpecializedKernel KernelHandle::specialize(std::string_view signature, const CompileSettings &settings) const {
  return translated([&] {
    Device *device = &hostMemoryDevice();
    Driver *driver = findDriver(settings.device.empty() ? device->driver.name() : llvm::StringRef(settings.device));
    if (!driver)
      fail("there is no device `" + settings.device + "`");
    if (!settings.device.empty())
      device = driver->count() > 0 ? driver->device(driver->currentIndex()) : nullptr;
    SpecializedKernel specialized;
    specialized.implementation = std::make_shared<SpecializedKernel::Implementation>(SpecializedKernel::Implementation{
        specializeFor(implementation->text, implementation->function,
                      parseSignature(implementation->function, signature), settings, *driver, device)});
    return specialized;
  });
}

// The device whose memory the pointers among the arguments point at.
static Device &deviceOfPointers(const std::vector<Argument> &arguments) {
  Device *found = nullptr;
  for (const Argument &argument : arguments)
    if (argument.kind == Argument::Kind::Pointer)
      if (Device *device = deviceOf(reinterpret_cast<uint64_t>(argument.address)))
        found = device;
  if (!found)
    return hostMemoryDevice();
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto address = reinterpret_cast<uint64_t>(arguments[i].address);
    if (arguments[i].kind != Argument::Kind::Pointer || address == 0 || deviceOf(address) == found)
      continue;
    if (Device *other = deviceOf(address))
      fail("argument " + std::to_string(i) + " is on " + other->name() + ", and others are on " + found->name());
    if (!found->reachesHostMemory(address))
      fail("argument " + std::to_string(i) + " is in host memory, and others are on " + found->name());
  }
  return *found;
}

void KernelHandle::launchArguments(Grid grid, const std::vector<Argument> &arguments) const {
  const std::vector<ParameterInfo> &parameters = implementation->parameters;
  if (arguments.size() > parameters.size())
    fail(name() + " takes " + std::to_string(parameters.size()) + " arguments, but " +
         std::to_string(arguments.size()) + " were given");
  std::vector<ArgumentSpec> specs = translated([&] {
    std::vector<std::optional<ArgumentSpec>> given;
    for (size_t i = 0; i < arguments.size(); ++i)
      given.push_back(specialized(implementation->function, parameters[i], arguments[i]));
    return completeArguments(implementation->function, std::move(given));
  });
  SpecializedKernel specialized;
  Device &device = deviceOfPointers(arguments);
  std::pair<Device *, std::string> key(&device, signatureText(specs));
  {
    std::lock_guard<RenewedLock> guard(implementation->lock);
    if (auto found = implementation->specializations.find(key); found != implementation->specializations.end())
      specialized = found->second;
  }
  if (!specialized.implementation) {
    specialized = translated([&] {
      SpecializedKernel made;
      made.implementation = std::make_shared<SpecializedKernel::Implementation>(SpecializedKernel::Implementation{
          specializeFor(implementation->text, implementation->function, std::move(specs), {},
                        *findDriver(device.driver.name()), &device)});
      return made;
    });
    std::lock_guard<RenewedLock> guard(implementation->lock);
    implementation->specializations.emplace(key, specialized);
  }
  specialized.stream = stream;
  specialized.launchArguments(grid, arguments);
}

template <typename T> static T withStream(const T &kernel, std::optional<uint64_t> T::*member, void *stream) {
  T result = kernel;
  result.*member = reinterpret_cast<uint64_t>(stream);
  return result;
}
KernelHandle KernelHandle::onStream(void *stream) const { return withStream(*this, &KernelHandle::stream, stream); }
SpecializedKernel SpecializedKernel::onStream(void *stream) const {
  return withStream(*this, &SpecializedKernel::stream, stream);
}

void SpecializedKernel::launchArguments(Grid grid, const std::vector<Argument> &arguments) const {
  if (!implementation->obstacle.empty())
    fail("the kernel cannot be launched: " + implementation->obstacle);
  llvm::SmallVector<uint64_t, 32> slots;
  const std::vector<ArgumentSpec> &specs = implementation->arguments;
  // Either all parameters are given, or only those that are not constants (a default left out is a constant, too).
  bool all = arguments.size() == specs.size() && llvm::none_of(specs, [](const auto &spec) { return spec.isTuple; });
  size_t next = 0;
  // The parts of a tuple or a tensor descriptor that exist at run time follow one another.
  std::function<void(const ArgumentSpec &, const std::string &)> takeParts = [&](const ArgumentSpec &spec,
                                                                                 const std::string &name) {
    for (ArgumentSpec part : spec.elements) {
      part.name = name;
      if (part.isTuple)
        takeParts(part, name);
      else if (!part.isConstant && next == arguments.size())
        fail("the argument `" + name + "` is missing a part");
      else if (!part.isConstant)
        slots.push_back(slotOf(part, arguments[next++]));
    }
  };
  for (const ArgumentSpec &spec : specs) {
    if (spec.isTuple) {
      takeParts(spec, spec.name);
      continue;
    }
    if (spec.isConstant) {
      next += all || (next < arguments.size() && arguments[next].kind == Argument::Kind::Constant);
      continue;
    }
    if (next == arguments.size())
      fail("the argument `" + spec.name + "` is missing");
    slots.push_back(slotOf(spec, arguments[next++]));
  }
  if (next < arguments.size() && !all)
    next += llvm::all_of(llvm::ArrayRef(arguments).drop_front(next),
                         [](const Argument &argument) { return argument.kind == Argument::Kind::Constant; })
                ? arguments.size() - next
                : 0;
  if (next != arguments.size())
    fail("the kernel takes " + std::to_string(specs.size()) + " arguments, but " + std::to_string(arguments.size()) +
         " were given");
  uint32_t dimensions[3] = {grid.x, grid.y, grid.z};
  LaunchOptions options;
  options.cooperative = implementation->cooperative;
  options.stream = stream;
  translated([&] { nacre::launch(*implementation->kernel, *implementation->device, dimensions, slots, options); });
}

std::string SpecializedKernel::signature() const { return signatureText(implementation->arguments); }
std::string SpecializedKernel::hash() const { return implementation->kernel->hash; }
std::string SpecializedKernel::object() const { return implementation->kernel->code.object; }

std::string SpecializedKernel::stage(const std::string &name) const {
  return translated([&] {
    const std::map<std::string, std::string> &stages = implementation->kernel->stages();
    auto found = stages.find(name);
    if (found == stages.end())
      fail("there is no stage `" + name + "`");
    return found->second;
  });
}

const char *version() { return versionText(); }
void setThreads(int threads) { ThreadPool::setThreads(threads); }

} // namespace nacre
