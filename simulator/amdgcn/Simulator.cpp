// The public interface over the program and its runs.
#include "simulator/amdgcn/Simulator.h"
#include "simulator/amdgcn/CodeObject.h"

namespace nacre::simulator::amdgcn {

const char *nameOf(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::ReadOnlyStore:
    return "store to read-only memory";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::MissingWait:
    return "missing wait";
  case FindingKind::LdsRace:
    return "race in LDS";
  case FindingKind::GlobalRace:
    return "race in global memory";
  case FindingKind::BarrierMismatch:
    return "barrier mismatch";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::LimitReached:
    return "limit reached";
  }
  return "";
}

static std::string text(const Dimensions &dimensions) {
  return "(" + std::to_string(dimensions.x) + ", " + std::to_string(dimensions.y) + ", " +
         std::to_string(dimensions.z) + ")";
}

std::string Report::text() const {
  std::string all = kernel + ": " + std::to_string(counters.waveInstructions) + " instructions of waves (" +
                    std::to_string(counters.vector) + " vector, " + std::to_string(counters.matrix) + " matrix), " +
                    std::to_string(counters.globalLines) + " cache lines (" + std::to_string(counters.idealLines) +
                    " at best), " + std::to_string(counters.bankConflicts()) + " bank conflicts\n";
  for (const Finding &finding : findings)
    all += finding.place + ": " + nameOf(finding.kind) + ": " + finding.message + "\n  `" + finding.instruction +
           "`, work-group " + amdgcn::text(finding.group) + ", wave " + std::to_string(finding.wave) + ", lane " +
           std::to_string(finding.lane) + (finding.count > 1 ? ", " + std::to_string(finding.count) + " times" : "") +
           "\n";
  if (moreFindings)
    all += "and " + std::to_string(moreFindings) + " more\n";
  return all;
}

namespace {

class LoadedCode : public CodeObject {
public:
  explicit LoadedCode(std::unique_ptr<Program> program) : program(std::move(program)) {}
  std::string processor() const override { return program->processor.name; }
  std::vector<KernelInfo> kernels() const override {
    std::vector<KernelInfo> infos;
    for (const Kernel &kernel : program->kernels)
      infos.push_back(kernel.info);
    return infos;
  }
  Report run(const Launch &launch) override {
    for (const Kernel &kernel : program->kernels)
      if (kernel.info.name == launch.kernel || (launch.kernel.empty() && program->kernels.size() == 1))
        return runKernel(*program, kernel, launch);
    throw Error("the code object has no kernel `" + launch.kernel + "`");
  }

private:
  std::unique_ptr<Program> program;
};

} // namespace

std::unique_ptr<CodeObject> load(std::string_view bytes) { return std::make_unique<LoadedCode>(loadProgram(bytes)); }

} // namespace nacre::simulator::amdgcn
