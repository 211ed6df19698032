// See Perf.h.
#include "compiler/targets/cpu/Perf.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/ExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderPerf.h"
#include <cinttypes>
#include <cstdio>
#include <unistd.h>

using namespace llvm::orc;
namespace jitlink = llvm::jitlink;

namespace {

// Writes "ADDRESS SIZE NAME" lines to /tmp/perf-PID.map, which is where perf looks.
class PerfMap : public ObjectLinkingLayer::Plugin {
public:
  void modifyPassConfig(MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &configuration) override {
    configuration.PostFixupPasses.push_back([](jitlink::LinkGraph &graph) {
      std::string name = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      if (FILE *file = std::fopen(name.c_str(), "a")) {
        for (jitlink::Symbol *symbol : graph.defined_symbols())
          if (symbol->hasName() && symbol->isCallable())
            std::fprintf(file, "%" PRIx64 " %" PRIx64 " %s\n", symbol->getAddress().getValue(),
                         static_cast<uint64_t>(symbol->getSize()), (*symbol->getName()).str().c_str());
        std::fclose(file);
      }
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(MaterializationResponsibility &) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(JITDylib &, ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(JITDylib &, ResourceKey, ResourceKey) override {}
};

} // namespace

void nacre::cpu::tellPerf(ExecutionSession &session, ObjectLinkingLayer &linker) {
  linker.addPlugin(std::make_shared<PerfMap>());
  linker.addPlugin(std::make_shared<DebugInfoPreservationPlugin>()); // the jitdump's lines are read from it
  linker.addPlugin(std::make_shared<PerfSupportPlugin>(session.getExecutorProcessControl(),
                                                       ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfStart),
                                                       ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfEnd),
                                                       ExecutorAddr::fromPtr(&llvm_orc_registerJITLoaderPerfImpl),
                                                       /*EmitDebugInfo=*/true, /*EmitUnwindInfo=*/true));
}
