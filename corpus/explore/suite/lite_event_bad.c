// expect: assertion | deadlock
//@ bound: 1
// The event of figure 2 (5.4.1 of the paper), used with two waiters as its author did not mean it: one of them disposes of the
// kernel event while the other is about to wait for it.
// Fails when: waiter A has made the event and is preempted before it waits; the setter sets; waiter B returns at once and disposes;
// A waits for an event that is gone. Or A waits in time, but B disposes before the setter comes to post: A waits for ever.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int signalled;
sem_t kernel_event;
sem_t *_Atomic event; // none until somebody has to wait
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void set(void) {
    atomic_store(&signalled, 1);
    if (!atomic_load(&event)) return;
    pthread_mutex_lock(&mu);
    sem_t *e = atomic_load(&event);
    if (e) sem_post(e), sem_post(e);
    pthread_mutex_unlock(&mu);
}

static void wait_for_it(void) {
    if (atomic_load(&signalled)) return;
    pthread_mutex_lock(&mu);
    if (!atomic_load(&event)) atomic_store(&event, &kernel_event);
    pthread_mutex_unlock(&mu);
    if (atomic_load(&signalled)) return;
    sem_t *e = atomic_load(&event);
    assert(e);                                          // expect: assertion here
    sem_wait(e);                                        // expect: deadlock here
}

static void dispose(void) {
    pthread_mutex_lock(&mu);
    atomic_store(&event, NULL);
    pthread_mutex_unlock(&mu);
}

void *waiter(void *arg) {
    wait_for_it();
    if (arg) dispose();
    return arg;
}

void *setter(void *arg) {
    set();
    return arg;
}

int main(void) {
    sem_init(&kernel_event, 0, 0);
    pthread_t a, b, s;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, waiter, &event);
    pthread_create(&s, 0, setter, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    pthread_join(s, 0);
    return 0;
}
