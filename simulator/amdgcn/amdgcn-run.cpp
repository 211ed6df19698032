// amdgcn-run: runs a kernel of a code object in the simulator.
//
// A request is one line of JSON on standard input, its answer one line on standard output:
//   {"code": "add.hsaco", "kernel": "add", "groups": [4, 1, 1], "size": [256, 1, 1], "lds": 0, "checks": true,
//    "arguments": [{"file": "x.bin", "name": "x", "writable": true}, {"bytes": "e8030000"}]}
// An argument is a buffer, read from a file and written back where it is writable, or the bytes of a value in
// hexadecimal. The answer is {"findings": [...], "counters": {...}, "text": "..."}, or {"error": "..."}.
#include "simulator/amdgcn/Simulator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fstream>
#include <iostream>
#include <iterator>

using namespace nacre::simulator::amdgcn;
namespace json = llvm::json;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("the file " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

static Dimensions dimensionsOf(const json::Object &request, llvm::StringRef name) {
  uint32_t values[3] = {1, 1, 1};
  if (const json::Array *list = request.getArray(name))
    for (size_t i = 0; i < std::min<size_t>(3, list->size()); ++i)
      values[i] = static_cast<uint32_t>((*list)[i].getAsInteger().value_or(1));
  return {values[0], values[1], values[2]};
}

static json::Object answer(const Report &report) {
  json::Array findings;
  for (const Finding &finding : report.findings)
    findings.push_back(json::Object{{"kind", nameOf(finding.kind)},
                                    {"message", finding.message},
                                    {"place", finding.place},
                                    {"instruction", finding.instruction},
                                    {"count", static_cast<int64_t>(finding.count)}});
  const Counters &c = report.counters;
  auto number = [](uint64_t value) { return json::Value(static_cast<int64_t>(value)); };
  json::Object counters{{"wave_instructions", number(c.waveInstructions)},
                        {"vector", number(c.vector)},
                        {"matrix", number(c.matrix)},
                        {"global_lines", number(c.globalLines)},
                        {"ideal_lines", number(c.idealLines)},
                        {"lds_cycles", number(c.ldsCycles)},
                        {"bank_conflicts", number(c.bankConflicts())},
                        {"barriers", number(c.barriers)}};
  return json::Object{{"findings", std::move(findings)}, {"counters", std::move(counters)}, {"text", report.text()}};
}

static json::Object run(const json::Object &request) {
  std::unique_ptr<CodeObject> code = load(readFile(request.getString("code").value_or("").str()));
  Launch launch;
  launch.kernel = request.getString("kernel").value_or("").str();
  launch.groups = dimensionsOf(request, "groups");
  launch.groupSize = dimensionsOf(request, "size");
  launch.dynamicLdsBytes = static_cast<uint32_t>(request.getInteger("lds").value_or(0));
  launch.checks = request.getBoolean("checks").value_or(true);
  launch.instructionLimit = static_cast<uint64_t>(request.getInteger("limit").value_or(0));
  struct Buffer { // aligned as a GPU's allocations are
    std::string path;
    bool writable;
    std::vector<char> storage;
    char *data;
    size_t size;
    Buffer(std::string name, const std::string &content, bool writable)
        : path(std::move(name)), writable(writable), storage(content.size() + 256), size(content.size()) {
      auto address = reinterpret_cast<uintptr_t>(storage.data());
      data = storage.data() + (-address & 255);
      std::copy(content.begin(), content.end(), data);
    }
  };
  std::vector<std::unique_ptr<Buffer>> buffers;
  if (const json::Array *arguments = request.getArray("arguments"))
    for (const json::Value &value : *arguments) {
      const json::Object *argument = value.getAsObject();
      if (!argument)
        throw Error("an argument is no object");
      if (auto path = argument->getString("file")) {
        auto buffer = std::make_unique<Buffer>(path->str(), readFile(path->str()),
                                               argument->getBoolean("writable").value_or(true));
        launch.memory.push_back(
            {buffer->data, buffer->size, argument->getString("name").value_or(*path).str(), buffer->writable});
        launch.addPointer(buffer->data);
        buffers.push_back(std::move(buffer));
      } else {
        std::string bytes = llvm::fromHex(argument->getString("bytes").value_or(""));
        launch.addBytes(bytes.data(), bytes.size());
      }
    }
  Report report = code->run(launch);
  for (const auto &buffer : buffers)
    if (buffer->writable)
      std::ofstream(buffer->path, std::ios::binary).write(buffer->data, static_cast<std::streamsize>(buffer->size));
  return answer(report);
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json::Object result;
    llvm::Expected<json::Value> request = json::parse(line);
    if (!request || !request->getAsObject()) {
      llvm::consumeError(request.takeError());
      result = json::Object{{"error", "the request is no object of JSON"}};
    } else {
      try {
        result = run(*request->getAsObject());
      } catch (const std::exception &problem) {
        result = json::Object{{"error", std::string(problem.what())}};
      }
    }
    llvm::outs() << json::Value(std::move(result)) << "\n";
    llvm::outs().flush();
  }
}
