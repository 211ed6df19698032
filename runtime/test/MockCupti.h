// What the mock of NVIDIA's driver tells the mock of CUPTI.
#pragma once

#include <cstdint>

// A launch begins; its number. It then has a kernel.
uint32_t mockCuptiLaunch();
void mockCuptiKernel(uint32_t launch, int device, uint64_t stream, const char *name);
