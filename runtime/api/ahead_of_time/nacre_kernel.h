/* Kernels compiled ahead of time, in C: what a program needs to launch them, and the calling convention of their code.

   `nacre compile --emit c` and `python -m nacre.tools.compile` write this file and nacre_kernel.c beside the kernels
   they compile. Compile both with any C11 compiler and link the kernels' objects; nothing else is needed but the C
   library, its mathematical part and threads:

       cc main.c add.*.c add.*.o nacre_kernel.c -lm -lpthread
*/
#ifndef NACRE_KERNEL_H
#define NACRE_KERNEL_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NACRE_SUCCESS = 0,
  NACRE_ERROR_INVALID_VALUE = 1, /* no variant of the kernel takes these arguments */
  NACRE_ERROR_OUT_OF_MEMORY = 2,
  NACRE_ERROR_ASSERT = 3,            /* a device_assert failed: nacre_error_text says which */
  NACRE_ERROR_TOO_MANY_PROGRAMS = 4, /* the programs wait for each other, and are more than can run at the same time */
  NACRE_ERROR_DEVICE = 5             /* of a GPU or its driver: nacre_cuda_error_text says what */
} nacre_result;

/* What the last launch of this thread that failed has to say; "" when none has. */
const char *nacre_error_text(void);

/* Sets that text and returns NACRE_ERROR_INVALID_VALUE: for functions that choose among variants of a kernel. */
nacre_result nacre_invalid_value(const char *text);

/* How many threads run a grid from now on; 0: one for each core. The variable NACRE_NUM_THREADS says it at the start.
 */
void nacre_set_threads(int threads);

/* ---- What the code of a kernel is called with. The compiler addresses the fields by their offset. */

typedef struct nacre_context nacre_context;
struct nacre_context {
  uint32_t grid[3];
  uint32_t reserved;
  void *scratch; /* of this thread, aligned to 64 bytes */
  void (*print)(nacre_context *context, const uint32_t *program, const char *prefix, uint32_t hex, uint32_t count,
                const uint32_t *kinds, const int64_t *shapes, const void *const *data);
  void (*assert_failed)(nacre_context *context, const uint32_t *program, const char *message, const char *file,
                        uint32_t line, uint32_t column);
  void *launch;
  uint64_t launch_id;
  void (*waiting)(nacre_context *context);
  uint64_t (*clock)(nacre_context *context);
  uint32_t (*processor)(nacre_context *context);
  void (*check_access)(void); /* NULL: the sizes of arrays are not known */
  void (*tell)(void);         /* NULL: nobody watches */
  uint32_t (*alone_with_atomics)(nacre_context *context);
};

typedef struct {
  /* Runs the programs [begin, end) of the grid. */
  int32_t (*function)(const uint64_t *arguments, uint64_t begin, uint64_t end, nacre_context *context);
  uint64_t scratch_bytes;
  int waits;            /* a program may wait for another: all of them run at the same time */
  uint32_t nanoseconds; /* what one program took lately, 0: not known. Kept by nacre_launch. */
} nacre_kernel;

/* Runs a kernel over a grid, on this thread and others, and returns when its last program has ended. `arguments` holds
   eight bytes for each: pointers, integers extended, floats as their bits. A grid with a zero runs nothing. */
nacre_result nacre_launch(nacre_kernel *kernel, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                          const uint64_t *arguments);

static inline uint64_t nacre_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline uint64_t nacre_double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#ifdef __cplusplus
}
#endif
#endif
