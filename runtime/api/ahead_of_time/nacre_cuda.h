/* Kernels compiled ahead of time for NVIDIA GPUs, in C: what a program needs to launch them.

   `nacre compile --target cuda:90 --emit c` and `python -m nacre.tools.compile --target cuda:90` write this file,
   nacre_kernel.h and nacre_cuda.c beside the kernels they compile. The code is part of each kernel's .c file; nothing
   of CUDA is needed to build. The driver (libcuda.so.1, or what NACRE_CUDA_DRIVER names) is opened at the first launch:

       cc main.c add.*.c nacre_cuda.c -lpthread -ldl
*/
#ifndef NACRE_CUDA_H
#define NACRE_CUDA_H

#include "nacre_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the last call of this thread that gave NACRE_ERROR_DEVICE has to say; "" when none has. */
const char *nacre_cuda_error_text(void);

/* An array that the GPU copies in blocks, as one launch has it. Axes are in the kernel's order, the last one innermost.
 */
typedef struct {
  int element, element_bytes, rank, swizzle, fills_nan;
  uint64_t base;
  int64_t shape[5], strides[5]; /* in elements; the innermost stride is 1 */
  uint32_t box[5];
} nacre_cuda_array;

typedef struct {
  const void *image; /* a cubin, or PTX */
  const char *symbol;
  uint32_t threads, shared_bytes, argument_count, array_count;
  int cooperative, dependent;       /* how it must be launched */
  struct nacre_cuda_loaded *loaded; /* its code in each context. Kept by the functions below. */
} nacre_cuda_kernel;

/* Starts a kernel on a stream (CUstream or cudaStream_t; NULL: the default one) of the calling thread's context: that
   of the first GPU where there is none. Returns at once; what goes wrong while it runs is told by later calls of CUDA.
   `arguments` holds eight bytes for each. A grid with a zero runs nothing. */
nacre_result nacre_cuda_launch(nacre_cuda_kernel *kernel, void *stream, uint32_t grid_x, uint32_t grid_y,
                               uint32_t grid_z, const uint64_t *arguments, const nacre_cuda_array *arrays);
/* Loads its code in the calling thread's context, if it is not there: the first launch does, where nobody has. */
nacre_result nacre_cuda_load(nacre_cuda_kernel *kernel);
/* Unloads it everywhere. No launch of it may be under way. */
void nacre_cuda_unload(nacre_cuda_kernel *kernel);

/* Numbers of a launch (see nacre_cuda_array). They wrap. */
static inline int64_t nacre_cuda_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t nacre_cuda_subtract(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t nacre_cuda_multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static inline int64_t nacre_cuda_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t nacre_cuda_larger(int64_t a, int64_t b) { return a > b ? a : b; }
/* The lowest bits of a number. */
static inline int64_t nacre_cuda_unsigned(int64_t value, int bits) {
  return (int64_t)((uint64_t)value << (64 - bits) >> (64 - bits));
}
static inline int64_t nacre_cuda_signed(int64_t value, int bits) {
  uint64_t sign = (uint64_t)1 << (bits - 1), low = (uint64_t)nacre_cuda_unsigned(value, bits);
  return (int64_t)((low ^ sign) - sign);
}

#ifdef __cplusplus
}
#endif
#endif
