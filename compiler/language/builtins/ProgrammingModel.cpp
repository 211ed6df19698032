// Where a program stands in its grid, and what it runs on.
#include "compiler/language/builtins/Definitions.h"

namespace nacre {

static int gridAxis(Evaluation &evaluation, const Object &object) {
  int64_t axis = integerArgument(evaluation, object, "axis");
  if (axis < 0 || axis > 2)
    evaluation.fail(Diagnostic::Kind::Value, "`axis` must be 0, 1 or 2, not " + std::to_string(axis));
  return static_cast<int>(axis);
}

static Object programId(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return evaluation.builder().programId(gridAxis(evaluation, arguments[0]));
}

static Object numPrograms(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return evaluation.builder().numPrograms(gridAxis(evaluation, arguments[0]));
}

// The compute capability in a target's name, "cuda:90" -> 90; 0 for targets that are not CUDA.
static int64_t cudaCapability(Evaluation &evaluation) {
  std::string target = evaluation.target();
  llvm::StringRef text = target;
  int64_t capability = 0;
  if (!text.consume_front("cuda:") || text.consumeInteger(10, capability))
    return 0;
  return capability;
}

static Object isCuda(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  return llvm::StringRef(evaluation.target()).starts_with("cuda");
}
static Object isHip(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  return llvm::StringRef(evaluation.target()).starts_with("hip");
}
// One of AMD's architectures, "hip:gfx942".
template <const char *architecture> static Object isArchitecture(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  return evaluation.target() == std::string("hip:") + architecture;
}
static constexpr char cdna3[] = "gfx942", cdna4[] = "gfx950", gfx1250[] = "gfx1250";

static Object currentTarget(Evaluation &evaluation, llvm::ArrayRef<Object>) { return evaluation.target(); }

static Object cudaCapabilityAtLeast(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  int64_t major = integerArgument(evaluation, arguments[0], "major"),
          minor = integerArgument(evaluation, arguments[1], "minor");
  return cudaCapability(evaluation) >= major * 10 + minor;
}

template <MachineValue which> static Object readMachine(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  return evaluation.builder().readMachine(which);
}

static Object numWarps(Evaluation &evaluation, llvm::ArrayRef<Object>) { return int64_t(evaluation.numWarps()); }
static Object numThreads(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  return int64_t(evaluation.numWarps()) * evaluation.warpSize();
}
static constexpr char waitForOthers[] = "griddepcontrol.wait;", letOthersBegin[] = "griddepcontrol.launch_dependents;";
// Launches overlap from compute capability 9.0 on (launch_pdl); elsewhere one begins when the one before it has ended.
template <const char *instruction> static Object orderLaunches(Evaluation &evaluation, llvm::ArrayRef<Object>) {
  if (cudaCapability(evaluation) >= 90)
    evaluation.builder().inlineAssembly(std::string(instruction) + " // $0", "=r", {}, {int32()}, /*isPure=*/false,
                                        /*pack=*/1);
  return {};
}

void addProgrammingModel(Table &table) {
  table.section(languageModule, "programming model");
  table.add("program_id(axis: constexpr int)",
            "The index of this program along one axis of the grid, an int32 scalar.\n\n"
            "axis: 0, 1 or 2.",
            programId);
  table.add("num_programs(axis: constexpr int)",
            "The number of programs along one axis of the grid, an int32 scalar.\n\n"
            "axis: 0, 1 or 2.",
            numPrograms);

  table.section(targetInfoModule, "programming model");
  table.add("current_target()", "The name of the target being compiled for: \"cpu\", \"cuda:90\".", currentTarget);
  table.add("is_cuda()", "Whether the target is a CUDA device. A constexpr, so it prunes branches.", isCuda);
  table.add("is_hip()", "Whether the target is a HIP device. A constexpr, so it prunes branches.", isHip);
  table.add("is_hip_cdna3()", "Whether the target is AMD's CDNA3. A constexpr.", isArchitecture<cdna3>);
  table.add("is_hip_cdna4()", "Whether the target is AMD's CDNA4. A constexpr.", isArchitecture<cdna4>);
  table.add("is_hip_gfx1250()", "Whether the target is AMD's gfx1250. A constexpr.", isArchitecture<gfx1250>);
  table.add("cuda_capability_geq(major: constexpr int, minor: constexpr int = 0)",
            "Whether the target is a CUDA device of at least this compute capability. A constexpr.",
            cudaCapabilityAtLeast);

  table.section(cudaModule, "programming model");
  table.add("smid()",
            "The number of the multiprocessor that runs this program, an int32 scalar; on the CPU, of the core.",
            readMachine<MachineValue::Processor>);
  table.add("globaltimer()", "The device's clock in nanoseconds, an int64 scalar.", readMachine<MachineValue::Clock>);
  table.add("num_warps()", "The number of warps that run this program, a constexpr: 1 on the CPU.", numWarps);
  table.add("num_threads()", "The number of threads that run this program, a constexpr: 1 on the CPU.", numThreads);
  table.add("gdc_wait()",
            "Waits for the kernels this launch depends on, of a launch with `launch_pdl=True`. On the CPU, and on GPUs "
            "before compute capability 9.0, they have ended.",
            orderLaunches<waitForOthers>);
  table.add("gdc_launch_dependents()",
            "Lets the kernels that depend on this launch begin. On the CPU, and on GPUs before compute capability 9.0, "
            "they begin when it has ended.",
            orderLaunches<letOthersBegin>);
}

} // namespace nacre
