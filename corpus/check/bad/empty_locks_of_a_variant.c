// Empty locks of a variant without threads are taken by their names, but they guard only what they
// are around.
#ifdef PLATFORM_ONE
#include "platform_one.h"
#else
typedef void *Mutex;
typedef void *Thread;
static inline int MutexLock(Mutex *mutex) {
    (void)mutex;
    return 0;
}
static inline int MutexUnlock(Mutex *mutex) {
    (void)mutex;
    return 0;
}
#endif

static Mutex lock, other;
static int next, done, wrong;

static void *work(void *context) {
    MutexLock(&lock);
    ++next;
    MutexUnlock(&lock);
    done++; // expect: data-race #1
    MutexLock(context);
    ++wrong; // expect: data-race #2
    MutexUnlock(context);
    return context;
}

int main(void) {
    Thread first, second;
    ThreadCreate(&first, work, &lock);
    ThreadCreate(&second, work, &other);
    ThreadJoin(&first);
    ThreadJoin(&second);
    return 0;
}
