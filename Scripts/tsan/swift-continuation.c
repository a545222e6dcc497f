// Teaches ThreadSanitizer what a continuation does on Linux that is resumed before its task suspends.
//
// Swift's concurrency runtime is not instrumented, but tells the sanitizer of what it hands over, from thread to thread
// and from task to task, through `_swift_tsan_release` and `_swift_tsan_acquire`. It leaves out one edge. Resuming a
// continuation releases the task; a task that has suspended by then acquires it when it next runs. A task that has not,
// because the other thread was faster, goes straight on from `swift_continuation_await` to the code after it, and
// acquires nothing. Whatever it then reads of what it was resumed with would be reported as a race.
//
// This file takes the place of `_swift_tsan_release`. While a continuation is being resumed whose task has not suspended,
// it leaves a function of its own where the runtime looks up the code after the continuation. That function acquires the
// task and goes on to the code. The runtime looks there only where the task goes straight on: one that has suspended
// goes on from the task itself. So a task acquires what the resuming thread did up to then, at the moment when it goes
// on. What the task does before it awaits, and what the thread does after it resumed, is ordered by nothing, as before.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context)) void *context

typedef ASYNC void Continue(CONTEXT);

// The beginning of swift::ContinuationAsyncContext, which belongs to the resuming thread until `status` says otherwise.
struct Continuation {
    void *parent;
    Continue *afterwards;
    uintptr_t flags;
    _Atomic uintptr_t status;
};

// What `status` is from the making of a continuation to the first of awaiting and resuming, and the bit of `flags` that
// sends the task to another executor afterwards, which releases and acquires it.
enum { PENDING = 0, CHANGES_EXECUTOR = 2 };

// The beginning of swift::AsyncTask. While its continuation is not awaited, the last two say where it goes on after it.
struct Task {
    void *header[2];
    void *scheduler[2];
    uint32_t flags, identifier;
    void *voucher, *reserved;
    Continue *afterwards;
    struct Continuation *continuation;
};

struct Function {
    const char *name;
    uintptr_t start, end;
};

void __tsan_acquire(void *address);

extern void (*_swift_tsan_release)(void *address);

static struct Task *(*currentTask)(void);
static void (*release)(void *address);
// The functions of the runtime that resume a continuation. They release nothing but its task.
static struct Function resuming[] = {
    {.name = "swift_continuation_resume"},
    {.name = "swift_continuation_throwingResume"},
    {.name = "swift_continuation_throwingResumeWithError"},
};

static ASYNC void acquireAndContinue(CONTEXT) {
    struct Task *task = currentTask();
    __tsan_acquire(task);
    __attribute__((musttail)) return task->afterwards(context);
}

static bool isResuming(uintptr_t caller) {
    for (size_t i = 0; i < sizeof resuming / sizeof *resuming; i++) {
        if (resuming[i].start <= caller && caller < resuming[i].end) return true;
    }
    return false;
}

static void releaseTask(void *address) {
    release(address);
    if (!isResuming((uintptr_t)__builtin_return_address(0))) return;
    struct Continuation *continuation = ((struct Task *)address)->continuation;
    if (atomic_load(&continuation->status) != PENDING || continuation->flags & CHANGES_EXECUTOR) return;
    continuation->afterwards = acquireAndContinue;
}

// An executable that uses no concurrency does not load the library, and resumes nothing.
__attribute__((constructor)) static void takePlace(void) {
    currentTask = dlsym(RTLD_DEFAULT, "swift_task_getCurrent");
    for (size_t i = 0; i < sizeof resuming / sizeof *resuming; i++) {
        void *start = dlsym(RTLD_DEFAULT, resuming[i].name);
        Dl_info library;
        const ElfW(Sym) *symbol = NULL;
        if (!start || !dladdr1(start, &library, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) continue;
        resuming[i].start = (uintptr_t)start;
        resuming[i].end = (uintptr_t)start + symbol->st_size;
    }
    release = _swift_tsan_release;
    if (release && currentTask) _swift_tsan_release = releaseTask;
}
