/* raddle/annotations.h: tell a race detector what it cannot see.
 *
 * The dynamic annotations of "ThreadSanitizer - data race detection in practice" (2009), section 5,
 * also under the names of helgrind.h and tsan_interface.h. `raddle cc` puts this header on the
 * include path. Without -fsanitize=thread every annotation expands to nothing, so the header can stay
 * in the program. With it, the functions are weak references, so the program also links and runs with
 * another runtime.
 */
#ifndef RADDLE_ANNOTATIONS_H
#define RADDLE_ANNOTATIONS_H

#include <stddef.h>

#if defined(__SANITIZE_THREAD__)
#define RADDLE_ANNOTATIONS_ON 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RADDLE_ANNOTATIONS_ON 1
#endif
#endif
#ifndef RADDLE_ANNOTATIONS_ON
#define RADDLE_ANNOTATIONS_ON 0
#endif

#if RADDLE_ANNOTATIONS_ON

#ifdef __cplusplus
extern "C" {
#endif
#define RADDLE_WEAK __attribute__((weak))
void AnnotateHappensBefore(const char *file, int line, const volatile void *obj) RADDLE_WEAK;
void AnnotateHappensAfter(const char *file, int line, const volatile void *obj) RADDLE_WEAK;
void AnnotateCondVarSignal(const char *file, int line, const volatile void *cv) RADDLE_WEAK;
void AnnotateCondVarSignalAll(const char *file, int line, const volatile void *cv) RADDLE_WEAK;
void AnnotateCondVarWait(const char *file, int line, const volatile void *cv, const volatile void *lock) RADDLE_WEAK;
void AnnotatePureHappensBeforeMutex(const char *file, int line, const volatile void *mu) RADDLE_WEAK;
void AnnotateMutexIsUsedAsCondVar(const char *file, int line, const volatile void *mu) RADDLE_WEAK;
void AnnotateMutexIsNotPHB(const char *file, int line, const volatile void *mu) RADDLE_WEAK;
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock) RADDLE_WEAK;
void AnnotateRWLockCreateStatic(const char *file, int line, const volatile void *lock) RADDLE_WEAK;
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock) RADDLE_WEAK;
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_write) RADDLE_WEAK;
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_write) RADDLE_WEAK;
void AnnotatePublishMemoryRange(const char *file, int line, const volatile void *p, size_t size) RADDLE_WEAK;
void AnnotateUnpublishMemoryRange(const char *file, int line, const volatile void *p, size_t size) RADDLE_WEAK;
void AnnotateNewMemory(const char *file, int line, const volatile void *p, size_t size) RADDLE_WEAK;
void AnnotateBenignRace(const char *file, int line, const volatile void *p, const char *why) RADDLE_WEAK;
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, size_t size, const char *why) RADDLE_WEAK;
void AnnotateExpectRace(const char *file, int line, const volatile void *p, const char *why) RADDLE_WEAK;
void AnnotateIgnoreReadsBegin(const char *file, int line) RADDLE_WEAK;
void AnnotateIgnoreReadsEnd(const char *file, int line) RADDLE_WEAK;
void AnnotateIgnoreWritesBegin(const char *file, int line) RADDLE_WEAK;
void AnnotateIgnoreWritesEnd(const char *file, int line) RADDLE_WEAK;
void AnnotateIgnoreSyncBegin(const char *file, int line) RADDLE_WEAK;
void AnnotateIgnoreSyncEnd(const char *file, int line) RADDLE_WEAK;
void AnnotateEnableRaceDetection(const char *file, int line, int enable) RADDLE_WEAK;
void AnnotatePCQCreate(const char *file, int line, const volatile void *queue) RADDLE_WEAK;
void AnnotatePCQDestroy(const char *file, int line, const volatile void *queue) RADDLE_WEAK;
void AnnotatePCQPut(const char *file, int line, const volatile void *queue) RADDLE_WEAK;
void AnnotatePCQGet(const char *file, int line, const volatile void *queue) RADDLE_WEAK;
void AnnotateTraceMemory(const char *file, int line, const volatile void *p) RADDLE_WEAK;
void AnnotateNoOp(const char *file, int line, const volatile void *p) RADDLE_WEAK;
void AnnotateThreadName(const char *file, int line, const char *name) RADDLE_WEAK;
void AnnotateFlushState(const char *file, int line) RADDLE_WEAK;
int RunningOnValgrind(void) RADDLE_WEAK;
void __tsan_acquire(void *addr) RADDLE_WEAK;
void __tsan_release(void *addr) RADDLE_WEAK;
void __tsan_mutex_create(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_destroy(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_pre_lock(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_post_lock(void *addr, unsigned flags, int recursion) RADDLE_WEAK;
int __tsan_mutex_pre_unlock(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_post_unlock(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_pre_signal(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_post_signal(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_pre_divert(void *addr, unsigned flags) RADDLE_WEAK;
void __tsan_mutex_post_divert(void *addr, unsigned flags) RADDLE_WEAK;
void *__tsan_get_current_fiber(void) RADDLE_WEAK;
void *__tsan_create_fiber(unsigned flags) RADDLE_WEAK;
void __tsan_destroy_fiber(void *fiber) RADDLE_WEAK;
void __tsan_switch_to_fiber(void *fiber, unsigned flags) RADDLE_WEAK;
void __tsan_set_fiber_name(void *fiber, const char *name) RADDLE_WEAK;
#ifdef __cplusplus
}
#endif

#define RADDLE_CALL(function, ...) \
    do { \
        if (function) \
            function(__FILE__, __LINE__, ##__VA_ARGS__); \
    } while (0)

#else

#define RADDLE_CALL(function, ...) do { } while (0)
#define RunningOnValgrind() 0
/* tsan_interface.h's functions, as nothing. */
#define __tsan_acquire(addr) do { } while (0)
#define __tsan_release(addr) do { } while (0)
#define __tsan_mutex_create(addr, flags) do { } while (0)
#define __tsan_mutex_destroy(addr, flags) do { } while (0)
#define __tsan_mutex_pre_lock(addr, flags) do { } while (0)
#define __tsan_mutex_post_lock(addr, flags, recursion) do { } while (0)
#define __tsan_mutex_pre_unlock(addr, flags) (0)
#define __tsan_mutex_post_unlock(addr, flags) do { } while (0)
#define __tsan_mutex_pre_signal(addr, flags) do { } while (0)
#define __tsan_mutex_post_signal(addr, flags) do { } while (0)
#define __tsan_mutex_pre_divert(addr, flags) do { } while (0)
#define __tsan_mutex_post_divert(addr, flags) do { } while (0)
#define __tsan_get_current_fiber() ((void *)0)
#define __tsan_create_fiber(flags) ((void *)0)
#define __tsan_destroy_fiber(fiber) do { } while (0)
#define __tsan_switch_to_fiber(fiber, flags) do { } while (0)
#define __tsan_set_fiber_name(fiber, name) do { } while (0)

#endif

/* Order. An arc from each HAPPENS_BEFORE to each later HAPPENS_AFTER of the same address. */
#define ANNOTATE_HAPPENS_BEFORE(obj) RADDLE_CALL(AnnotateHappensBefore, (const volatile void *)(obj))
#define ANNOTATE_HAPPENS_AFTER(obj) RADDLE_CALL(AnnotateHappensAfter, (const volatile void *)(obj))
/* Put behind `while (!condition) wait(cv, mu)`: the wait may never have been called (6.4.1). */
#define ANNOTATE_CONDVAR_LOCK_WAIT(cv, mu) \
    RADDLE_CALL(AnnotateCondVarWait, (const volatile void *)(cv), (const volatile void *)(mu))
#define ANNOTATE_CONDVAR_WAIT(cv) RADDLE_CALL(AnnotateCondVarWait, (const volatile void *)(cv), (const volatile void *)0)
#define ANNOTATE_CONDVAR_SIGNAL(cv) RADDLE_CALL(AnnotateCondVarSignal, (const volatile void *)(cv))
#define ANNOTATE_CONDVAR_SIGNAL_ALL(cv) RADDLE_CALL(AnnotateCondVarSignalAll, (const volatile void *)(cv))
/* In hybrid and fast mode this lock creates happens-before edges, as all locks do in happens-before
 * mode. NOT_HAPPENS_BEFORE_MUTEX is the opposite: the lock excludes its holders from each other and
 * creates no edges, not even in happens-before mode. */
#define ANNOTATE_PURE_HAPPENS_BEFORE_MUTEX(mu) RADDLE_CALL(AnnotatePureHappensBeforeMutex, (const volatile void *)(mu))
#define ANNOTATE_MUTEX_IS_USED_AS_CONDVAR(mu) RADDLE_CALL(AnnotateMutexIsUsedAsCondVar, (const volatile void *)(mu))
#define ANNOTATE_NOT_HAPPENS_BEFORE_MUTEX(mu) RADDLE_CALL(AnnotateMutexIsNotPHB, (const volatile void *)(mu))

/* Locks of one's own making. */
#define ANNOTATE_RWLOCK_CREATE(lock) RADDLE_CALL(AnnotateRWLockCreate, (const volatile void *)(lock))
#define ANNOTATE_RWLOCK_CREATE_STATIC(lock) RADDLE_CALL(AnnotateRWLockCreateStatic, (const volatile void *)(lock))
#define ANNOTATE_RWLOCK_DESTROY(lock) RADDLE_CALL(AnnotateRWLockDestroy, (const volatile void *)(lock))
#define ANNOTATE_RWLOCK_ACQUIRED(lock, is_write) RADDLE_CALL(AnnotateRWLockAcquired, (const volatile void *)(lock), (long)(is_write))
#define ANNOTATE_RWLOCK_RELEASED(lock, is_write) RADDLE_CALL(AnnotateRWLockReleased, (const volatile void *)(lock), (long)(is_write))

/* Memory. */
#define ANNOTATE_PUBLISH_MEMORY_RANGE(p, size) RADDLE_CALL(AnnotatePublishMemoryRange, (const volatile void *)(p), (size_t)(size))
#define ANNOTATE_UNPUBLISH_MEMORY_RANGE(p, size) RADDLE_CALL(AnnotateUnpublishMemoryRange, (const volatile void *)(p), (size_t)(size))
#define ANNOTATE_NEW_MEMORY(p, size) RADDLE_CALL(AnnotateNewMemory, (const volatile void *)(p), (size_t)(size))

/* What not to report. The description is for the reader of the program. */
#define ANNOTATE_BENIGN_RACE(p, ...) \
    RADDLE_CALL(AnnotateBenignRaceSized, (const volatile void *)(p), sizeof(*(p)), "" __VA_ARGS__)
#define ANNOTATE_BENIGN_RACE_SIZED(p, size, ...) \
    RADDLE_CALL(AnnotateBenignRaceSized, (const volatile void *)(p), (size_t)(size), "" __VA_ARGS__)
/* IGNORE_WRITES ignores reads as well, as ThreadSanitizer does. */
#define ANNOTATE_IGNORE_READS_BEGIN() RADDLE_CALL(AnnotateIgnoreReadsBegin)
#define ANNOTATE_IGNORE_READS_END() RADDLE_CALL(AnnotateIgnoreReadsEnd)
#define ANNOTATE_IGNORE_WRITES_BEGIN() RADDLE_CALL(AnnotateIgnoreWritesBegin)
#define ANNOTATE_IGNORE_WRITES_END() RADDLE_CALL(AnnotateIgnoreWritesEnd)
#define ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN() \
    do { \
        ANNOTATE_IGNORE_READS_BEGIN(); \
        ANNOTATE_IGNORE_WRITES_BEGIN(); \
    } while (0)
#define ANNOTATE_IGNORE_READS_AND_WRITES_END() \
    do { \
        ANNOTATE_IGNORE_WRITES_END(); \
        ANNOTATE_IGNORE_READS_END(); \
    } while (0)

/* Synchronisation of this thread orders nothing until END. */
#define ANNOTATE_IGNORE_SYNC_BEGIN() RADDLE_CALL(AnnotateIgnoreSyncBegin)
#define ANNOTATE_IGNORE_SYNC_END() RADDLE_CALL(AnnotateIgnoreSyncEnd)
/* With 0, races that are met from now on are not reported, in any thread; with 1 they are again. */
#define ANNOTATE_ENABLE_RACE_DETECTION(enable) RADDLE_CALL(AnnotateEnableRaceDetection, (enable))

/* A queue of your own: putting an element in happens before taking it out. */
#define ANNOTATE_PCQ_CREATE(queue) RADDLE_CALL(AnnotatePCQCreate, (const volatile void *)(queue))
#define ANNOTATE_PCQ_DESTROY(queue) RADDLE_CALL(AnnotatePCQDestroy, (const volatile void *)(queue))
#define ANNOTATE_PCQ_PUT(queue) RADDLE_CALL(AnnotatePCQPut, (const volatile void *)(queue))
#define ANNOTATE_PCQ_GET(queue) RADDLE_CALL(AnnotatePCQGet, (const volatile void *)(queue))

/* For other tools; nothing here. */
#define ANNOTATE_TRACE_MEMORY(p) RADDLE_CALL(AnnotateTraceMemory, (const volatile void *)(p))
#define ANNOTATE_NO_OP(p) RADDLE_CALL(AnnotateNoOp, (const volatile void *)(p))

/* For tests of the detector: a race on this address is wanted, and its absence is a finding. */
#define ANNOTATE_EXPECT_RACE(p, ...) RADDLE_CALL(AnnotateExpectRace, (const volatile void *)(p), "" __VA_ARGS__)

#define ANNOTATE_THREAD_NAME(name) RADDLE_CALL(AnnotateThreadName, (name))
#define ANNOTATE_FLUSH_STATE() RADDLE_CALL(AnnotateFlushState)

/* helgrind.h's names. */
#define VALGRIND_HG_MUTEX_INIT_POST(mu, recursive) ANNOTATE_RWLOCK_CREATE(mu)
#define VALGRIND_HG_MUTEX_DESTROY_PRE(mu) ANNOTATE_RWLOCK_DESTROY(mu)
#define VALGRIND_HG_MUTEX_LOCK_PRE(mu, is_trylock) do { } while (0)
#define VALGRIND_HG_MUTEX_LOCK_POST(mu) ANNOTATE_RWLOCK_ACQUIRED(mu, 1)
#define VALGRIND_HG_MUTEX_UNLOCK_PRE(mu) ANNOTATE_RWLOCK_RELEASED(mu, 1)
#define VALGRIND_HG_MUTEX_UNLOCK_POST(mu) do { } while (0)
#define VALGRIND_HG_SEM_INIT_POST(sem, value) do { } while (0)
#define VALGRIND_HG_SEM_POST_PRE(sem) ANNOTATE_HAPPENS_BEFORE(sem)
#define VALGRIND_HG_SEM_WAIT_POST(sem) ANNOTATE_HAPPENS_AFTER(sem)
#define VALGRIND_HG_SEM_DESTROY_PRE(sem) do { } while (0)
#define VALGRIND_HG_CLEAN_MEMORY(p, size) ANNOTATE_NEW_MEMORY(p, size)
#define VALGRIND_HG_DISABLE_CHECKING(p, size) ANNOTATE_BENIGN_RACE_SIZED(p, size)
#define VALGRIND_HG_ENABLE_CHECKING(p, size) do { } while (0)
#define ANNOTATE_HAPPENS_BEFORE_FORGET_ALL(obj) do { } while (0)

/* tsan_interface.h's flags. */
#ifndef TSAN_INTERFACE_H
enum {
    __tsan_mutex_linker_init = 1 << 0,
    __tsan_mutex_write_reentrant = 1 << 1,
    __tsan_mutex_read_reentrant = 1 << 2,
    __tsan_mutex_not_static = 1 << 8,
    __tsan_mutex_read_lock = 1 << 3,
    __tsan_mutex_try_lock = 1 << 4,
    __tsan_mutex_try_lock_failed = 1 << 5,
    __tsan_mutex_recursive_lock = 1 << 6,
    __tsan_mutex_recursive_unlock = 1 << 7
};
#endif

#endif
