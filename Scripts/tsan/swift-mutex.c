// Teaches ThreadSanitizer what Synchronization.Mutex does on Linux.
//
// The uncontended path of Mutex is inlined into the caller: a compare-and-exchange on the lock's word, which the
// sanitizer instruments and understands. The contended path is three functions in libswiftSynchronization, which is
// not instrumented: they pass the lock on through the kernel (FUTEX_LOCK_PI, FUTEX_UNLOCK_PI), and the sanitizer sees
// neither the release nor the acquire. Every contended lock would be reported as a race.
//
// This file defines the same three functions in the instrumented executable, where the dynamic linker finds them
// first. Each calls the library's own and reports to the sanitizer the one edge that it cannot see, on the lock's own
// address. That is the address of the inlined atomics, so both paths share one clock. No other edge is reported: code
// that takes no lock, or another lock, is a race as before.
//
// No assembly is needed: Clang's swiftcall convention puts `self` where Swift does on every processor.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Synchronization._MutexHandle._lockSlow(UInt32) -> (), ._tryLockSlow() -> Bool and ._unlockSlow() -> ().
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void lockSlow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT bool tryLockSlow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT void unlockSlow(SELF) __asm__(UNLOCK_SLOW);

static SWIFT void (*libraryLockSlow)(uint32_t thread, SELF);
static SWIFT bool (*libraryTryLockSlow)(SELF);
static SWIFT void (*libraryUnlockSlow)(SELF);

// An executable that uses no Mutex does not load the library, and never calls what is not found.
__attribute__((constructor)) static void findLibraryFunctions(void) {
    libraryLockSlow = dlsym(RTLD_NEXT, LOCK_SLOW);
    libraryTryLockSlow = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    libraryUnlockSlow = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

// The lock is held when the library returns: what its last holder did has happened before.
SWIFT void lockSlow(uint32_t thread, SELF) {
    libraryLockSlow(thread, self);
    __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) {
    bool locked = libraryTryLockSlow(self);
    if (locked) __tsan_acquire(self);
    return locked;
}

// The lock is still held here: what this holder did happens before the next one begins.
SWIFT void unlockSlow(SELF) {
    __tsan_release(self);
    libraryUnlockSlow(self);
}
