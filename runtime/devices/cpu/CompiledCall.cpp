// The signal handlers, the record of each thread that runs compiled code, and the thread that watches them.
#include "runtime/devices/cpu/CompiledCall.h"
#include "compiler/support/ForkSafety.h"
#include "runtime/devices/cpu/LastWords.h"
#include "runtime/devices/cpu/Sampling.h"
#include "runtime/threads/FencedMemory.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <sys/auxv.h>
#include <system_error>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the registers of a signal's context are those of x86-64"
#endif

namespace nacre {

// Signals go to threads by these. They are used again, never freed: the watching thread may look at any time.
struct ThreadRecord {
  bool isUsed = false; // guarded by the list's lock, as is `thread`
  pthread_t thread;
  std::atomic<uint64_t> launches = 0;              // odd: the thread is launching and can be interrupted
  std::atomic<uint64_t> calls = 0;                 // odd: it runs compiled code
  std::atomic<bool> isDue = false;                 // its launch has lasted: time to ask whether it was interrupted
  std::atomic<CompiledCall *> innermost = nullptr; // the thread's own
  uint64_t seenLaunch = 0;                         // the watching thread's own
};

namespace {

// Of this thread; null until it runs compiled code.
thread_local ThreadRecord *self = nullptr;
// The same for handlers: reading a thread_local for the first time in a thread may allocate, which they may not.
pthread_key_t selfKey;
ThreadRecord *selfInHandler() { return static_cast<ThreadRecord *>(pthread_getspecific(selfKey)); }

constexpr int nudgeSignal = SIGURG; // ignored where nobody asks for it
constexpr int faultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t handlerStack = size_t(64) << 10;

struct RecordList {
  static constexpr int chunkSize = 64;
  struct Chunk {
    ThreadRecord records[chunkSize];
    std::atomic<Chunk *> next = nullptr;
  };
  std::mutex lock;
  Chunk first;

  template <typename Visit> void forEach(Visit visit) {
    for (Chunk *chunk = &first; chunk; chunk = chunk->next.load(std::memory_order_acquire))
      for (ThreadRecord &record : chunk->records)
        visit(record);
  }

  ThreadRecord *take() {
    std::lock_guard<std::mutex> guard(lock);
    for (Chunk *chunk = &first;; chunk = chunk->next.load()) {
      for (ThreadRecord &record : chunk->records)
        if (!record.isUsed) {
          record.isUsed = true;
          record.thread = pthread_self();
          return &record;
        }
      if (!chunk->next.load())
        chunk->next.store(newFenced<Chunk>(), std::memory_order_release);
    }
  }

  void giveBack(ThreadRecord *record) {
    std::lock_guard<std::mutex> guard(lock);
    record->isUsed = false;
  }
};

RecordList &records() {
  static RecordList *list = newFenced<RecordList>();
  return *list;
}

// A thread that runs compiled code looks up. The list's lock is held: the thread does not end meanwhile.
void nudge(ThreadRecord &record) {
  if (record.calls.load() % 2 == 0)
    return;
  sigval mark;
  mark.sival_ptr = &record;
  pthread_sigqueue(record.thread, nudgeSignal, mark);
}

} // namespace

void nudgeCalls() {
  RecordList &list = records();
  std::lock_guard<std::mutex> guard(list.lock);
  list.forEach([](ThreadRecord &record) {
    if (record.isUsed)
      nudge(record);
  });
}

// Looks at launches every now and then. Asleep while there are none.
class LaunchWatch {
public:
  LaunchWatch() {
    sem_init(&awake, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // what is sent to the process is not for this thread
    try {
      std::thread([this] { work(); }).detach();
    } catch (const std::system_error &) {
      // No thread to be had: launches are not interrupted.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static LaunchWatch *get() {
    LaunchWatch *watch = shared.load(std::memory_order_acquire);
    return watch ? watch : make();
  }
  static void forget() { shared.store(nullptr); } // it is not this process's

  void wakeIfAsleep() {
    if (isAsleep.load(std::memory_order_seq_cst)) [[unlikely]]
      wake();
  }
  void wake() { sem_post(&awake); } // also from handlers

  std::atomic<int> stopping = 0; // launches that wait for their threads to leave

private:
  static LaunchWatch *make() {
    static ProcessLock making;
    std::lock_guard<ProcessLock> guard(making);
    if (LaunchWatch *watch = shared.load(std::memory_order_acquire))
      return watch;
    LaunchWatch *made = newFenced<LaunchWatch>();
    shared.store(made, std::memory_order_release);
    return made;
  }

  void pause(long milliseconds) {
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    sem_clockwait(&awake, CLOCK_MONOTONIC, &until);
  }

  // True when a launch has begun since the last look, or is under way.
  bool look() {
    bool isBusy = false, isStopping = stopping.load() > 0;
    RecordList &list = records();
    std::lock_guard<std::mutex> guard(list.lock); // a thread in the list does not end meanwhile
    list.forEach([&](ThreadRecord &record) {
      if (!record.isUsed)
        return;
      uint64_t launch = record.launches.load(std::memory_order_seq_cst);
      bool hasLasted = launch % 2 == 1 && launch == record.seenLaunch;
      isBusy |= launch % 2 == 1 || launch != record.seenLaunch;
      record.seenLaunch = launch;
      if (hasLasted)
        record.isDue.store(true);
      if (hasLasted || isStopping)
        nudge(record);
    });
    return isBusy || isStopping;
  }

  void work() {
    constexpr long usualPause = 100, shortPause = 2; // milliseconds
    constexpr int patience = 20;                     // pauses without a launch
    for (int idle = 0;;) {
      idle = look() ? 0 : idle + 1;
      if (idle <= patience) {
        pause(stopping.load() > 0 ? shortPause : usualPause);
        continue;
      }
      isAsleep.store(true, std::memory_order_seq_cst);
      while (!look() && sem_wait(&awake) != 0) {
      }
      isAsleep.store(false);
      idle = 0;
    }
  }

  static inline std::atomic<LaunchWatch *> shared = nullptr;
  sem_t awake;
  std::atomic<bool> isAsleep = false;
};

namespace {

// The child has this thread alone.
void renewAfterFork() {
  LaunchWatch::forget();
  RecordList &list = records();
  new (&list.lock) std::mutex;
  list.forEach([](ThreadRecord &record) {
    if (&record != self)
      record.isUsed = false;
  });
}

struct sigaction earlier[std::size(faultSignals)], earlierNudge, earlierAbort;

[[noreturn]] void leaveCall(CompiledCall *call) {
  if (__builtin_cpu_supports("avx"))
    asm volatile("vzeroupper" ::: "memory"); // as the code does before it returns
  siglongjmp(call->leave, 1);
}

} // namespace

struct Signals {
  static bool isInCode(const CompiledCall &call, uint64_t instruction) {
    return instruction >= call.code.begin && instruction < call.code.end;
  }

  // Returning from the handler goes on in leaveCall, as if the code had called it.
  static void redirect(ucontext_t *context, CompiledCall *call) {
    constexpr int64_t redZone = 128, directionFlag = 0x400;
    call->isLeaving = true;
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = ((registers[REG_RSP] - redZone) & ~greg_t(15)) - 8;
    registers[REG_RDI] = reinterpret_cast<greg_t>(call);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&leaveCall);
    registers[REG_EFL] &= ~directionFlag;
  }

  // To whom the signal would have gone without us.
  static void passOn(int number, siginfo_t *info, void *context, const struct sigaction &action) {
    if (action.sa_flags & SA_SIGINFO) {
      action.sa_sigaction(number, info, context);
    } else if (action.sa_handler == SIG_DFL) {
      std::signal(number, SIG_DFL);
      if (info->si_code <= 0) // sent by somebody: it does not come again by itself
        raise(number);
    } else if (action.sa_handler != SIG_IGN) {
      action.sa_handler(number);
    }
  }

  static const char *nameOf(int number) {
    return number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE" : "SIGILL";
  }

  // The last words where the process cannot go on.
  static void tell(const CompiledCall &call, int number) {
    char text[400];
    int length =
        std::snprintf(text, sizeof(text),
                      "nacre: the kernel `%.200s` caused a fault (%s) in %s; run it with TRITON_INTERPRET=1 "
                      "to see where\n",
                      call.code.name, nameOf(number), call.isInCallback ? "the runtime" : "a library that it calls");
    ssize_t ignored = write(STDERR_FILENO, text, static_cast<size_t>(length));
    (void)ignored;
  }

  static void onFault(int number, siginfo_t *info, void *untyped) {
    auto *context = static_cast<ucontext_t *>(untyped);
    ThreadRecord *record = selfInHandler();
    CompiledCall *call = record ? record->innermost.load(std::memory_order_relaxed) : nullptr;
    size_t index = 0;
    while (faultSignals[index] != number)
      ++index;
    if (!call || info->si_code <= 0) {
      bool isSurvived = llvm::CrashRecoveryContext::GetCurrent() != nullptr; // a compile that ends so is an error
      if (!isSurvived && info->si_code > 0)
        sayLastWords(nameOf(number));
      return passOn(number, info, untyped, earlier[index]);
    }
    const greg_t *registers = context->uc_mcontext.gregs;
    auto instruction = static_cast<uint64_t>(registers[REG_RIP]);
    bool isInside = isInCode(*call, instruction);
    if (call->isLeaving || (!isInside && (call->isInCallback || call->code.callsLibraries))) {
      tell(*call, number);
      return passOn(number, info, untyped, earlier[index]);
    }
    // A function of the C library that the code calls: its caller is on the top of the stack.
    if (!isInside)
      instruction = *reinterpret_cast<const uint64_t *>(registers[REG_RSP]) - 1;
    call->found.signal = number;
    call->found.hasAddress = (number == SIGSEGV || number == SIGBUS) && info->si_code != SI_KERNEL;
    call->found.address = reinterpret_cast<uint64_t>(info->si_addr);
    call->found.instruction = isInCode(*call, instruction) ? instruction : 0;
    redirect(context, call);
  }

  // A compile that aborts is an error, but for one in which the C library finds the heap damaged: it holds the
  // allocator's lock, so that whoever went on would wait for it forever. The handlers from before LLVM's come next.
  static void onAbort(int number, siginfo_t *info, void *context) {
    bool isOurs = info->si_pid == getpid(), isCompiling = llvm::CrashRecoveryContext::GetCurrent() != nullptr;
    bool isEnd = !isCompiling || isAbortForDamage();
    if (isOurs && isEnd)
      sayLastWords("SIGABRT");
    if (!isCompiling || !isEnd)
      return passOn(number, info, context, earlierAbort);
    llvm::CrashRecoveryContext::Disable();
    raise(SIGABRT); // delivered when this handler returns
  }

  static void onNudge(int number, siginfo_t *info, void *untyped) {
    int savedError = errno;
    ThreadRecord *record = selfInHandler();
    if (info->si_code != SI_QUEUE || !record || info->si_value.sival_ptr != record) {
      bool isOfInterest = (earlierNudge.sa_flags & SA_SIGINFO) || earlierNudge.sa_handler != SIG_DFL; // ignored else
      if (isOfInterest)
        passOn(number, info, untyped, earlierNudge);
      errno = savedError;
      return;
    }
    auto *context = static_cast<ucontext_t *>(untyped);
    CompiledCall *call = record->innermost.load(std::memory_order_relaxed);
    auto instruction = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
    bool isInside = call && isInCode(*call, instruction);
    if (Samples *samples = call ? call->launch.samples.load(std::memory_order_relaxed) : nullptr)
      samples->add(isInside ? instruction : 0);
    // In the code itself nothing is half done: here may be asked whatever a call of the code could have asked.
    // Elsewhere the next nudge will do.
    if (isInside && !call->isLeaving) {
      if (call->launch.isLaunchingThread())
        call->launch.look();
      if (call->launch.isStopped())
        redirect(context, call);
    }
    errno = savedError;
  }

  static void install() {
    if (pthread_key_create(&selfKey, nullptr) != 0)
      throw std::bad_alloc();
    llvm::CrashRecoveryContext::Enable(); // before ours: what faults while it compiles is passed on to it
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < std::size(faultSignals); ++i)
      sigaction(faultSignals[i], &action, &earlier[i]);
    prepareLastWords();
    action.sa_sigaction = onAbort;
    sigaction(SIGABRT, &action, &earlierAbort);
    action.sa_sigaction = onNudge; // on the thread's own stack: Python may run its handlers
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(nudgeSignal, &action, &earlierNudge);
    onFork(renewAfterFork);
  }
};

namespace {

// A stack for handlers, where a thread has none.
class HandlerStack {
public:
  HandlerStack() {
    stack_t current;
    if (sigaltstack(nullptr, &current) != 0 || !(current.ss_flags & SS_DISABLE))
      return;
    range = mapFenced(handlerStack + getauxval(AT_MINSIGSTKSZ));
    stack_t own = {};
    own.ss_sp = range.memory;
    own.ss_size = range.size;
    sigaltstack(&own, nullptr);
  }
  ~HandlerStack() {
    stack_t current, none = {};
    none.ss_flags = SS_DISABLE;
    if (sigaltstack(nullptr, &current) != 0 || current.ss_sp != range.memory)
      return; // somebody has put another in its place
    sigaltstack(&none, nullptr);
    unmapFenced(range);
  }

private:
  FencedRange range;
};

struct Registration {
  HandlerStack stack;
  ~Registration() {
    pthread_setspecific(selfKey, nullptr);
    if (ThreadRecord *record = std::exchange(self, nullptr))
      records().giveBack(record);
  }
};

__attribute__((noinline)) ThreadRecord &registerThread() {
  static const bool installed = (Signals::install(), true);
  (void)installed;
  static thread_local Registration registration;
  (void)registration;
  self = records().take();
  if (pthread_setspecific(selfKey, self) != 0)
    throw std::bad_alloc();
  return *self;
}

inline ThreadRecord &ownRecord() { return self ? *self : registerThread(); }

} // namespace

Stoppable::Stoppable(const std::function<bool()> *interrupted) : interrupted(interrupted) {
  if (!interrupted)
    return;
  ThreadRecord &record = ownRecord();
  if (record.launches.load(std::memory_order_relaxed) % 2 == 1)
    return; // inside another launch, which looks
  launcher = &record;
  record.isDue.store(false, std::memory_order_relaxed);
  record.launches.fetch_add(1, std::memory_order_seq_cst);
  LaunchWatch::get()->wakeIfAsleep();
}

Stoppable::~Stoppable() {
  if (launcher)
    launcher->launches.store(launcher->launches.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (watch)
    --watch->stopping;
}

void Stoppable::stop() {
  if (stopped.exchange(true))
    return;
  watch = LaunchWatch::get();
  ++watch->stopping;
  watch->wake();
}

bool Stoppable::isLaunchingThread() const { return launcher && launcher == self; }

void Stoppable::look() {
  if (!launcher || !launcher->isDue.load(std::memory_order_relaxed) || isStopped())
    return;
  launcher->isDue.store(false, std::memory_order_relaxed);
  if ((*interrupted)()) {
    isInterrupted = true;
    stop();
  }
}

CompiledCall::CompiledCall(const CodeRange &code, Stoppable &launch)
    : code(code), launch(launch), outer(ownRecord().innermost.load(std::memory_order_relaxed)) {
  self->calls.store(self->calls.load(std::memory_order_relaxed) + !outer, std::memory_order_relaxed);
  self->innermost.store(this, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

CompiledCall::~CompiledCall() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  self->innermost.store(outer, std::memory_order_relaxed);
  self->calls.store(self->calls.load(std::memory_order_relaxed) + !outer, std::memory_order_relaxed);
}

} // namespace nacre
