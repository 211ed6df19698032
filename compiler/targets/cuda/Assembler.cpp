// See Assembler.h.
#include "compiler/targets/cuda/Assembler.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/targets/cuda/Toolkit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <map>

using namespace nacre;
using namespace nacre::cuda;

[[noreturn]] static void fail(Diagnostic::Kind kind, const std::string &message, const std::string &hint = "",
                              const PtxPlace &place = {}) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = message;
  diagnostic.hint = hint;
  if (place.line > 0) {
    auto source = std::make_shared<SourceText>();
    source->fileName = place.file;
    int column = std::max(place.column - 1, 0);
    diagnostic.location = {source, place.line, column, place.line, column};
  }
  throw CompileError(std::move(diagnostic));
}

// ---- Finding it

std::optional<std::string> nacre::cuda::findAssembler(const TargetOptions &options) {
  if (!options.assembler.empty()) {
    if (!llvm::sys::fs::can_execute(options.assembler))
      fail(Diagnostic::Kind::Argument, "the assembler of PTX, " + options.assembler + ", is not a program",
           "TRITON_PTXAS_PATH names it; without it, it is looked for");
    return options.assembler;
  }
  if (auto program = llvm::sys::findProgramByName("ptxas"))
    return *program;
  return findInToolkit(options, {"bin", "ptxas"});
}

// ---- Reading what it says

// The number before `text` in the line, or 0.
static uint32_t numberBefore(llvm::StringRef line, llvm::StringRef text) {
  size_t end = line.find(text);
  if (end == llvm::StringRef::npos)
    return 0;
  llvm::StringRef before = line.take_front(end).rtrim();
  llvm::StringRef digits = before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1));
  uint32_t number = 0;
  return digits.getAsInteger(10, number) ? 0 : number;
}

AssemblerReport AssemblerReport::parse(llvm::StringRef text) {
  AssemblerReport report;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    report.registers = std::max(report.registers, numberBefore(line, " registers"));
    report.stackBytes = std::max(report.stackBytes, numberBefore(line, " bytes stack frame"));
    report.spilledBytes = std::max(report.spilledBytes, numberBefore(line, " bytes spill stores"));
    size_t code = line.find("(C7");
    if (code == llvm::StringRef::npos)
      continue;
    std::string remark = line.drop_front(code).trim().str();
    if (!llvm::is_contained(report.remarks, remark))
      report.remarks.push_back(std::move(remark));
  }
  return report;
}

PtxPlace nacre::cuda::placeOfPtxLine(llvm::StringRef ptx, unsigned wanted) {
  std::map<unsigned, std::string> files;
  PtxPlace place;
  unsigned file = 0, number = 0;
  for (llvm::StringRef line : llvm::split(ptx, '\n')) {
    ++number;
    llvm::SmallVector<llvm::StringRef> words;
    llvm::SplitString(line, words, " \t\r,");
    if (words.size() >= 3 && words[0] == ".file") { // all of them, also those after the kernel
      unsigned index = 0;
      if (!words[1].getAsInteger(10, index))
        files[index] = line.split('"').second.split('"').first.str();
    } else if (number <= wanted && words.size() >= 4 && words[0] == ".loc") {
      unsigned index = 0;
      if (!words[1].getAsInteger(10, index) && !words[2].getAsInteger(10, place.line) &&
          !words[3].getAsInteger(10, place.column))
        file = index;
    }
  }
  if (auto found = files.find(file); found != files.end() && place.line > 0)
    place.file = found->second;
  else
    place = {};
  return place;
}

// "ptxas /tmp/x.ptx, line 42; error   : Not a name of any known instruction: 'foo'" and what it means.
[[noreturn]] static void failAssembling(const std::string &ptx, llvm::StringRef text, const std::string &assembler) {
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    size_t error = line.find("error");
    if (error == llvm::StringRef::npos)
      continue;
    unsigned number = 0;
    llvm::StringRef digits = line.split(", line ").second.take_while([](char c) { return c >= '0' && c <= '9'; });
    bool isPlaced = !digits.getAsInteger(10, number);
    llvm::StringRef message = line.drop_front(error).split(':').second.trim();
    std::string shown;
    if (isPlaced) {
      llvm::SmallVector<llvm::StringRef> lines;
      llvm::StringRef(ptx).split(lines, '\n');
      if (number >= 1 && number <= lines.size())
        shown = ": " + lines[number - 1].trim().str();
    }
    fail(Diagnostic::Kind::Value, "ptxas cannot assemble this kernel: " + message.str() + shown, "",
         isPlaced ? placeOfPtxLine(ptx, number) : PtxPlace());
  }
  fail(Diagnostic::Kind::Value, "ptxas failed: " + text.trim().str(),
       "it is " + assembler + "; TRITON_PTXAS_PATH names another");
}

// ---- Running it

namespace {
// A file that is gone with its object.
class TemporaryFile {
public:
  TemporaryFile(const char *suffix, llvm::StringRef content) {
    int descriptor = -1;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("nacre", suffix, descriptor, path))
      fail(Diagnostic::Kind::Internal, "no file for the assembler can be made: " + error.message());
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << content;
    stream.close();
    bool hasFailed = stream.has_error();
    stream.clear_error();
    if (hasFailed) {
      llvm::sys::fs::remove(path);
      fail(Diagnostic::Kind::Internal, "the assembler's input cannot be written to " + path.str().str());
    }
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  TemporaryFile(const TemporaryFile &) = delete;

  std::string content() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  llvm::SmallString<128> path;
};
} // namespace

AssembledCode nacre::cuda::assemble(const std::string &ptx, const std::string &assembler,
                                    const Architecture &architecture, const TargetOptions &options) {
  TemporaryFile input("ptx", ptx), output("cubin", ""), report("log", "");
  llvm::SmallVector<llvm::StringRef> arguments = {assembler,  "-v", "--gpu-name", architecture.name,
                                                  input.path, "-o", output.path};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  if (!options.fpFusion)
    arguments.append({"--fmad=false"});
  llvm::SplitString(options.assemblerOptions, arguments, " ");
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), report.path.str(), report.path.str()};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt, redirects, 0, 0, &problem);
  std::string text = report.content();
  if (status < 0)
    fail(Diagnostic::Kind::Internal, "ptxas could not be run: " + problem,
         "it is " + assembler + "; TRITON_PTXAS_PATH names another");
  if (status != 0)
    failAssembling(ptx, text, assembler);
  return {output.content(), AssemblerReport::parse(text)};
}
