// NVIDIA's driver, opened when a kernel needs it: nothing of CUDA is needed to build or to import. Only what is used is
// declared here, as cuda.h declares it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nacre::cuda {

using CuResult = int;
using CuDevice = int;
using CuContext = struct CuContextObject *;
using CuModule = struct CuModuleObject *;
using CuFunction = struct CuFunctionObject *;
using CuStream = struct CuStreamObject *;
using CuEvent = struct CuEventObject *;
using CuPointer = unsigned long long;

// cuLaunchKernelEx's configuration.
struct CuLaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int number;
  } value;
};
struct CuLaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CuStream stream;
  CuLaunchAttribute *attributes;
  unsigned attributeCount;
};

// The object by which a kernel's copies know an array; opaque.
struct alignas(64) CuTensorMap {
  std::byte bytes[128];
};

// Numbers of cuda.h's enumerations.
namespace code {
inline constexpr CuResult success = 0, invalidValue = 1, notInitialized = 3, deinitialized = 4, noDevice = 100,
                          invalidImage = 200, noBinaryForGpu = 209, invalidPtx = 218, jitCompilerNotFound = 221,
                          unsupportedPtxVersion = 222, outOfResources = 701, cooperativeTooLarge = 720;
inline constexpr int maximumThreads = 1, warpSize = 10, registersPerBlock = 12, clockRate = 13, multiprocessors = 16,
                     memoryClockRate = 36, memoryBusWidth = 37, capabilityMajor = 75, capabilityMinor = 76,
                     registersPerMultiprocessor = 82, cooperativeLaunch = 95, sharedBytesOptIn = 97;
inline constexpr int functionThreads = 0, functionLocalBytes = 3, functionRegisters = 4, functionSharedLimit = 8;
inline constexpr int attributeCooperative = 2, attributeSerialized = 6;
inline constexpr int pointerMemoryType = 2, pointerOrdinal = 9, hostMemory = 1, deviceMemory = 2;
inline constexpr int jitErrorLog = 5, jitErrorLogSize = 6;
inline constexpr int interleaveNone = 0, promotion128 = 2, promotion256 = 3;
} // namespace code

// The entry points: return type, name, version that is asked for, parameters.
#define NACRE_CUDA_ENTRY_POINTS(ENTRY)                                                                                 \
  ENTRY(cuInit, 2000, (unsigned))                                                                                      \
  ENTRY(cuDriverGetVersion, 2020, (int *))                                                                             \
  ENTRY(cuGetErrorName, 6000, (CuResult, const char **))                                                               \
  ENTRY(cuGetErrorString, 6000, (CuResult, const char **))                                                             \
  ENTRY(cuDeviceGetCount, 2000, (int *))                                                                               \
  ENTRY(cuDeviceGet, 2000, (CuDevice *, int))                                                                          \
  ENTRY(cuDeviceGetName, 2000, (char *, int, CuDevice))                                                                \
  ENTRY(cuDeviceGetAttribute, 2000, (int *, int, CuDevice))                                                            \
  ENTRY(cuDeviceTotalMem, 3020, (size_t *, CuDevice))                                                                  \
  ENTRY(cuDevicePrimaryCtxRetain, 7000, (CuContext *, CuDevice))                                                       \
  ENTRY(cuCtxGetCurrent, 4000, (CuContext *))                                                                          \
  ENTRY(cuCtxSetCurrent, 4000, (CuContext))                                                                            \
  ENTRY(cuCtxGetDevice, 2000, (CuDevice *))                                                                            \
  ENTRY(cuCtxSynchronize, 2000, ())                                                                                    \
  ENTRY(cuStreamSynchronize, 2000, (CuStream))                                                                         \
  ENTRY(cuModuleLoadDataEx, 2010, (CuModule *, const void *, unsigned, int *, void **))                                \
  ENTRY(cuModuleGetFunction, 2000, (CuFunction *, CuModule, const char *))                                             \
  ENTRY(cuModuleUnload, 2000, (CuModule))                                                                              \
  ENTRY(cuFuncGetAttribute, 2020, (int *, int, CuFunction))                                                            \
  ENTRY(cuFuncSetAttribute, 9000, (CuFunction, int, int))                                                              \
  ENTRY(                                                                                                               \
      cuLaunchKernel, 4000,                                                                                            \
      (CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream, void **, void **))  \
  ENTRY(cuLaunchKernelEx, 11060, (const CuLaunchConfig *, CuFunction, void **, void **))                               \
  ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (int *, CuFunction, int, size_t))                           \
  ENTRY(cuStreamIsCapturing, 10000, (CuStream, int *))                                                                 \
  ENTRY(cuEventCreate, 2000, (CuEvent *, unsigned))                                                                    \
  ENTRY(cuEventRecord, 2000, (CuEvent, CuStream))                                                                      \
  ENTRY(cuEventQuery, 2000, (CuEvent))                                                                                 \
  ENTRY(cuEventSynchronize, 2000, (CuEvent))                                                                           \
  ENTRY(cuEventElapsedTime, 2000, (float *, CuEvent, CuEvent))                                                         \
  ENTRY(cuPointerGetAttributes, 7000, (unsigned, int *, void **, CuPointer))                                           \
  ENTRY(cuMemAlloc, 3020, (CuPointer *, size_t))                                                                       \
  ENTRY(cuMemFree, 3020, (CuPointer))                                                                                  \
  ENTRY(cuMemAllocAsync, 11020, (CuPointer *, size_t, CuStream))                                                       \
  ENTRY(cuMemFreeAsync, 11020, (CuPointer, CuStream))                                                                  \
  ENTRY(cuMemcpyHtoD, 3020, (CuPointer, const void *, size_t))                                                         \
  ENTRY(cuMemcpyDtoH, 3020, (void *, CuPointer, size_t))                                                               \
  ENTRY(cuTensorMapEncodeTiled, 12000,                                                                                 \
        (CuTensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, \
         int, int, int, int))

struct DriverLibrary {
#define NACRE_CUDA_ENTRY(name, version, parameters) CuResult(*name) parameters = nullptr;
  NACRE_CUDA_ENTRY_POINTS(NACRE_CUDA_ENTRY)
#undef NACRE_CUDA_ENTRY

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  std::string describe(CuResult result) const;
};

// Null where there is no driver, or it has no devices; `why` says what is missing and what to do. Opened and started
// once; the library of NACRE_CUDA_DRIVER, where that is set.
const DriverLibrary *driverLibrary(std::string *why = nullptr);
// The same without opening it: null when nobody has.
const DriverLibrary *openedDriverLibrary();
// Whether the driver answers in this process, whoever started it (torch may have). Neither opens nor starts it.
bool isStarted();
// Whether this process is a child of one that had opened the driver: nothing of it may be used here.
bool isForked();
// From then on children know that they are such ones. Called once.
void markForkedChildren();

} // namespace nacre::cuda
