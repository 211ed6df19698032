// The commands of the `nacre` program that need no Python: compile, simulate and info.
#include "runtime/commands/Command.h"
#include "runtime/Device.h"
#include "runtime/Knobs.h"
#include "runtime/api/AheadOfTime.h"
#include "runtime/compile/BuildId.h"
#include "runtime/commands/Simulate.h"
#include "runtime/compile/Compiler.h"
#include "runtime/launch/Signature.h"
#include "runtime/threads/ThreadPool.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace nacre;

namespace {

// The stages that a target's compiles may stop at, its binary the last.
std::vector<std::string> stagesOf(const Target &target) {
  std::vector<std::string> names;
  for (const StageName &stage : target.stages())
    names.push_back(stage.name);
  names.push_back(target.binaryName().str());
  return names;
}

std::string targetNames() {
  std::string names;
  for (const Target *target : targets())
    names += (names.empty() ? "" : ", ") + target->name().str();
  return names;
}

std::string compileUsage() {
  std::string stages, numbers;
  for (const Target *target : targets())
    stages += "                     " + target->title().str() + ": " + llvm::join(stagesOf(*target), ", ") + "\n";
  for (const LaunchOption &option : launchOptions)
    if (option.kind == LaunchOptionKind::Integer) {
      std::string name = "--" + std::string(option.name) + " N";
      std::replace(name.begin(), name.end(), '_', '-');
      name.resize(std::max<size_t>(name.size(), 18), ' ');
      numbers += "  " + name + " " + option.help + " (default: " + std::to_string(option.fallback) + ")\n";
    }
  return R"(usage: nacre compile FILE.py [--kernel NAME] --signature SIGNATURE [options]

  --kernel NAME      a function of the file (default: its only one with jit)
  --signature S      one entry a parameter: "*fp32:16, *fp32:16, i32, BLOCK=1024"; a number after a colon divides the value or address
  --emit STAGE       a stage of the target (default: the last one that is text), or c: a C function in a header and a source,
                     its code, and the runtime that it needs
)" + stages +
         "  --target NAME      " + targetNames() + R"(; with a machine after a colon: cuda:90
  --arch NAME        a machine as the target names it; also --cpu (default: this one)
  --features LIST    "+avx512f,-avx2"
)" + numbers +
         R"(  --report           write to standard error what the assembler says: registers, spills, shared memory, its remarks
  --debug            make device_assert live
  --no-fp-fusion     do not contract a*b+c
  --no-line-info     leave line numbers out
  --out-name NAME    of the C function (default: the kernel's)
  --grid EXPRESSIONS the grid in C, over the parameters: "(n + 127) / 128, 1, 1"; left out, the function is given it
  -o FILE            where to write (default: standard output; with --emit c: the files' name up to its first point)
)";
}

struct WrongUse {
  std::string problem;
};
[[noreturn]] void wrongUse(const llvm::Twine &problem) { throw WrongUse{problem.str()}; }

struct CompileCommand {
  std::string file, kernel, signature, output = "-", emit, outName, grid;
  CompileOptions options;
  bool reports = false;

  // The options of the target that the arguments name: they come first, whatever the order.
  static CompileOptions optionsFor(llvm::ArrayRef<std::string> arguments) {
    std::string name = drivers().front()->name().str();
    for (size_t i = 0; i < arguments.size(); ++i) {
      llvm::StringRef argument = arguments[i];
      if (argument.consume_front("--target="))
        name = argument.str();
      else if (argument == "--target" && i + 1 < arguments.size())
        name = arguments[i + 1];
    }
    llvm::StringRef target = llvm::StringRef(name).split(':').first, machine = llvm::StringRef(name).split(':').second;
    for (const Driver *driver : drivers())
      if (driver->target().name() == target) {
        CompileOptions options = compileOptionsFor(*driver);
        if (!machine.empty())
          options.architecture = machine.str();
        return options;
      }
    wrongUse("there is no target `" + name + "`; targets: " + targetNames());
  }

  explicit CompileCommand(llvm::ArrayRef<std::string> arguments) : options(optionsFor(arguments)) {
    LaunchOptionValues launch;
    for (size_t i = 0; i < arguments.size(); ++i) {
      llvm::StringRef option = arguments[i];
      std::optional<std::string> inlineValue; // --emit=llvm
      if (option.starts_with("--"))
        if (auto [name, value] = option.split('='); name.size() != option.size()) {
          option = name;
          inlineValue = value.str();
        }
      auto value = [&]() -> std::string {
        if (inlineValue)
          return *inlineValue;
        if (i + 1 == arguments.size())
          wrongUse(option + " needs a value");
        return arguments[++i];
      };
      if (option == "--kernel")
        kernel = value();
      else if (option == "--signature")
        signature = value();
      else if (option == "--emit")
        emit = value();
      else if (option == "--target")
        value(); // known already
      else if (option == "--report")
        reports = true;
      else if (option == "--arch" || option == "--cpu")
        options.architecture = value();
      else if (const LaunchOption *known = numberOption(option)) {
        if (llvm::StringRef(value()).getAsInteger(10, launch[known->id]))
          wrongUse(option + " needs a number");
      } else if (option == "--features")
        options.features = value();
      else if (option == "--out-name")
        outName = value();
      else if (option == "--grid")
        grid = value();
      else if (option == "--debug")
        options.debug = true;
      else if (option == "--no-fp-fusion")
        options.fpFusion = false;
      else if (option == "--no-line-info")
        options.lineInfo = false;
      else if (option == "-o")
        output = value();
      else if (option.starts_with("-"))
        wrongUse("there is no option `" + option + "`");
      else if (file.empty())
        file = option.str();
      else
        wrongUse("more than one file: " + file + " and " + option);
    }
    if (file.empty())
      wrongUse("no file is named");
    launch[LaunchOptionId::Debug] = options.debug;
    launch[LaunchOptionId::FpFusion] = options.fpFusion;
    applyLaunchOptions(options, launch);
    if (emit.empty())
      emit = options.target->stages().back().name;
    std::vector<std::string> stages = stagesOf(*options.target);
    if (llvm::any_of(drivers(), [&](const Driver *driver) {
          return &driver->target() == options.target && driver->exportedCode();
        }))
      stages.push_back("c");
    if (std::string ours = options.target->stageNamed(emit); !ours.empty())
      emit = ours; // it was Triton's name
    options.mustAssemble = reports || emit == options.target->binaryName();
    options.assembles &= options.mustAssemble || emit == "c";
    if (!llvm::is_contained(stages, emit))
      wrongUse("there is no stage `" + emit + "`; stages: " + llvm::join(stages, ", "));
    if (emit != "c" && !(outName.empty() && grid.empty()))
      wrongUse("--out-name and --grid are for --emit c");
  }

  // --num-warps: the option that takes a number; null: it is none.
  static const LaunchOption *numberOption(llvm::StringRef option) {
    std::string name = option.drop_while([](char letter) { return letter == '-'; }).str();
    std::replace(name.begin(), name.end(), '-', '_');
    const LaunchOption *known = option.starts_with("--") ? findLaunchOption(name) : nullptr;
    return known && known->kind == LaunchOptionKind::Integer ? known : nullptr;
  }

  // What is known of the code besides it.
  static void report(const KernelMetadata &known) {
    llvm::errs() << known.registers << " registers, " << known.spilledBytes << " bytes spilled, " << known.sharedBytes
                 << " bytes of shared memory, " << known.warps << " warps\n";
    for (const std::string &remark : known.remarks)
      llvm::errs() << remark << "\n";
  }

  int run() {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer) {
      llvm::errs() << "nacre: " << file << ": " << buffer.getError().message() << "\n";
      return 1;
    }
    auto text = std::make_shared<SourceText>();
    text->fileName = file;
    text->text = (*buffer)->getBuffer().str();
    std::string result;
    std::vector<ArgumentSpec> given;
    try {
      std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
      if (kernel.empty())
        kernel = onlyKernel(*embedder);
      CompileRequest request;
      request.kernel = findFunction(*embedder, kernel);
      request.arguments = given = parseSignature(request.kernel, signature);
      request.options = options;
      request.staticPrint = [](llvm::StringRef printed) { llvm::errs() << printed; };
      if (emit == "c")
        return writeExport({.name = outName.empty() ? kernel : outName,
                            .file = output == "-" ? "" : llvm::sys::path::filename(output).str(),
                            .grid = grid.empty() ? std::vector<std::string>() : splitGrid(grid),
                            .meta = "",
                            .kernel = std::move(request)},
                           *embedder);
      CompiledCode code =
          compileKernel(request, *embedder,
                        {.onStage =
                             [&](const std::string &stage, const std::function<std::string()> &stageText) {
                               if (stage == emit)
                                 result = stageText();
                             },
                         .replace = nullptr,
                         .fileFor = nullptr});
      if (reports)
        report(code.metadata);
      if (emit == options.target->binaryName()) {
        if (!code.externals.empty()) {
          llvm::errs() << "error: the kernel calls `" << code.externals.front().symbol << "` of `"
                       << code.externals.front().library << "`, which cannot be part of its object code\n"
                       << "hint: give the library as LLVM bitcode or IR\n";
          return 1;
        }
        result = code.object;
      }
    } catch (const CompileError &error) {
      llvm::errs() << error.what() << "\n";
      for (const ArgumentSpec &argument : given) // a kernel may take a type; one that fails wanted a number
        if (argument.isConstant && argument.constant.isType())
          llvm::errs() << "note: `" << argument.name
                       << "` is a constexpr, and the signature gives it a type, not a value: " << argument.name
                       << "=128 gives it one\n";
      return 1;
    }
    return write(output, result);
  }

  // The kernel where none is named: the file's only one.
  std::string onlyKernel(Embedder &embedder) {
    std::vector<std::string> names = jitFunctions(embedder);
    if (names.empty())
      wrongUse("--kernel is missing, and no function of " + file + " is decorated with jit");
    if (names.size() > 1)
      wrongUse("--kernel is missing; the functions of " + file + " with jit are " + llvm::join(names, ", "));
    return names.front();
  }

  // Prints the name of the function.
  int writeExport(ExportRequest request, Embedder &embedder) {
    ExportedKernel exported = exportKernel(std::move(request), embedder);
    llvm::StringRef folder = output == "-" ? "" : llvm::sys::path::parent_path(output);
    for (const ExportedFile &part : exported.files) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, part.name);
      if (int status = write(path.str().str(), part.content))
        return status;
    }
    llvm::outs() << exported.function << "\n";
    return 0;
  }

  static int write(const std::string &path, llvm::StringRef content) {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    if (!error)
      out << content;
    out.close();
    if (path == "-" && out.error() == std::errc::broken_pipe) { // whoever reads has seen enough
      out.clear_error();
      return 128 + SIGPIPE;
    }
    if (error || out.has_error()) {
      llvm::errs() << "nacre: " << path << ": " << (error ? error : out.error()).message() << "\n";
      out.clear_error();
      return 1;
    }
    return 0;
  }
};

int info() {
  llvm::outs() << "nacre " << versionText() << ", build " << llvm::StringRef(buildId()).take_front(16) << "\n"
               << "targets: " << targetNames() << " (" << hostDevice().properties().architecture << ", "
               << usableCores() << " cores)\n"
               << "cache: " << cacheDirectory() << "\nknobs:\n";
  for (const Knob &knob : allKnobs()) {
    llvm::outs() << "  " << knob.group << "." << knob.attribute << " = '" << knobText(knob).value_or(knob.fallback)
                 << "'  (" << knob.variable << ", " << knob.ownVariable
                 << (knob.inCacheKey ? "; part of the cache key" : "") << ")\n"
                 << "      " << knob.help << "\n";
  }
  return 0;
}

} // namespace

namespace nacre {

int runCommand(llvm::ArrayRef<std::string> arguments) {
  try {
    llvm::ArrayRef<std::string> rest = arguments.drop_front();
    if (arguments.front() == "simulate")
      return simulateCommand(rest.vec());
    bool asksForHelp = llvm::is_contained(rest, "--help") || llvm::is_contained(rest, "-h");
    if (arguments.front() == "info") {
      if (rest.empty())
        return info();
      if (asksForHelp)
        llvm::outs() << "usage: nacre info\n";
      else
        llvm::errs() << "nacre info: there is no option `" << rest.front()
                     << "`\nnacre info --help shows what there is\n";
      return asksForHelp ? 0 : 2;
    }
    if (asksForHelp)
      return CompileCommand::write("-", compileUsage());
    return CompileCommand(rest).run();
  } catch (const WrongUse &wrong) {
    llvm::errs() << "nacre compile: " << wrong.problem << "\nnacre compile --help shows what there is\n";
    return 2;
  } catch (const std::exception &error) { // a knob with a wrong value
    llvm::errs() << "nacre: " << error.what() << "\n";
    return 1;
  }
}

} // namespace nacre
