/* Launches of kernels compiled ahead of time for NVIDIA GPUs: the driver by name, code by context, in plain C. */
#define _GNU_SOURCE
#include "nacre_cuda.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  largest_error = 1024,
  most_parameters = 512 + 32,
  most_arrays = 32,
  shared_without_asking = 48 << 10,
  /* numbers of cuda.h's enumerations */
  function_shared_limit = 8,
  attribute_cooperative = 2,
  attribute_serialized = 6,
  promotion_128 = 2,
  promotion_256 = 3
};

static _Thread_local char last_error[largest_error];

const char *nacre_cuda_error_text(void) { return last_error; }

static nacre_result fail(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vsnprintf(last_error, sizeof last_error, format, rest);
  va_end(rest);
  return NACRE_ERROR_DEVICE;
}

/* ---- The driver, as cuda.h declares it */

typedef struct {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int number;
  } value;
} launch_attribute;
typedef struct {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void *stream;
  launch_attribute *attributes;
  unsigned attribute_count;
} launch_configuration;

#define ENTRY_POINTS(ENTRY)                                                                                            \
  ENTRY(cuInit, (unsigned))                                                                                            \
  ENTRY(cuGetErrorName, (int, const char **))                                                                          \
  ENTRY(cuGetErrorString, (int, const char **))                                                                        \
  ENTRY(cuDeviceGet, (int *, int))                                                                                     \
  ENTRY(cuDevicePrimaryCtxRetain, (void **, int))                                                                      \
  ENTRY(cuCtxGetCurrent, (void **))                                                                                    \
  ENTRY(cuCtxSetCurrent, (void *))                                                                                     \
  ENTRY(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **))                                         \
  ENTRY(cuModuleGetFunction, (void **, void *, const char *))                                                          \
  ENTRY(cuModuleUnload, (void *))                                                                                      \
  ENTRY(cuFuncSetAttribute, (void *, int, int))                                                                        \
  ENTRY(cuLaunchKernel,                                                                                                \
        (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))
/* Those that only some kernels need, and older drivers do not have. */
#define LATER_ENTRY_POINTS(ENTRY)                                                                                      \
  ENTRY(cuLaunchKernelEx, (const launch_configuration *, void *, void **, void **))                                    \
  ENTRY(cuTensorMapEncodeTiled, (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,  \
                                 const uint32_t *, int, int, int, int))

static struct {
#define ENTRY(name, parameters) int(*name) parameters;
  ENTRY_POINTS(ENTRY)
  LATER_ENTRY_POINTS(ENTRY)
#undef ENTRY
} driver;
static char why_none[largest_error];
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void describe(int status, char *text, size_t size) {
  const char *name = NULL, *meaning = NULL;
  driver.cuGetErrorName(status, &name);
  driver.cuGetErrorString(status, &meaning);
  snprintf(text, size, "%s: %s", name ? name : "an error of CUDA", meaning ? meaning : "");
}

static void *entry_point(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found && !why_none[0])
    snprintf(why_none, sizeof why_none, "NVIDIA's driver is too old: it has no %s", name);
  return found;
}

static void open_driver(void) {
  const char *path = getenv("NACRE_CUDA_DRIVER");
  void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why_none, sizeof why_none, "NVIDIA's driver cannot be opened: %s", dlerror());
    return;
  }
#define ENTRY(name, parameters) *(void **)&driver.name = entry_point(library, #name);
  ENTRY_POINTS(ENTRY)
#undef ENTRY
#define ENTRY(name, parameters) *(void **)&driver.name = dlsym(library, #name);
  LATER_ENTRY_POINTS(ENTRY)
#undef ENTRY
  if (why_none[0])
    return;
  int status = driver.cuInit(0);
  if (status)
    describe(status, why_none, sizeof why_none);
}

static nacre_result failed(int status, const char *doing, const char *symbol) {
  char text[256];
  describe(status, text, sizeof text);
  return fail("%s the kernel `%s` failed: %s", doing, symbol, text);
}

/* ---- Code by context */

struct nacre_cuda_loaded {
  void *context, *module, *function;
  struct nacre_cuda_loaded *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards every kernel's list */

/* The calling thread's context; that of the first GPU where it has none. */
static nacre_result current_context(void **context) {
  pthread_once(&opened, open_driver);
  if (why_none[0])
    return fail("%s", why_none);
  char text[256];
  int device = 0, status = driver.cuCtxGetCurrent(context);
  if (!status && !*context) {
    status = driver.cuDeviceGet(&device, 0);
    if (!status)
      status = driver.cuDevicePrimaryCtxRetain(context, device); /* kept as long as the process */
    if (!status)
      status = driver.cuCtxSetCurrent(*context);
  }
  if (!status)
    return NACRE_SUCCESS;
  describe(status, text, sizeof text);
  return fail("starting the GPU failed: %s", text);
}

static nacre_result find(nacre_cuda_kernel *kernel, void **function) {
  void *context = NULL;
  nacre_result result = current_context(&context);
  if (result)
    return result;
  pthread_mutex_lock(&lock);
  struct nacre_cuda_loaded *loaded = kernel->loaded;
  while (loaded && loaded->context != context)
    loaded = loaded->next;
  if (!loaded) {
    loaded = calloc(1, sizeof *loaded);
    int status = 0;
    if (!loaded)
      result = NACRE_ERROR_OUT_OF_MEMORY;
    else if ((status = driver.cuModuleLoadDataEx(&loaded->module, kernel->image, 0, NULL, NULL)) != 0)
      result = failed(status, "loading", kernel->symbol);
    else if ((status = driver.cuModuleGetFunction(&loaded->function, loaded->module, kernel->symbol)) != 0)
      result = failed(status, "finding", kernel->symbol);
    else if (kernel->shared_bytes > shared_without_asking &&
             (status = driver.cuFuncSetAttribute(loaded->function, function_shared_limit, (int)kernel->shared_bytes)) !=
                 0)
      result = failed(status, "giving shared memory to", kernel->symbol);
    if (result) {
      if (loaded && loaded->module)
        driver.cuModuleUnload(loaded->module);
      free(loaded);
      loaded = NULL;
    } else {
      loaded->context = context;
      loaded->next = kernel->loaded;
      kernel->loaded = loaded;
    }
  }
  if (loaded)
    *function = loaded->function;
  pthread_mutex_unlock(&lock);
  return result;
}

nacre_result nacre_cuda_load(nacre_cuda_kernel *kernel) {
  void *function;
  return find(kernel, &function);
}

void nacre_cuda_unload(nacre_cuda_kernel *kernel) {
  pthread_mutex_lock(&lock);
  while (kernel->loaded) {
    struct nacre_cuda_loaded *loaded = kernel->loaded;
    kernel->loaded = loaded->next;
    driver.cuModuleUnload(loaded->module);
    free(loaded);
  }
  pthread_mutex_unlock(&lock);
}

/* ---- Launches */

/* The driver's description of an array, by which the GPU copies blocks of it: 128 bytes. */
static nacre_result encode(void *map, const nacre_cuda_array *array, const char *symbol) {
  uint64_t sizes[5], strides[5], address = array->base;
  uint32_t box[5], ones[5] = {1, 1, 1, 1, 1};
  int is_empty = 0;
  for (int i = 0; i < array->rank; ++i) { /* innermost first */
    int axis = array->rank - 1 - i;
    is_empty |= array->shape[axis] <= 0;
    sizes[i] = array->shape[axis] > 0 ? (uint64_t)array->shape[axis] : 1;
    box[i] = array->box[axis];
    if (i == 0)
      continue;
    int64_t stride = nacre_cuda_multiply(array->strides[axis], array->element_bytes);
    if (stride < 0 || stride >= (int64_t)1 << 40 || stride % 16)
      return fail(
          "the kernel `%s`: of a tensor descriptor, the stride of axis %d is %lld bytes, and a GPU copies blocks "
          "of arrays whose strides are multiples of 16 from 0 to 2^40",
          symbol, axis, (long long)stride);
    strides[i - 1] = (uint64_t)stride;
  }
  if (address % 16)
    return fail("the kernel `%s`: the base of a tensor descriptor is not aligned to 16 bytes", symbol);
  if (is_empty && !address) /* of an array without memory; nobody reads it */
    address = 16;
  if (!driver.cuTensorMapEncodeTiled)
    return fail("NVIDIA's driver is too old: it has no cuTensorMapEncodeTiled");
  int status = driver.cuTensorMapEncodeTiled(map, array->element, (uint32_t)array->rank, (void *)(uintptr_t)address,
                                             sizes, strides, box, ones, 0, array->swizzle,
                                             array->swizzle == 3 ? promotion_256 : promotion_128, array->fills_nan);
  return status ? failed(status, "describing an array to", symbol) : NACRE_SUCCESS;
}

nacre_result nacre_cuda_launch(nacre_cuda_kernel *kernel, void *stream, uint32_t grid_x, uint32_t grid_y,
                               uint32_t grid_z, const uint64_t *arguments, const nacre_cuda_array *arrays) {
  _Alignas(64) unsigned char maps[most_arrays][128];
  void *parameters[most_parameters], *function = NULL;
  if (!grid_x || !grid_y || !grid_z)
    return NACRE_SUCCESS;
  nacre_result result = find(kernel, &function);
  if (result)
    return result;
  for (uint32_t i = 0; i < kernel->argument_count; ++i) /* the low bytes of each are the argument */
    parameters[i] = (void *)&arguments[i];
  for (uint32_t i = 0; i < kernel->array_count; ++i) {
    result = encode(maps[i], &arrays[i], kernel->symbol);
    if (result)
      return result;
    parameters[kernel->argument_count + i] = maps[i];
  }
  int status;
  if (!kernel->cooperative && !kernel->dependent) {
    status = driver.cuLaunchKernel(function, grid_x, grid_y, grid_z, kernel->threads, 1, 1, kernel->shared_bytes,
                                   stream, parameters, NULL);
  } else {
    if (!driver.cuLaunchKernelEx)
      return fail("NVIDIA's driver is too old: it has no cuLaunchKernelEx");
    launch_attribute attributes[2] = {{0}};
    unsigned count = 0;
    if (kernel->cooperative)
      attributes[count].id = attribute_cooperative, attributes[count++].value.number = 1;
    if (kernel->dependent)
      attributes[count].id = attribute_serialized, attributes[count++].value.number = 1;
    launch_configuration configuration = {grid_x, grid_y,     grid_z, kernel->threads, 1, 1, kernel->shared_bytes,
                                          stream, attributes, count};
    status = driver.cuLaunchKernelEx(&configuration, function, parameters, NULL);
  }
  return status ? failed(status, "launching", kernel->symbol) : NACRE_SUCCESS;
}
