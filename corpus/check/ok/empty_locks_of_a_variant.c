// A variant for systems without threads has empty locks, and it is read because nothing says which
// system it is. The threads are started by a function that the other variants define.
#ifdef PLATFORM_ONE
#include "platform_one.h"
#elif defined(PLATFORM_TWO)
#include "platform_two.h"
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

static Mutex lock;
static int next;

static int take(void) {
    int taken;
    MutexLock(&lock);
    taken = next;
    ++next;
    MutexUnlock(&lock);
    return taken;
}

static void *work(void *context) {
    while (take() < 10)
        ;
    return context;
}

int main(void) {
    Thread threads[2];
    for (int i = 0; i < 2; i++)
        ThreadCreate(&threads[i], work, &next);
    for (int i = 0; i < 2; i++)
        ThreadJoin(&threads[i]);
    return 0;
}
