/* Launches of kernels compiled ahead of time: threads, scratch memory, device_print and device_assert, in plain C. */
#define _GNU_SOURCE
#include "nacre_kernel.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(offsetof(nacre_context, scratch) == 16 && offsetof(nacre_context, print) == 24 &&
                   offsetof(nacre_context, assert_failed) == 32 && offsetof(nacre_context, launch_id) == 48 &&
                   offsetof(nacre_context, waiting) == 56 && offsetof(nacre_context, clock) == 64 &&
                   offsetof(nacre_context, processor) == 72 && offsetof(nacre_context, check_access) == 80 && offsetof(nacre_context, tell) == 88 &&
                   offsetof(nacre_context, alone_with_atomics) == 96,
               "the layout that compiled code expects");

enum {
  largest_error = 1024,
  most_joined = 512,         /* threads that join because programs wait for each other */
  rounds_per_look = 64,      /* of a waiting loop, between two looks at the clock */
  inline_nanoseconds = 10000 /* a grid that takes less is run by the launching thread: waking another costs as much */
};

static _Thread_local char last_error[largest_error];

const char *nacre_error_text(void) { return last_error; }

nacre_result nacre_invalid_value(const char *text) {
  snprintf(last_error, sizeof last_error, "%s", text);
  return NACRE_ERROR_INVALID_VALUE;
}

/* ---- One launch */

typedef struct {
  nacre_kernel *kernel;
  const uint32_t *grid;
  const uint64_t *arguments;
  uint64_t count, id;
  unsigned threads;
  _Atomic uint64_t next; /* the first program that nobody has taken */
  pthread_mutex_t lock;  /* guards what follows */
  pthread_t *joined;
  unsigned joined_count;
  nacre_result result;
  char error[largest_error];
} launch;

/* What a thread has for itself while it runs programs. The context comes first: compiled code hands it back. */
typedef struct {
  nacre_context context;
  launch *shared;
  jmp_buf leave;
  char *text; /* printed by the program that is running */
  size_t length, capacity;
  uint32_t printing[3];
  unsigned rounds;              /* of a loop that waits for another program */
  uint64_t waiting_since, nap;  /* in nanoseconds */
  int relieved;                 /* another thread has joined on its account */
} worker;

static void fail(launch *shared, nacre_result result, const char *text) {
  pthread_mutex_lock(&shared->lock);
  if (shared->result == NACRE_SUCCESS) {
    shared->result = result;
    snprintf(shared->error, sizeof shared->error, "%s", text);
  }
  pthread_mutex_unlock(&shared->lock);
  atomic_store(&shared->next, shared->count); /* nothing more is started */
}

/* ---- device_print: the same text as from Python */

static void append(worker *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(worker *self, const char *format, ...) {
  for (;;) {
    va_list values;
    va_start(values, format);
    size_t room = self->capacity - self->length;
    int needed = vsnprintf(self->text ? self->text + self->length : NULL, room, format, values);
    va_end(values);
    if (needed < 0)
      return;
    if ((size_t)needed < room) {
      self->length += (size_t)needed;
      return;
    }
    size_t capacity = 2 * self->capacity + (size_t)needed + 256;
    char *grown = realloc(self->text, capacity);
    if (!grown) {
      fail(self->shared, NACRE_ERROR_OUT_OF_MEMORY, "out of memory in device_print");
      longjmp(self->leave, 1);
    }
    self->text = grown;
    self->capacity = capacity;
  }
}

/* The lines of one program, in one piece. */
static void pass_on(worker *self) {
  if (self->length)
    fwrite(self->text, 1, self->length, stdout);
  self->length = 0;
}

/* The kinds of elements, as the compiler numbers them. */
enum {
  kind_int1 = 1,
  kind_int8,
  kind_int16,
  kind_int32,
  kind_int64,
  kind_uint8,
  kind_uint16,
  kind_uint32,
  kind_uint64,
  kind_fp8e4nv,
  kind_fp8e5,
  kind_fp8e4b15,
  kind_fp8e4b8,
  kind_fp8e5b16,
  kind_fp16,
  kind_bf16,
  kind_fp32,
  kind_fp64
};

static unsigned byte_size(unsigned kind) {
  switch (kind) {
  case kind_int16:
  case kind_uint16:
  case kind_fp16:
  case kind_bf16:
    return 2;
  case kind_int32:
  case kind_uint32:
  case kind_fp32:
    return 4;
  case kind_int64:
  case kind_uint64:
  case kind_fp64:
    return 8;
  default:
    return 1;
  }
}

/* A float of one or two bytes. */
static double small_float(unsigned kind, uint64_t bits) {
  static const struct {
    unsigned char exponent, mantissa, bias;
    char infinities; /* as IEEE has them; else one or two patterns are NaN */
  } formats[] = {
      [kind_fp8e4nv] = {4, 3, 7, 0}, [kind_fp8e5] = {5, 2, 15, 1},    [kind_fp8e4b15] = {4, 3, 15, 0},
      [kind_fp8e4b8] = {4, 3, 8, 0}, [kind_fp8e5b16] = {5, 2, 16, 0}, [kind_fp16] = {5, 10, 15, 1},
      [kind_bf16] = {8, 7, 127, 1},
  };
  unsigned exponent_bits = formats[kind].exponent, mantissa_bits = formats[kind].mantissa;
  unsigned sign = (unsigned)(bits >> (exponent_bits + mantissa_bits)) & 1;
  int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  int mantissa = (int)bits & ((1 << mantissa_bits) - 1);
  int largest = (1 << exponent_bits) - 1;
  if (formats[kind].infinities && exponent == largest)
    return copysign(mantissa ? NAN : INFINITY, sign ? -1.0 : 1.0);
  if (kind == kind_fp8e4nv && exponent == largest && mantissa == 7)
    return copysign(NAN, sign ? -1.0 : 1.0);
  if ((kind == kind_fp8e4b8 || kind == kind_fp8e5b16 || kind == kind_fp8e4b15) && bits == 0x80)
    return NAN;
  double value = ldexp(exponent ? mantissa + (1 << mantissa_bits) : mantissa,
                       (exponent ? exponent : 1) - formats[kind].bias - (int)mantissa_bits);
  return sign ? -value : value;
}

static void append_element(worker *self, unsigned kind, int is_address, int hex, const char *data) {
  unsigned bytes = byte_size(kind);
  uint64_t bits = 0;
  memcpy(&bits, data, bytes); /* little-endian */
  const char *float_format = hex ? "%a" : "%f";
  if (is_address)
    append(self, "0x%" PRIx64, bits);
  else if (kind == kind_fp64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    append(self, float_format, value);
  } else if (kind == kind_fp32) {
    float value;
    memcpy(&value, &bits, sizeof value);
    append(self, float_format, value);
  } else if (kind >= kind_fp8e4nv)
    append(self, float_format, small_float(kind, bits));
  else if (hex)
    append(self, "0x%0*" PRIx64, (int)bytes * 2, bits);
  else if (kind >= kind_int8 && kind <= kind_int64)
    append(self, "%" PRId64, (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  else
    append(self, "%" PRIu64, kind == kind_int1 ? bits & 1 : bits);
}

static int index_width(int64_t extent) {
  int width = 1;
  for (int64_t largest = extent - 1; largest >= 10; largest /= 10)
    ++width;
  return width;
}

static void print(nacre_context *context, const uint32_t *program, const char *prefix, uint32_t hex, uint32_t count,
                  const uint32_t *kinds, const int64_t *shapes, const void *const *data) {
  worker *self = (worker *)context;
  if (memcmp(program, self->printing, sizeof self->printing) != 0) {
    pass_on(self);
    memcpy(self->printing, program, sizeof self->printing);
  }
  /* "x" is shown as " x", an empty one as nothing; a colon and a blank follow where a value does */
  int length = (int)strlen(prefix);
  while (length && (prefix[length - 1] == ':' || prefix[length - 1] == ' '))
    --length;
  const char *before = length == 0 || prefix[0] == ' ' ? "" : " ";
  if (count == 0)
    append(self, "pid (%u, %u, %u)%s%.*s\n", program[0], program[1], program[2], before, length, prefix);
  for (uint32_t operand = 0; operand < count; ++operand) {
    unsigned kind = kinds[operand] & 0xFF, rank = kinds[operand] >> 8 & 0xFF, is_address = kinds[operand] >> 16 & 1;
    int64_t elements = 1;
    for (unsigned axis = 0; axis < rank; ++axis)
      elements *= shapes[axis];
    for (int64_t element = 0; element < elements; ++element) {
      append(self, "pid (%u, %u, %u) idx (", program[0], program[1], program[2]);
      int64_t inner = elements, rest = element;
      for (unsigned axis = 0; axis < rank; ++axis) {
        inner /= shapes[axis];
        append(self, axis ? ", %*" PRId64 : "%*" PRId64, index_width(shapes[axis]), rest / inner);
        rest %= inner;
      }
      append(self, ")%s%.*s: ", before, length, prefix);
      if (count > 1)
        append(self, "(operand %u) ", operand);
      append_element(self, kind, (int)is_address, (int)hex,
                     (const char *)data[operand] + element * (int64_t)byte_size(kind));
      append(self, "\n");
    }
    shapes += rank;
  }
}

/* ---- What else compiled code asks for */

static void assert_failed(nacre_context *context, const uint32_t *program, const char *message, const char *file,
                          uint32_t line, uint32_t column) {
  worker *self = (worker *)context;
  char text[largest_error];
  (void)column;
  snprintf(text, sizeof text, "%s:%u: device_assert failed in program (%u, %u, %u)%s%s", file, line, program[0],
           program[1], program[2], *message ? ": " : "", message);
  fail(self->shared, NACRE_ERROR_ASSERT, text);
  longjmp(self->leave, 1);
}

static uint64_t now(nacre_context *context) {
  (void)context;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int join(launch *shared);

/* Called once a round by a program that may be waiting for another. When it has waited for some time, one more thread takes the
   programs that have not begun, and this one sleeps between its looks. After a failure it would wait for ever. */
static void waiting(nacre_context *context) {
  worker *self = (worker *)context;
  if (++self->rounds % rounds_per_look != 0)
    return;
  pthread_mutex_lock(&self->shared->lock);
  int failed = self->shared->result != NACRE_SUCCESS;
  pthread_mutex_unlock(&self->shared->lock);
  uint64_t time = now(context);
  if (self->rounds == rounds_per_look)
    self->waiting_since = time;
  if (!failed && time - self->waiting_since < 200000) {
    sched_yield();
    return;
  }
  if (!failed && !self->relieved)
    failed = !join(self->shared);
  self->relieved = 1;
  if (failed)
    longjmp(self->leave, 1);
  self->nap = self->nap == 0 ? 50000 : self->nap < 1000000 ? 2 * self->nap : self->nap;
  nanosleep(&(struct timespec){.tv_nsec = (long)self->nap}, NULL);
}

/* Launches of this process are not counted here: atomics are locked. */
static uint32_t never_alone(nacre_context *context) {
  (void)context;
  return 0;
}

static uint32_t processor(nacre_context *context) {
  (void)context;
  int number = sched_getcpu();
  return number < 0 ? 0 : (uint32_t)number;
}

/* ---- Scratch memory: each thread keeps what it has had */

typedef struct {
  void *memory;
  size_t size;
} arena;

static pthread_key_t arena_key;
static pthread_once_t arena_once = PTHREAD_ONCE_INIT;

static void free_arena(void *pointer) {
  free(((arena *)pointer)->memory);
  free(pointer);
}
static void make_arena_key(void) { pthread_key_create(&arena_key, free_arena); }

static void *scratch(size_t bytes) {
  pthread_once(&arena_once, make_arena_key);
  arena *own = pthread_getspecific(arena_key);
  if (!own) {
    own = calloc(1, sizeof *own);
    if (!own || pthread_setspecific(arena_key, own) != 0) {
      free(own);
      return NULL;
    }
  }
  if (own->size < bytes) {
    free(own->memory);
    own->size = (bytes + 4095) / 4096 * 4096;
    own->memory = aligned_alloc(4096, own->size);
    if (!own->memory)
      own->size = 0;
  }
  return own->memory;
}

/* ---- Threads */

/* The programs [begin, end) on this thread. */
static void run_range(launch *shared, uint64_t begin, uint64_t end) {
  worker self;
  memset(&self, 0, sizeof self);
  memcpy(self.context.grid, shared->grid, sizeof self.context.grid);
  self.context.print = print;
  self.context.assert_failed = assert_failed;
  self.context.launch = shared;
  self.context.launch_id = shared->id;
  self.context.waiting = waiting;
  self.context.clock = now;
  self.context.processor = processor;
  self.context.alone_with_atomics = never_alone;
  self.shared = shared;
  memset(self.printing, 0xFF, sizeof self.printing);
  if (shared->kernel->scratch_bytes && !(self.context.scratch = scratch(shared->kernel->scratch_bytes))) {
    fail(shared, NACRE_ERROR_OUT_OF_MEMORY, "out of memory for a kernel's scratch memory");
    return;
  }
  if (setjmp(self.leave) == 0)
    shared->kernel->function(shared->arguments, begin, end, &self.context);
  pass_on(&self);
  free(self.text);
}

/* Ranges in ascending order, large at first and smaller towards the end, until there are none left. */
static void run_ranges(launch *shared) {
  uint64_t at = atomic_load(&shared->next);
  while (at < shared->count) {
    uint64_t size = (shared->count - at) / (2 * (uint64_t)shared->threads);
    size = size ? size : 1;
    if (atomic_compare_exchange_weak(&shared->next, &at, at + size)) {
      run_range(shared, at, at + size);
      at = atomic_load(&shared->next);
    }
  }
}

static struct {
  pthread_mutex_t launching; /* held by the launch that has the workers */
  pthread_mutex_t lock;      /* guards what follows */
  pthread_cond_t wake, done;
  int wanted;  /* threads in all; 0: one for each core; -1: not asked yet */
  int workers; /* that exist */
  launch *current;
  unsigned published, busy; /* how many launches there were; how many workers are in the current one */
} pool = {PTHREAD_MUTEX_INITIALIZER,
          PTHREAD_MUTEX_INITIALIZER,
          PTHREAD_COND_INITIALIZER,
          PTHREAD_COND_INITIALIZER,
          -1,
          0,
          NULL,
          0,
          0};

static void *work(void *number) {
  unsigned seen = 0;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    int is_wanted = (intptr_t)number + 1 < pool.wanted;
    if (pool.current && pool.published != seen && is_wanted) {
      launch *shared = pool.current;
      seen = pool.published;
      ++pool.busy;
      pthread_mutex_unlock(&pool.lock);
      run_ranges(shared);
      pthread_mutex_lock(&pool.lock);
      if (--pool.busy == 0)
        pthread_cond_signal(&pool.done);
    } else {
      pthread_cond_wait(&pool.wake, &pool.lock);
    }
  }
  return NULL;
}

static int cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return 1;
}

/* A child has no threads but its own. */
static void forget_workers(void) {
  pthread_mutex_init(&pool.launching, NULL);
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.wake, NULL);
  pthread_cond_init(&pool.done, NULL);
  pool.workers = 0;
  pool.busy = 0;
  pool.current = NULL;
}

/* With the lock: how many threads there are to be. */
static int wanted_threads(void) {
  if (pool.wanted < 0) {
    const char *text = getenv("NACRE_NUM_THREADS");
    pool.wanted = text ? atoi(text) : 0;
    pthread_atfork(NULL, NULL, forget_workers);
  }
  if (pool.wanted <= 0)
    pool.wanted = cores();
  return pool.wanted;
}

void nacre_set_threads(int threads) {
  pthread_mutex_lock(&pool.lock);
  wanted_threads();
  pool.wanted = threads > 0 ? threads : cores();
  pthread_mutex_unlock(&pool.lock);
}

/* On this thread and the pool's; on this one alone while another launch has the pool. */
static void run_on_pool(launch *shared) {
  if (pthread_mutex_trylock(&pool.launching) != 0) {
    run_ranges(shared);
    return;
  }
  pthread_mutex_lock(&pool.lock);
  while (pool.workers + 1 < pool.wanted) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(intptr_t)pool.workers) != 0)
      break;
    pthread_detach(thread);
    ++pool.workers;
  }
  pool.current = shared;
  ++pool.published;
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  run_ranges(shared);
  pthread_mutex_lock(&pool.lock);
  pool.current = NULL;
  while (pool.busy)
    pthread_cond_wait(&pool.done, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&pool.launching);
}

/* Programs one by one: what waits holds up no other. */
static void *run_programs(void *pointer) {
  launch *shared = pointer;
  for (uint64_t number; (number = atomic_fetch_add(&shared->next, 1)) < shared->count;)
    run_range(shared, number, number + 1);
  return NULL;
}

/* One more thread for programs that have not begun; 0 when there are too many. */
static int join(launch *shared) {
  pthread_mutex_lock(&shared->lock);
  int is_wanted = atomic_load(&shared->next) < shared->count;
  int started = is_wanted && shared->joined_count < most_joined &&
                pthread_create(&shared->joined[shared->joined_count], NULL, run_programs, shared) == 0;
  shared->joined_count += (unsigned)started;
  pthread_mutex_unlock(&shared->lock);
  if (is_wanted && !started)
    fail(shared, NACRE_ERROR_TOO_MANY_PROGRAMS, "the programs of this kernel wait for each other, and are more than can run at the same time");
  return started || !is_wanted;
}

/* Programs that may wait for each other. */
static void run_waiting(launch *shared) {
  shared->joined = malloc(most_joined * sizeof *shared->joined);
  if (!shared->joined) {
    fail(shared, NACRE_ERROR_OUT_OF_MEMORY, "out of memory for threads");
    return;
  }
  for (unsigned i = 1; i < shared->threads && join(shared); ++i)
    ;
  run_programs(shared);
  for (unsigned i = 0;; ++i) { /* more may join meanwhile */
    pthread_mutex_lock(&shared->lock);
    int is_last = i == shared->joined_count;
    pthread_t thread = is_last ? pthread_self() : shared->joined[i];
    pthread_mutex_unlock(&shared->lock);
    if (is_last)
      break;
    pthread_join(thread, NULL);
  }
  free(shared->joined);
}

static void ask_for_tile_registers(void) {
#if defined(__x86_64__)
  syscall(SYS_arch_prctl, 0x1023, 18); /* AMX: Linux wants to be asked once; refused where there are none */
#endif
}

nacre_result nacre_launch(nacre_kernel *kernel, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                          const uint64_t *arguments) {
  static _Atomic uint64_t launches;
  const uint32_t grid[3] = {grid_x, grid_y, grid_z};
  launch shared = {.kernel = kernel, .grid = grid, .arguments = arguments, .lock = PTHREAD_MUTEX_INITIALIZER};
  shared.count = (uint64_t)grid_x * grid_y * grid_z;
  shared.id = atomic_fetch_add(&launches, 1) + 1;
  if (shared.count == 0)
    return NACRE_SUCCESS;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, ask_for_tile_registers);
  pthread_mutex_lock(&pool.lock);
  int threads = wanted_threads();
  pthread_mutex_unlock(&pool.lock);
  uint32_t estimate = __atomic_load_n(&kernel->nanoseconds, __ATOMIC_RELAXED);
  int alone =
      threads == 1 || shared.count == 1 || (estimate && (double)estimate * (double)shared.count < inline_nanoseconds);
  shared.threads = alone ? 1 : (unsigned)threads;
  uint64_t start = now(NULL);
  if (kernel->waits)
    run_waiting(&shared);
  else if (alone)
    run_range(&shared, 0, shared.count);
  else
    run_on_pool(&shared);
  double elapsed = (double)(now(NULL) - start) * shared.threads / (double)shared.count;
  __atomic_store_n(&kernel->nanoseconds,
                   elapsed < 1     ? 1
                   : elapsed > 1e9 ? 1000000000u
                                   : (uint32_t)elapsed,
                   __ATOMIC_RELAXED);
  fflush(stdout);
  pthread_mutex_destroy(&shared.lock);
  if (shared.result != NACRE_SUCCESS)
    memcpy(last_error, shared.error, sizeof last_error);
  return shared.result;
}
