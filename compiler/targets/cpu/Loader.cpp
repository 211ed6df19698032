// Object code into this process, through ORC. One session serves every kernel; a kernel is a dylib of its own in it.
#include "compiler/language/Diagnostic.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include <atomic>

using namespace nacre;
using namespace nacre::cpu;
using namespace llvm::orc;

[[noreturn]] static void throwError(const char *what, llvm::Error error) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Internal;
  diagnostic.message = std::string(what) + ": " + llvm::toString(std::move(error));
  throw CompileError(diagnostic);
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
  // Lives as long as the process: kernels may run until its end.
  static Session &get() {
    static Session *instance = new Session();
    return *instance;
  }
};

struct OrcKernel : LoadedKernel {
  JITDylib *dylib = nullptr;
  ~OrcKernel() override {
    if (dylib)
      llvm::consumeError(Session::get().session->removeJITDylib(*dylib));
  }
};

} // namespace

std::unique_ptr<LoadedKernel> nacre::cpu::load(const std::string &object, const std::string &symbol) {
  Session &session = Session::get();
  auto kernel = std::make_unique<OrcKernel>();
  auto dylib = session.session->createJITDylib("kernel" + std::to_string(session.count++));
  if (!dylib)
    throwError("cannot load a kernel", dylib.takeError());
  kernel->dylib = &*dylib;
  dylib->addToLinkOrder(*session.process);
  if (auto error = session.linker->add(*dylib, llvm::MemoryBuffer::getMemBufferCopy(object, symbol)))
    throwError("cannot load a kernel", std::move(error));
  auto address = session.session->lookup({&*dylib}, symbol);
  if (!address)
    throwError("cannot load a kernel", address.takeError());
  kernel->function = address->getAddress().toPtr<KernelFunction>();
  return kernel;
}
