// See PcSampling.h.
#include "runtime/devices/cuda/PcSampling.h"
#include "runtime/Events.h"
#include "runtime/devices/cuda/Cupti.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace nacre::cuda {

namespace {

struct StallSamples {
  uint32_t reason, count;
};

struct PcSamples {
  size_t size;
  uint64_t cubin, offset; // of the instruction in its function
  uint32_t functionIndex, padding;
  char *function;
  size_t reasons;
  StallSamples *stalls;
  uint32_t correlation;
};

struct SampledData {
  size_t size, room;
  uint64_t samples, dropped;
  size_t taken, remaining;
  uint64_t range;
  PcSamples *pcs;
  uint64_t ofOthers;
  uint8_t isFull;
};

struct Attribute {
  uint32_t kind;
  CuptiResult status = 0;
  union {
    uint64_t whole[3];
    uint32_t small;
    size_t large;
    void *pointer;
    struct {
      size_t count;
      uint32_t *indices;
    } reasons;
  };
};
enum AttributeKind : uint32_t { Period = 1, Reasons = 2, Mode = 5, StartAndStop = 6, Format = 7, Buffer = 8 };

struct Configuration : CuptiSamplingCall {
  size_t count;
  Attribute *attributes;
};
struct DataCall : CuptiSamplingCall {
  void *data;
};
struct ReasonCountCall : CuptiSamplingCall {
  size_t *count;
};
struct ReasonsCall : CuptiSamplingCall {
  size_t count;
  uint32_t *indices;
  char **names;
};
struct LineCall {
  size_t size;
  const void *cubin;
  const char *function;
  size_t bytes;
  uint32_t line;
  uint64_t offset;
  char *file, *folder;
};
struct CrcCall {
  size_t size, bytes;
  const void *cubin;
  uint64_t crc;
};

constexpr size_t mostPcs = 8192, reasonNameBytes = 128;

// A context that is sampled, with the memory that CUPTI writes samples to.
struct Context {
  std::vector<std::vector<StallSamples>> stalls;
  std::vector<PcSamples> pcs;
  SampledData data;
  std::map<uint32_t, std::string> reasons; // "long_scoreboard_not_issued"
  std::string problem;
  uint64_t depth = 0; // launches begun and not ended: CUDA's runtime calls its driver
};

struct Place {
  std::string file;
  uint32_t line;
};

std::mutex lock; // guards what follows
std::atomic<bool> isOn = false;
uint32_t period = 10; // a power of two
std::map<void *, std::unique_ptr<Context>> contexts;
std::map<uint64_t, std::string> cubins; // by CUPTI's number of a cubin
std::map<std::pair<uint64_t, uint64_t>, Place> places;

template <typename Call> Call callOf(void *context) {
  Call call{};
  call.size = sizeof(Call);
  call.context = context;
  return call;
}

std::string enable(void *context, Context &made) {
  const CuptiLibrary &library = cupti();
  auto enabling = callOf<CuptiSamplingCall>(context);
  if (CuptiResult result = library.cuptiPCSamplingEnable(&enabling))
    return describeCupti(result);
  size_t count = 0;
  auto counting = callOf<ReasonCountCall>(context);
  counting.count = &count;
  if (CuptiResult result = library.cuptiPCSamplingGetNumStallReasons(&counting))
    return describeCupti(result);
  std::vector<uint32_t> indices(count);
  std::vector<std::string> texts(count, std::string(reasonNameBytes, '\0'));
  std::vector<char *> names;
  for (std::string &text : texts)
    names.push_back(text.data());
  auto naming = callOf<ReasonsCall>(context);
  naming.count = count;
  naming.indices = indices.data();
  naming.names = names.data();
  if (CuptiResult result = library.cuptiPCSamplingGetStallReasons(&naming))
    return describeCupti(result);
  for (size_t i = 0; i < count; ++i) {
    llvm::StringRef name(texts[i].c_str());
    name.consume_front("smsp__pcsamp_warps_issue_stalled_");
    name.consume_front("smsp__pcsamp_");
    made.reasons[indices[i]] = name.str();
  }
  made.stalls.assign(mostPcs, std::vector<StallSamples>(count));
  made.pcs.resize(mostPcs);
  for (size_t i = 0; i < mostPcs; ++i) {
    made.pcs[i] = {};
    made.pcs[i].size = sizeof(PcSamples);
    made.pcs[i].stalls = made.stalls[i].data();
  }
  made.data = {};
  made.data.size = sizeof(SampledData);
  made.data.room = mostPcs;
  made.data.pcs = made.pcs.data();
  Attribute attributes[6] = {};
  attributes[0].kind = Period;
  attributes[0].small = period;
  attributes[1].kind = Reasons;
  attributes[1].reasons = {count, indices.data()};
  attributes[2].kind = Mode;
  attributes[2].small = 1; // kernels are not made to wait for each other by CUPTI: a launch is, by start and stop
  attributes[3].kind = StartAndStop;
  attributes[3].small = 1;
  attributes[4].kind = Format;
  attributes[4].small = 1; // parsed
  attributes[5].kind = Buffer;
  attributes[5].pointer = &made.data;
  auto configuring = callOf<Configuration>(context);
  configuring.count = std::size(attributes);
  configuring.attributes = attributes;
  if (CuptiResult result = library.cuptiPCSamplingSetConfigurationAttribute(&configuring))
    return describeCupti(result);
  return "";
}

// The line of an instruction; of a module that was loaded before sampling began it is not known.
const Place &placeOf(const PcSamples &pc) {
  auto [found, isNew] = places.try_emplace({pc.cubin, pc.offset ^ uint64_t(pc.functionIndex) << 40}, Place{"", 0});
  auto cubin = cubins.find(pc.cubin);
  if (!isNew || cubin == cubins.end())
    return found->second;
  LineCall call{};
  call.size = sizeof(LineCall);
  call.cubin = cubin->second.data();
  call.bytes = cubin->second.size();
  call.function = pc.function;
  call.offset = pc.offset;
  if (cupti().cuptiGetSassToSourceCorrelation(&call) == 0 && call.file) {
    std::string folder = call.folder ? call.folder : "";
    found->second = {call.file[0] == '/' || folder.empty() ? call.file : folder + "/" + call.file, call.line};
    std::free(call.file);
    std::free(call.folder);
  }
  return found->second;
}

using Lines = std::map<std::pair<std::string, uint32_t>, DeviceLineSamples>;

void add(const Context &context, const PcSamples &pc, std::map<std::string, Lines> &kernels) {
  const Place &place = placeOf(pc);
  std::string kernel = llvm::demangle(pc.function ? pc.function : "");
  DeviceLineSamples &line = kernels[kernel][{place.file, place.line}];
  line.file = place.file;
  line.line = place.line;
  for (size_t i = 0; i < pc.reasons; ++i) {
    auto reason = context.reasons.find(pc.stalls[i].reason);
    llvm::StringRef name = reason == context.reasons.end() ? "unknown" : llvm::StringRef(reason->second);
    if (name.consume_back("_not_issued")) { // a part of those without the ending
      line.stalled += pc.stalls[i].count;
      line.stalls[name.str()] += pc.stalls[i].count;
    } else {
      line.count += pc.stalls[i].count;
    }
  }
}

// Whether a call of CUPTI's went well; the first that does not is told, and the context is not sampled any more.
bool succeeded(Context &context, CuptiResult result) {
  if (result == 0)
    return true;
  context.problem = describeCupti(result);
  events::tell(KernelEvents, [&](EventListener &listener) { listener.samplingFailed(context.problem); });
  return false;
}

// Stops after a launch, and takes its samples: the stop leaves them in the buffer that was configured, as many as it
// holds.
void collect(void *context, Context &known, std::map<std::string, Lines> &kernels) {
  auto stopping = callOf<CuptiSamplingCall>(context);
  if (!succeeded(known, cupti().cuptiPCSamplingStop(&stopping)))
    return;
  for (bool isFirst = true; isFirst || known.data.taken > 0 || known.data.remaining > 0; isFirst = false) {
    for (size_t i = 0; i < std::min(known.data.taken, mostPcs); ++i)
      add(known, known.data.pcs[i], kernels);
    if (!isFirst && known.data.remaining == 0)
      break;
    auto reading = callOf<DataCall>(context);
    reading.data = &known.data;
    if (!succeeded(known, cupti().cuptiPCSamplingGetData(&reading)))
      return;
  }
}

} // namespace

std::string PcSampling::start(uint32_t cycles) {
  std::lock_guard<std::mutex> guard(lock);
  period = std::clamp(llvm::Log2_32_Ceil(std::max(cycles, 1u)), 5u, 31u);
  isOn = true;
  return "";
}

void PcSampling::stop() {
  std::lock_guard<std::mutex> guard(lock);
  if (!isOn)
    return;
  isOn = false;
  for (auto &[context, known] : contexts) {
    auto call = callOf<CuptiSamplingCall>(context);
    if (known->problem.empty())
      cupti().cuptiPCSamplingDisable(&call);
  }
  contexts.clear();
}

void PcSampling::moduleLoaded(const void *cubin, size_t bytes) {
  if (!isOn || !cubin || bytes == 0)
    return;
  CrcCall call{sizeof(CrcCall), bytes, cubin, 0};
  if (cupti().cuptiGetCubinCrc(&call) != 0)
    return;
  std::lock_guard<std::mutex> guard(lock);
  cubins.try_emplace(call.crc, static_cast<const char *>(cubin), bytes);
}

void PcSampling::launchBegins(void *context) {
  if (!isOn)
    return;
  std::lock_guard<std::mutex> guard(lock);
  std::unique_ptr<Context> &known = contexts[context];
  if (!known) {
    known = std::make_unique<Context>();
    known->problem = enable(context, *known);
    if (!known->problem.empty())
      events::tell(KernelEvents, [&](EventListener &listener) { listener.samplingFailed(known->problem); });
  }
  if (known->problem.empty() && known->depth++ == 0) {
    auto call = callOf<CuptiSamplingCall>(context);
    succeeded(*known, cupti().cuptiPCSamplingStart(&call));
  }
}

void PcSampling::launchEnds(void *context) {
  if (!isOn)
    return;
  std::map<std::string, Lines> kernels;
  {
    std::lock_guard<std::mutex> guard(lock);
    auto known = contexts.find(context);
    if (known == contexts.end() || !known->second->problem.empty() || known->second->depth == 0 ||
        --known->second->depth != 0)
      return;
    collect(context, *known->second, kernels);
  }
  for (auto &[kernel, lines] : kernels) {
    std::vector<DeviceLineSamples> sorted;
    for (auto &[place, line] : lines)
      sorted.push_back(std::move(line));
    DeviceSamples told{kernel, sorted};
    events::tell(KernelEvents, [&](EventListener &listener) { listener.kernelSamples(told); });
  }
}

} // namespace nacre::cuda
