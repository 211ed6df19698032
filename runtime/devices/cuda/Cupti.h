// CUPTI, NVIDIA's library for tools, opened when somebody asks and not before: it and other tools that use it (Nsight,
// torch's profiler) may exclude each other. What its headers declare is declared here as far as it is used; these parts
// have been the same from CUDA 11 to CUDA 13.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace nacre::cuda {

using CuptiResult = int;
using CuptiSubscriber = void *;
using CuptiCallback = void (*)(void *, int domain, uint32_t function, const void *data);
using CuptiBufferRequested = void (*)(uint8_t **buffer, size_t *bytes, size_t *records);
using CuptiBufferCompleted = void (*)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used);
using CuptiClock = uint64_t (*)();

// Of the sampling functions: each takes a structure that begins with its size.
struct CuptiSamplingCall {
  size_t size;
  void *reserved;
  void *context;
};

#define NACRE_CUPTI_ENTRY_POINTS(ENTRY)                                                                                \
  ENTRY(cuptiSubscribe, (CuptiSubscriber *, CuptiCallback, void *))                                                    \
  ENTRY(cuptiUnsubscribe, (CuptiSubscriber))                                                                           \
  ENTRY(cuptiEnableCallback, (uint32_t, CuptiSubscriber, int, uint32_t))                                               \
  ENTRY(cuptiActivityRegisterCallbacks, (CuptiBufferRequested, CuptiBufferCompleted))                                  \
  ENTRY(cuptiActivityRegisterTimestampCallback, (CuptiClock))                                                          \
  ENTRY(cuptiActivityEnable, (uint32_t))                                                                               \
  ENTRY(cuptiActivityDisable, (uint32_t))                                                                              \
  ENTRY(cuptiActivityFlushAll, (uint32_t))                                                                             \
  ENTRY(cuptiActivityGetNextRecord, (uint8_t *, size_t, uint32_t **))                                                  \
  ENTRY(cuptiGetGraphNodeId, (void *, uint64_t *))                                                                     \
  ENTRY(cuptiPCSamplingSetConfigurationAttribute, (void *))                                                            \
  ENTRY(cuptiPCSamplingEnable, (CuptiSamplingCall *))                                                                  \
  ENTRY(cuptiPCSamplingDisable, (CuptiSamplingCall *))                                                                 \
  ENTRY(cuptiPCSamplingStart, (CuptiSamplingCall *))                                                                   \
  ENTRY(cuptiPCSamplingStop, (CuptiSamplingCall *))                                                                    \
  ENTRY(cuptiPCSamplingGetData, (void *))                                                                              \
  ENTRY(cuptiPCSamplingGetNumStallReasons, (void *))                                                                   \
  ENTRY(cuptiPCSamplingGetStallReasons, (void *))                                                                      \
  ENTRY(cuptiGetSassToSourceCorrelation, (void *))                                                                     \
  ENTRY(cuptiGetCubinCrc, (void *))                                                                                    \
  ENTRY(cuptiGetResultString, (CuptiResult, const char **))

struct CuptiLibrary {
#define NACRE_CUPTI_ENTRY(name, parameters) CuptiResult(*name) parameters = nullptr;
  NACRE_CUPTI_ENTRY_POINTS(NACRE_CUPTI_ENTRY)
#undef NACRE_CUPTI_ENTRY
  std::string path;
  std::string problem; // empty: it can be used
};

// Of the GPU that is looked at: some need a library of their own. Set before the first call of cupti().
extern std::atomic<int> cuptiCapability;

const CuptiLibrary &cupti();
// In words, with what to do.
std::string describeCupti(CuptiResult result);

} // namespace nacre::cuda
