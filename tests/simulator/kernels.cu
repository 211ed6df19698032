// CUDA kernels for test_cuda.py: compiled to PTX where nvcc is installed.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

KERNEL reduce(const float *x, float *out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  for (int step = 16; step; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int step = 16; step; step /= 2)
      sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

KERNEL scan(const int *x, int *out, int n) {
  extern __shared__ int data[];
  int t = threadIdx.x;
  data[t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    int other = t >= step ? data[t - step] : 0;
    __syncthreads();
    data[t] += other;
    __syncthreads();
  }
  if (t < n)
    out[t] = data[t];
}

KERNEL histogram(const uint8_t *x, uint32_t *bins, int n) {
  __shared__ uint32_t own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[x[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (own[i])
      atomicAdd(&bins[i], own[i]);
}

KERNEL tiled_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float ta[16][17], tb[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    ta[threadIdx.y][threadIdx.x] = row < m && k0 + threadIdx.x < k ? a[row * k + k0 + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < k && column < n ? b[(k0 + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}

// The transpose whose columns all lie in one bank, for the counters.
KERNEL transpose_conflicts(const float *x, float *out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__device__ uint32_t address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// One warp: c[16][8] = a[16][16] b[16][8], through ldmatrix and mma.sync.
KERNEL warp_mma(const __half *a, const __half *b, float *c) {
  __shared__ __align__(16) __half sa[16 * 16], sb[16 * 8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    sa[i] = a[i];
  for (int i = lane; i < 128; i += 32)
    sb[i] = b[i];
  __syncwarp();
  uint32_t fa[4], fb[2];
  float d[4] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(address(sa + lane % 16 * 16 + lane / 16 * 8)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(address(sb + lane % 16 * 8)));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; ++i)
    c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// A ring of four buffers filled by cp.async.
KERNEL pipeline(const float4 *x, float *out, int rounds) {
  __shared__ float4 ring[4][128];
  int t = threadIdx.x;
  auto fetch = [&](int round) {
    if (round < rounds)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&ring[round % 4][t])), "l"(x + round * 128 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int i = 0; i < 3; ++i)
    fetch(i);
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    float4 v = ring[round % 4][127 - t];
    sum += v.x + v.y + v.z + v.w;
    fetch(round + 3);
  }
  out[t] = sum;
}

// A pipeline whose buffers are signalled by mbarriers: one warp copies, the others add.
KERNEL bulk_pipeline(const float *x, float *out, int rounds) {
  __shared__ __align__(128) float ring[2][256];
  __shared__ __align__(8) uint64_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(address(&empty[i])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  auto wait = [&](uint64_t *barrier, int parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN%=;\n}" ::"r"(address(barrier)), "r"(parity) : "memory");
  };
  if (t >= 64) {
    if (t == 64)
      for (int round = 0; round < rounds; ++round) {
        wait(&empty[round % 2], (round / 2 & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(address(&full[round % 2])) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(address(ring[round % 2])),
                     "l"(x + round * 256), "r"(address(&full[round % 2]))
                     : "memory");
      }
    return;
  }
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    wait(&full[round % 2], round / 2 & 1);
    for (int i = 0; i < 4; ++i)
      sum += ring[round % 2][i * 64 + t];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&empty[round % 2])) : "memory");
  }
  out[t] = sum;
}

__device__ int lock;
KERNEL locked_count(int *counter) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0, 1) != 0)
      ;
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
}
// Lanes of one warp wait for each other.
KERNEL lane_lock(int *counter) {
  __shared__ int mutex, value;
  if (threadIdx.x == 0)
    mutex = 0, value = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      __threadfence_block();
      volatile int *v = &value;
      *v = *v + 1;
      __threadfence_block();
      atomicExch(&mutex, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    *counter = value;
}
// Every block waits until all have come.
KERNEL grid_barrier(int *arrived, const int *x, int *partial, int *out) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x] * 2;
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile int *)arrived < gridDim.x)
      ;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i)
      sum += partial[i];
    out[blockIdx.x] = sum;
  }
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float squared(float x) { return x * x; }
__device__ float (*const functions[2])(float) = {twice, squared};
KERNEL pointers(const float *x, float *out) { out[threadIdx.x] = functions[threadIdx.x % 2](x[threadIdx.x]); }

KERNEL switches(const int *x, int *out) {
  int v = x[threadIdx.x], r;
  switch (v) {
  case 0: r = v * 3 + 1; break;
  case 1: r = 100 / (v + 1); break;
  case 2: r = v ^ 77; break;
  case 3: r = v << 5; break;
  case 4: r = -v; break;
  case 5: r = __popc(v); break;
  case 6: r = __clz(v); break;
  case 7: r = __brev(v); break;
  default: r = 12345;
  }
  out[threadIdx.x] = r;
}

KERNEL local_arrays(const int *x, int *out) {
  int values[16];
  for (int i = 0; i < 16; ++i)
    values[i] = x[(threadIdx.x + i) % blockDim.x];
  for (int i = 0; i < 16; ++i) // sorted, with indices the compiler cannot know
    for (int j = x[threadIdx.x] * 0; j < 15; ++j)
      if (values[j] > values[j + 1]) {
        int swap = values[j];
        values[j] = values[j + 1];
        values[j + 1] = swap;
      }
  out[threadIdx.x] = values[x[threadIdx.x] & 15];
}

KERNEL prints(int n) {
  if (threadIdx.x < n)
    printf("thread %d of %s: %.2f %lld %x%%\n", threadIdx.x, "block", threadIdx.x * 0.5, 1ll << 40, 255u);
}
KERNEL asserts(const int *x) { assert(x[threadIdx.x] >= 0); }

KERNEL halves(const __half *x, const __nv_bfloat16 *y, __half *out, __nv_bfloat16 *other) {
  int t = threadIdx.x;
  __half2 v = __halves2half2(x[2 * t], x[2 * t + 1]);
  v = __hfma2(v, v, __hmax2(v, __float2half2_rn(0.5f)));
  out[2 * t] = __low2half(v), out[2 * t + 1] = __high2half(v);
  other[t] = __hadd(__hmul(y[t], y[t]), __float2bfloat16(1.5f));
}

KERNEL mathematics(const float *x, float *out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  float v = x[t];
  out[t] = expf(v), out[n + t] = logf(fabsf(v) + 0.1f), out[2 * n + t] = sinf(v), out[3 * n + t] = rsqrtf(fabsf(v) + 1), out[4 * n + t] = erff(v);
  out[5 * n + t] = tanhf(v), out[6 * n + t] = powf(fabsf(v), 1.7f), out[7 * n + t] = v / 3.0f;
}

// Blocks of a cluster add up what the others hold.
KERNEL __cluster_dims__(4, 1, 1) distributed(const int *x, int *out) {
  __shared__ int own;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0)
    own = x[blockIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int other = 0; other < 4; ++other) {
      uint32_t remote;
      int value;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address(&own)), "r"(other));
      asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(value) : "r"(remote));
      sum += value * (other + 1);
    }
    out[blockIdx.x] = sum;
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// 64 x 8 = A[64][64] B[8][64]', tiles brought by TMA with the 128-byte swizzle, multiplied by wgmma, written back by TMA.
struct __align__(64) Map {
  char bytes[128];
};
KERNEL warpgroup_matmul(const __grid_constant__ Map ma, const __grid_constant__ Map mb, float *c) {
  __shared__ __align__(1024) __half sa[64 * 64], sb[8 * 64];
  __shared__ __align__(8) uint64_t full;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(address(&full)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full)), "r"(64 * 128 + 8 * 128) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];" ::"r"(address(sa)), "l"(&ma), "r"(0),
                 "r"(address(&full))
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];" ::"r"(address(sb)), "l"(&mb), "r"(0),
                 "r"(address(&full))
                 : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nAGAIN%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN%=;\n}" ::"r"(address(&full)) : "memory");
  auto descriptor = [](uint32_t at) { return uint64_t((at & 0x3FFFF) >> 4) | uint64_t(1) << 16 | uint64_t(64) << 32 | uint64_t(1) << 62; };
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory"); // after the zeros
  for (int k = 0; k < 4; ++k)
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor(address(sa)) + 2 * k), "l"(descriptor(address(sb)) + 2 * k));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
  c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1], c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}
