// What the mock of NVIDIA's driver tells the mock of CUPTI.
#pragma once

#include <cstdint>

// A launch begins; its number. It then has a kernel, and ends.
uint32_t mockCuptiLaunch();
void mockCuptiLaunched(uint32_t launch);
void mockCuptiKernel(uint32_t launch, int device, uint64_t stream, const char *name);
