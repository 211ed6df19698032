// Kernels that lean on independent threads, on functions of CUDA's headers and on what debuggers' code contains. Compiled for
// several chips, optimized and for debuggers (-G).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void spin_global(volatile int *flag, int *out) {
  int t = threadIdx.x;
  if (t == 0) {
    while (*flag == 0) {
    }
    out[0] = 7;
  } else if (t == 1) {
    *flag = 1;
  }
  __syncwarp();
  out[t + 1] = t;
}

extern "C" __global__ void spin_shared(int *out) {
  __shared__ volatile int flag;
  int t = threadIdx.x;
  if (t == 0)
    flag = 0;
  __syncwarp();
  if (t == 0) {
    while (flag == 0) {
    }
  } else if (t == 1) {
    flag = 9;
  }
  __syncwarp();
  out[t] = flag + t;
}

// Each lane waits for the one below it.
extern "C" __global__ void chain(int *out) {
  __shared__ volatile int turn;
  int t = threadIdx.x;
  if (t == 0)
    turn = 0;
  __syncthreads();
  while (turn != t) {
  }
  out[t] = turn * 3;
  __threadfence_block();
  turn = t + 1;
  __syncthreads();
}

extern "C" __global__ void tiles(const int *x, int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int value = x[block.thread_rank()];
  for (int i = 8; i; i >>= 1)
    value += tile.shfl_down(value, i);
  value = tile.shfl(value, 0);
  if (tile.meta_group_rank() == 0)
    value = cg::reduce(tile, value, cg::plus<int>());
  block.sync();
  out[block.thread_rank()] = value;
}

// Tiles of several warps meet in the part of shared memory that belongs to the system.
extern "C" __global__ void wide_tiles(const int *x, int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<64>(block);
  int sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
  tile.sync();
  out[block.thread_rank()] = sum;
}

extern "C" __global__ void coalesced(int *out) {
  int t = threadIdx.x;
  if (t % 3 == 0) {
    auto group = cg::coalesced_threads();
    out[t] = group.shfl(t, group.size() - 1) * 100 + group.thread_rank();
  }
}

extern "C" __global__ void whole_grid(int *x, int *out) {
  auto grid = cg::this_grid();
  x[grid.thread_rank()] = static_cast<int>(grid.thread_rank());
  grid.sync();
  out[grid.thread_rank()] = x[grid.size() - 1 - grid.thread_rank()];
}

extern "C" __global__ void video(const unsigned *x, const unsigned *y, unsigned *out, int n) {
  int t = threadIdx.x;
  unsigned a = x[t], b = y[t];
  out[t] = __vabsdiffu4(a, b);
  out[t + n] = __vsadu4(a, b);
  out[t + 2 * n] = __vabsdiffs4(a, b);
  out[t + 3 * n] = __vadd4(a, b);
  out[t + 4 * n] = __vaddss2(a, b);
  out[t + 5 * n] = __vmaxu4(a, b);
  out[t + 6 * n] = __vcmpgtu4(a, b);
  out[t + 7 * n] = __vavgu4(a, b);
}

extern "C" __global__ void stack(int *out, int n) {
  int *p = static_cast<int *>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i)
    p[i] = i * threadIdx.x;
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += p[(i * 7) % n];
  out[threadIdx.x] = sum;
}

extern "C" __global__ void stack_past_the_end(int *out, int n) {
  int *p = static_cast<int *>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i)
    p[i] = i;
  out[threadIdx.x] = p[n + threadIdx.x % 2]; // past the end
}

extern "C" __global__ void local_past_the_end(int *out, int n) {
  int a[5];
  for (int i = 0; i < 5; ++i)
    a[i] = i * n;
  out[threadIdx.x] = a[threadIdx.x % 5 + n]; // past the end
}

extern "C" __global__ void shared_past_the_end(int *out, int n) {
  __shared__ int a[32], b[32];
  a[threadIdx.x] = b[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x + n] + b[threadIdx.x]; // past the end
}

extern "C" __global__ void traps(const int *x) {
  if (x[threadIdx.x] < 0)
    __trap(); // the trap
}

extern "C" __global__ void exited_lane(const int *x, int *out) {
  int t = threadIdx.x;
  if (t >= 20)
    return;
  out[t] = __shfl_sync(0xffffffffu, x[t], 25); // reads an exited lane
}

extern "C" __global__ void block_race(int *x) {
  int t = threadIdx.x;
  x[t] = t; // the write
  x[t + blockDim.x] = x[blockDim.x - 1 - t];
}
