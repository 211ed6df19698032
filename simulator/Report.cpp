// Findings and counters: collected, shown as text and as JSON.
#include "simulator/Machine.h"
#include <algorithm>
#include <map>

namespace nacre::simulator {

const char *nameOf(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::SharedRace:
    return "shared-race";
  case FindingKind::ProxyRace:
    return "proxy-race";
  case FindingKind::GlobalRace:
    return "global-race";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::BarrierMismatch:
    return "barrier-mismatch";
  case FindingKind::DivergentBarrier:
    return "divergent-barrier";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::MbarrierMisuse:
    return "mbarrier-misuse";
  case FindingKind::WgmmaInFlight:
    return "wgmma-in-flight";
  case FindingKind::WgmmaFence:
    return "wgmma-fence";
  case FindingKind::DescriptorError:
    return "descriptor";
  case FindingKind::TensorMapError:
    return "tensor-map";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::AssertionFailed:
    return "assertion-failed";
  case FindingKind::ReadOnlyStore:
    return "read-only-store";
  case FindingKind::SynchronizationMisuse:
    return "synchronization-misuse";
  case FindingKind::RegisterPool:
    return "register-pool";
  case FindingKind::LimitReached:
    return "limit-reached";
  }
  return "unknown";
}

std::string SourcePlace::text() const {
  std::string ptx = "PTX line " + std::to_string(ptxLine);
  if (file.empty())
    return ptx;
  if (!innerFile.empty())
    ptx += ", in " + innerFile + ":" + std::to_string(innerLine);
  return file + ":" + std::to_string(line) + (column ? ":" + std::to_string(column) : "") + " (" + ptx + ")";
}

// A header of the CUDA toolkit, wherever that is installed, or of a compiler's standard library.
static bool isLibrary(std::string_view file) {
  for (std::string_view part : {"-linux/include/", "/include/cccl/", "/usr/include/", "/usr/lib/",
                                "/site-packages/nvidia/", "/triton/language/", "/nacre/language/"})
    if (file.find(part) != std::string_view::npos)
      return true;
  static constexpr std::string_view toolkit = "/cuda"; // with a version or without
  for (size_t at = file.find(toolkit); at != std::string_view::npos; at = file.find(toolkit, at + 1)) {
    size_t end = file.find_first_not_of("-.0123456789", at + toolkit.size());
    if (end != std::string_view::npos && file.substr(end).starts_with("/include/"))
      return true;
  }
  return false;
}

void SyntaxModule::findOwnPlaces() {
  std::map<uint32_t, bool> libraries;
  for (auto &[number, name] : files)
    libraries[number] = isLibrary(name);
  ownPlaces.resize(places.size());
  for (uint32_t place = 1; place < places.size(); ++place) { // what it is inlined at comes before it
    auto library = libraries.find(places[place].file);
    ownPlaces[place] = library != libraries.end() && library->second ? ownPlaces[places[place].inlinedAt] : place;
  }
}

// The user's line: where the instruction stands, or the call, inlined or not, that it belongs to.
SourcePlace Program::place(uint32_t op, const Frame *frame) const {
  SourcePlace result;
  if (op >= infos.size())
    return result;
  result.ptxLine = infos[op].instruction->line;
  uint32_t inner = infos[op].instruction->place, own = syntax->ownPlace(inner);
  for (; !own && frame && frame->parent; frame = frame->parent)
    own = syntax->ownPlace(infos[frame->returnPc - 1].instruction->place);
  auto fileOf = [&](uint32_t place) {
    auto file = syntax->files.find(syntax->places[place].file);
    return file != syntax->files.end() ? file->second : "file " + std::to_string(syntax->places[place].file);
  };
  if (!own)
    own = inner;
  if (!own)
    return result;
  result.file = fileOf(own);
  result.line = syntax->places[own].line;
  result.column = syntax->places[own].column;
  if (inner && inner != own && syntax->ownPlace(inner) != inner) {
    result.innerFile = fileOf(inner);
    result.innerLine = syntax->places[inner].line;
  }
  return result;
}

uint32_t Program::raceKey(uint32_t op) const {
  uint32_t own = op < infos.size() ? syntax->ownPlace(infos[op].instruction->place) : 0;
  if (!own)
    return op;
  if (firstPlaces.empty()) { // the first place of each line
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known;
    firstPlaces.resize(syntax->places.size());
    for (uint32_t i = 0; i < firstPlaces.size(); ++i) {
      const Place &place = syntax->places[i];
      firstPlaces[i] = known.try_emplace({place.file, place.line, place.column}, i).first->second;
    }
  }
  return 0x80000000u | firstPlaces[own];
}

uint32_t placeOf(const Warp &warp) {
  const Frame *frame = warp.frame;
  if (!frame || !frame->parent)
    return warp.pc;
  const Program &program = *warp.program;
  auto isOwn = [&](uint32_t op) { return program.syntax->ownPlace(program.infos[op].instruction->place) != 0; };
  uint32_t op = warp.pc;
  for (; !isOwn(op) && frame->parent; frame = frame->parent)
    op = frame->returnPc - 1;
  return isOwn(op) ? op : warp.pc;
}

void Program::findLines() {
  if (lineOf.size() == ops.size())
    return;
  lineOf.resize(ops.size());
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known; // file and line, or the PTX line
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const Instruction &instruction = *infos[op].instruction;
    uint32_t own = syntax->ownPlace(instruction.place);
    const Place &at = syntax->places[own ? own : instruction.place];
    auto [found, isNew] = known.try_emplace({at.file, at.line, at.line ? 0 : instruction.line}, 0);
    if (isNew) {
      found->second = static_cast<uint32_t>(lines.size());
      lines.push_back(place(op));
      lines.back().column = 0;
      lines.back().innerFile.clear();
    }
    lineOf[op] = found->second;
  }
}

void LaunchState::reportAt(FindingKind kind, std::string message, uint32_t op, uint32_t otherOp, const Block *block,
                           const Warp *warp, uint32_t lane, const SourcePlace *place) {
  std::lock_guard lock(mutex);
  bool isHere = warp && warp->pc == op;
  FindingKey key{kind, op, otherOp};
  if (kind == FindingKind::SharedRace || kind == FindingKind::ProxyRace || kind == FindingKind::GlobalRace) {
    // A race is one, whichever access comes second and however often a loop was unrolled.
    key.op = program->raceKey(isHere ? placeOf(*warp) : op), key.other = program->raceKey(otherOp);
    if (key.op > key.other)
      std::swap(key.op, key.other);
  }
  auto [known, isNew] = findingKeys.try_emplace(key, findings.size());
  if (!isNew) {
    if (known->second < findings.size())
      ++findings[known->second].count;
    return;
  }
  if (findings.size() >= launch->findingLimit) {
    known->second = ~size_t(0);
    return;
  }
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.place = place ? *place : program->place(op, isHere ? warp->frame : nullptr);
  if (otherOp != ~0u)
    finding.other = program->place(otherOp);
  if (op < program->infos.size())
    finding.instruction = std::string(program->infos[op].instruction->text.substr(0, 200));
  if (block)
    finding.block = block->id;
  if (warp) {
    uint32_t thread = warp->index * laneCount + lane;
    finding.thread = {thread % this->block.x, thread / this->block.x % this->block.y,
                      thread / this->block.x / this->block.y};
    finding.hasThread = true;
  }
  findings.push_back(std::move(finding));
}

void LaunchState::report(const Warp &warp, uint32_t lane, FindingKind kind, std::string message, uint32_t otherOp) {
  reportAt(kind, std::move(message), warp.pc, otherOp, warp.block, &warp, lane);
}

void collectCounters(const LaunchState &state, const Worker &worker, Counters &counters) {
  uint64_t byClass[size_t(InstructionClass::Count)] = {};
  std::vector<LineCounters> lines(state.counters ? state.program->lines.size() : 0);
  for (size_t i = 0; i < worker.counters.size(); ++i) {
    const OpCounters &op = worker.counters[i];
    InstructionClass kind = state.program->ops[i].kind;
    if (kind == InstructionClass::Count || op.executions == 0)
      continue;
    byClass[size_t(kind)] += op.executions;
    counters.warpInstructions += op.executions;
    counters.threadInstructions += op.threads;
    counters.globalAccesses += op.accesses, counters.globalSectors += op.units, counters.idealSectors += op.idealUnits;
    counters.sharedAccesses += op.sharedAccesses, counters.sharedWavefronts += op.wavefronts;
    counters.idealWavefronts += op.idealWavefronts;
    if (!state.counters)
      continue;
    LineCounters &line = lines[state.program->lineOf[i]];
    line.warpInstructions += op.executions, line.threadInstructions += op.threads;
    line.globalAccesses += op.accesses, line.globalSectors += op.units, line.idealSectors += op.idealUnits;
    line.sharedAccesses += op.sharedAccesses, line.sharedWavefronts += op.wavefronts;
    line.idealWavefronts += op.idealWavefronts;
  }
  for (size_t i = 0; i < size_t(InstructionClass::Count); ++i)
    if (byClass[i])
      counters.byClass.emplace_back(nameOf(static_cast<InstructionClass>(i)), byClass[i]);
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].warpInstructions) {
      lines[i].place = state.program->lines[i];
      counters.lines.push_back(std::move(lines[i]));
    }
  std::sort(counters.lines.begin(), counters.lines.end(), [](const LineCounters &a, const LineCounters &b) {
    return std::tie(a.place.file, a.place.line, a.place.ptxLine) <
           std::tie(b.place.file, b.place.line, b.place.ptxLine);
  });
  counters.bulkBytes = worker.bulkBytes;
  counters.barriers = worker.barriers;
}

static std::string dimensions(const Dimensions &d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

std::string Report::text() const {
  std::string out;
  for (const Finding &finding : findings) {
    out += finding.place.text() + ": " + nameOf(finding.kind) + ": " + finding.message + "\n";
    out += "    in `" + finding.instruction + "`, block " + dimensions(finding.block);
    if (finding.hasThread)
      out += ", thread " + dimensions(finding.thread);
    if (finding.count > 1)
      out += "; " + std::to_string(finding.count) + " times";
    out += "\n";
    if (finding.other.ptxLine)
      out += (finding.kind == FindingKind::Uninitialized || finding.kind == FindingKind::SynchronizationMisuse
                  ? "    its use: "
                  : "    the other access: ") +
             finding.other.text() + "\n";
  }
  uint64_t all = findings.size() + moreFindings;
  out += kernel + ": " + (completed ? "completed" : "stopped early") + ", " + std::to_string(all) + " finding" +
         (all == 1 ? "" : "s");
  if (moreFindings)
    out += " (" + std::to_string(moreFindings) + " past the limit are not shown)";
  char line[256];
  std::snprintf(line, sizeof line, "; %llu warp instructions, %llu thread instructions, %.3f s\n",
                static_cast<unsigned long long>(counters.warpInstructions),
                static_cast<unsigned long long>(counters.threadInstructions), seconds);
  out += line;
  std::snprintf(
      line, sizeof line,
      "  global: %llu accesses, %llu sectors (%llu at best); shared: %llu accesses, %llu bank conflicts; bulk copies: "
      "%llu bytes\n",
      static_cast<unsigned long long>(counters.globalAccesses), static_cast<unsigned long long>(counters.globalSectors),
      static_cast<unsigned long long>(counters.idealSectors), static_cast<unsigned long long>(counters.sharedAccesses),
      static_cast<unsigned long long>(counters.bankConflicts()), static_cast<unsigned long long>(counters.bulkBytes));
  out += line;
  out += "  instructions:";
  for (auto &[name, count] : counters.byClass)
    out += " " + name + " " + std::to_string(count) + (&name == &counters.byClass.back().first ? "" : ",");
  out += "\n";
  return out;
}

static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else
      out += c;
  }
  return out + "\"";
}
static std::string json(const SourcePlace &place) {
  return "{\"file\": " + quoted(place.file) + ", \"line\": " + std::to_string(place.line) +
         ", \"column\": " + std::to_string(place.column) + ", \"ptx_line\": " + std::to_string(place.ptxLine) +
         ", \"inner_file\": " + quoted(place.innerFile) + ", \"inner_line\": " + std::to_string(place.innerLine) + "}";
}
static std::string json(const Dimensions &d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "]";
}
template <typename T> static std::string accessCounters(const T &c) {
  return "\"warp_instructions\": " + std::to_string(c.warpInstructions) +
         ", \"thread_instructions\": " + std::to_string(c.threadInstructions) +
         ", \"global_accesses\": " + std::to_string(c.globalAccesses) +
         ", \"global_sectors\": " + std::to_string(c.globalSectors) +
         ", \"ideal_sectors\": " + std::to_string(c.idealSectors) +
         ", \"shared_accesses\": " + std::to_string(c.sharedAccesses) +
         ", \"shared_wavefronts\": " + std::to_string(c.sharedWavefronts) +
         ", \"bank_conflicts\": " + std::to_string(c.sharedWavefronts - c.idealWavefronts);
}

std::string Report::json() const {
  using simulator::json;
  std::string out = "{\"version\": 1, \"kernel\": " + quoted(kernel) +
                    ", \"completed\": " + (completed ? "true" : "false") + ", \"seconds\": " + std::to_string(seconds) +
                    ",\n \"findings\": [";
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding &finding = findings[i];
    out += std::string(i ? ",\n  " : "\n  ") + "{\"kind\": " + quoted(nameOf(finding.kind)) +
           ", \"message\": " + quoted(finding.message) + ", \"place\": " + json(finding.place) +
           ", \"other\": " + (finding.other.ptxLine ? json(finding.other) : "null") +
           ", \"instruction\": " + quoted(finding.instruction) + ", \"block\": " + json(finding.block) +
           ", \"thread\": " + (finding.hasThread ? json(finding.thread) : "null") +
           ", \"count\": " + std::to_string(finding.count) + "}";
  }
  out += "],\n \"more_findings\": " + std::to_string(moreFindings) + ",\n \"counters\": {" + accessCounters(counters) +
         ", \"bulk_bytes\": " + std::to_string(counters.bulkBytes) +
         ", \"barriers\": " + std::to_string(counters.barriers) + ", \"classes\": {";
  for (size_t i = 0; i < counters.byClass.size(); ++i)
    out += (i ? ", " : "") + quoted(counters.byClass[i].first) + ": " + std::to_string(counters.byClass[i].second);
  out += "}},\n \"lines\": [";
  for (size_t i = 0; i < counters.lines.size(); ++i)
    out += std::string(i ? ",\n  " : "\n  ") + "{\"place\": " + json(counters.lines[i].place) + ", " +
           accessCounters(counters.lines[i]) + "}";
  return out + "]}\n";
}

} // namespace nacre::simulator
