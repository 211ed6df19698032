// Object code into this process, through ORC. One session serves every kernel of a process; a kernel is a dylib of its
// own in it, and so is a user's library that kernels call.
#include "compiler/language/meaning/Diagnostic.h"
#include "compiler/language/meaning/ExternalLibrary.h"
#include "compiler/support/ForkSafety.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/ObjectCode.h"
#include "compiler/targets/cpu/Perf.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/ObjectFile.h"
#include <atomic>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace nacre;
using namespace nacre::cpu;
using namespace llvm::orc;

// The errors that the session reports, on whatever thread it links: what comes back to who asked only says that
// something failed.
class Reports {
public:
  void add(llvm::Error error) {
    std::lock_guard<ProcessLock> guard(lock);
    first = first.empty() ? llvm::toString(std::move(error)) : (llvm::consumeError(std::move(error)), first);
  }
  // The first that was reported since they were last taken; empty when there was none.
  std::string take() {
    std::lock_guard<ProcessLock> guard(lock);
    return std::exchange(first, "");
  }
  static Reports &get() {
    static auto *reports = new Reports;
    return *reports;
  }

private:
  ProcessLock lock;
  std::string first;
};

static std::string textOf(llvm::Error error) {
  std::string text = llvm::toString(std::move(error)), reported = Reports::get().take();
  return reported.empty() ? text : reported;
}

[[noreturn]] static void throwError(const char *what, llvm::Error error) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Internal;
  diagnostic.message = std::string(what) + ": " + textOf(std::move(error));
  throw CompileError(diagnostic);
}

// A user's library is the user's: what is wrong with it is told without blaming the compiler.
[[noreturn]] static void throwLibraryError(const ExternalFunction &function, const std::string &problem) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Value;
  diagnostic.message = "the library `" + function.library + "` cannot be loaded: " + problem;
  if (llvm::StringRef(problem).contains("out of range"))
    diagnostic.hint = "compile it with -fPIC";
  throw CompileError(diagnostic);
}

// Where to open a shared library from. Its own file may be written again, and the path of a library that is open means
// that one, whatever the file holds by then: so a copy is opened. One that finds others beside itself cannot be moved.
static std::string openablePath(const ExternalFunction &function, llvm::StringRef content) {
  if (content.contains("$ORIGIN"))
    return function.library;
  int file = memfd_create(("nacre." + function.digest).c_str(), MFD_CLOEXEC); // stays open: its number is the name
  llvm::StringRef rest = content;
  while (file >= 0 && !rest.empty()) {
    ssize_t written = write(file, rest.data(), rest.size());
    if (written <= 0)
      throwLibraryError(function, "no memory for a copy of it");
    rest = rest.drop_front(static_cast<size_t>(written));
  }
  return file < 0 ? function.library : "/proc/self/fd/" + std::to_string(file);
}

namespace {

struct Session {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> linker;
  JITDylib *process = nullptr; // what compiled code may call: libc, libm
  std::atomic<uint64_t> count{0};

  Session() {
    auto control = SelfExecutorProcessControl::Create();
    if (!control)
      throwError("cannot start the loader", control.takeError());
    session = std::make_unique<ExecutionSession>(std::move(*control));
    session->setErrorReporter([](llvm::Error error) { Reports::get().add(std::move(error)); });
    linker = std::make_unique<ObjectLinkingLayer>(*session);
    // Tells debuggers of kernels that carry line tables.
    llvm::Error problem = llvm::Error::success();
    auto debugger = std::make_shared<ELFDebugObjectPlugin>(*session, /*RequireDebugSections=*/true,
                                                           /*AutoRegisterCode=*/true, problem);
    if (problem)
      throwError("cannot tell debuggers of kernels", std::move(problem));
    linker->addPlugin(std::move(debugger));
    process = &session->createBareJITDylib("process");
    auto generator = DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    if (!generator)
      throwError("cannot look up the process's symbols", generator.takeError());
    process->addGenerator(std::move(*generator));
  }

  // A library that kernels call, loaded when the first does; it stays.
  JITDylib &library(const ExternalFunction &function) {
    std::lock_guard<std::mutex> guard(libraryLock);
    if (auto known = libraries.find(function.digest); known != libraries.end())
      return *known->second;
    auto found = ExternalLibrary::find(function.library);
    if (!found)
      throwLibraryError(function, llvm::toString(found.takeError()));
    if ((*found)->digest != function.digest)
      throwLibraryError(function, "it has changed since the kernel was compiled");
    JITDylib &dylib = session->createBareJITDylib("library" + std::to_string(count++));
    dylib.addToLinkOrder(*process);
    auto content = llvm::MemoryBuffer::getMemBufferCopy((*found)->content().getBuffer(), function.library);
    auto check = [&](llvm::Error error) {
      if (error)
        throwLibraryError(function, textOf(std::move(error)));
    };
    switch ((*found)->kind) {
    case ExternalLibrary::Kind::IR:
      llvm_unreachable("IR is part of the kernel");
    case ExternalLibrary::Kind::Object:
      check(linker->add(dylib, std::move(content)));
      break;
    case ExternalLibrary::Kind::Archive: {
      auto generator = StaticLibraryDefinitionGenerator::Create(*linker, std::move(content));
      if (!generator)
        check(generator.takeError());
      dylib.addGenerator(std::move(*generator));
      break;
    }
    case ExternalLibrary::Kind::Shared: {
      auto generator = DynamicLibrarySearchGenerator::Load(openablePath(function, content->getBuffer()).c_str(), '\0');
      if (!generator)
        check(generator.takeError());
      dylib.addGenerator(std::move(*generator));
      break;
    }
    }
    libraries[function.digest] = &dylib;
    return dylib;
  }

  // The library did not load: another try starts anew, and tells the same again.
  void forget(const ExternalFunction &function) {
    std::lock_guard<std::mutex> guard(libraryLock);
    libraries.erase(function.digest);
  }

  // Lives as long as the process: kernels may run until its end. A child starts one of its own, since a thread of the
  // parent may have been loading; what the parent loaded stays there.
  static Session &get() {
    if (Session *existing = shared.load(std::memory_order_acquire))
      return *existing;
    static ProcessLock making;
    std::lock_guard<ProcessLock> guard(making);
    if (Session *existing = shared.load(std::memory_order_acquire))
      return *existing;
    static const bool isRegistered = (onFork([] { shared.store(nullptr); }), true);
    (void)isRegistered;
    auto *made = new Session();
    if (tellsPerf.load())
      tellPerf(*made->session, *made->linker);
    shared.store(made, std::memory_order_release);
    return *made;
  }
  bool isOfThisProcess() const { return shared.load(std::memory_order_acquire) == this; }

  // From now on perf is told of kernels.
  static void announceToPerf() {
    Session &session = get();
    if (!tellsPerf.exchange(true))
      tellPerf(*session.session, *session.linker);
  }

private:
  static inline std::atomic<Session *> shared = nullptr;
  static inline std::atomic<bool> tellsPerf = false;
  std::mutex libraryLock;
  std::map<std::string, JITDylib *> libraries; // by digest
};

struct OrcKernel : LoadedCode {
  explicit OrcKernel(Session &owner) : owner(owner) {}
  Session &owner;
  JITDylib *dylib = nullptr;
  ~OrcKernel() override {
    if (dylib && owner.isOfThisProcess())
      llvm::consumeError(owner.session->removeJITDylib(*dylib));
  }
};

} // namespace

// The section that `symbol` stands in: the linker loads a section as one block.
static void findCode(LoadedCode &kernel, const std::string &object, const std::string &symbol) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, symbol));
  if (!file)
    return llvm::consumeError(file.takeError());
  for (const llvm::object::SymbolRef &candidate : (*file)->symbols()) {
    auto name = candidate.getName();
    auto section = candidate.getSection();
    auto value = candidate.getValue();
    if (name && section && value && *name == symbol && *section != (*file)->section_end()) {
      kernel.codeBegin = reinterpret_cast<uintptr_t>(kernel.function) - *value;
      kernel.codeEnd = kernel.codeBegin + (*section)->getSize();
    }
    llvm::consumeError(name.takeError());
    llvm::consumeError(section.takeError());
    llvm::consumeError(value.takeError());
  }
}

void nacre::cpu::announceToPerf() { Session::announceToPerf(); }

std::unique_ptr<LoadedCode> nacre::cpu::load(const std::string &object, const std::string &symbol,
                                             llvm::ArrayRef<ExternalFunction> externals) {
  Session &session = Session::get();
  mayUseTileRegisters(); // the kernel may come from the cache, and have been compiled by another process
  Reports::get().take();
  auto kernel = std::make_unique<OrcKernel>(session);
  auto dylib = session.session->createJITDylib("kernel" + std::to_string(session.count++));
  if (!dylib)
    throwError("cannot load a kernel", dylib.takeError());
  kernel->dylib = &*dylib;
  dylib->addToLinkOrder(*session.process);
  for (const ExternalFunction &function : externals) {
    JITDylib &library = session.library(function);
    SymbolStringPtr name = session.session->intern(function.symbol);
    // Asked for now, where what the library itself lacks can be told.
    if (auto found = session.session->lookup({&library}, name); !found) {
      session.forget(function);
      throwLibraryError(function, textOf(found.takeError()));
    }
    SymbolAliasMap alias;
    alias[session.session->intern(function.linkName())] = {name, llvm::JITSymbolFlags::Exported |
                                                                     llvm::JITSymbolFlags::Callable};
    if (auto error = dylib->define(reexports(library, std::move(alias))))
      throwError("cannot load a kernel", std::move(error));
  }
  if (auto error = session.linker->add(*dylib, llvm::MemoryBuffer::getMemBufferCopy(object, symbol)))
    throwError("cannot load a kernel", std::move(error));
  auto address = session.session->lookup({&*dylib}, symbol);
  if (!address)
    throwError("cannot load a kernel", address.takeError());
  kernel->function = address->getAddress().toPtr<KernelFunction>();
  findCode(*kernel, object, symbol);
  return kernel;
}
