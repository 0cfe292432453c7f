// expect: nothing
// Cancellation points: a sleep, a semaphore, a join, a read that never comes, and pthread_testcancel; none while it is turned off.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

sem_t never, off;
int nothing[2];
atomic_int cleaned;

static void clean_up(void *arg) {
    (void)arg;
    atomic_fetch_add(&cleaned, 1);
}

void *sleeps(void *arg) {
    pthread_cleanup_push(clean_up, 0);
    for (;;) sleep(1000);
    pthread_cleanup_pop(0);
    return arg;
}

void *takes(void *arg) {
    pthread_cleanup_push(clean_up, 0);
    sem_wait(&never);
    pthread_cleanup_pop(0);
    return arg;
}

void *reads(void *arg) {
    char c;
    pthread_cleanup_push(clean_up, 0);
    if (read(nothing[0], &c, 1) != 1) return arg;
    pthread_cleanup_pop(0);
    return arg;
}

void *tests(void *arg) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    assert(before == PTHREAD_CANCEL_ENABLE);
    pthread_cleanup_push(clean_up, 0);
    while (sem_wait(&off) != 0) {}
    pthread_testcancel(); // turned off
    atomic_fetch_add(&cleaned, 10);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    for (;;) pthread_testcancel();
    pthread_cleanup_pop(0);
    return arg;
}

static void ends(void *(*body)(void *)) {
    pthread_t t;
    void *how;
    assert(pthread_create(&t, 0, body, 0) == 0);
    assert(pthread_cancel(t) == 0);
    if (body == tests) sem_post(&off);
    assert(pthread_join(t, &how) == 0 && how == PTHREAD_CANCELED);
}

int main(void) {
    sem_init(&never, 0, 0);
    sem_init(&off, 0, 0);
    assert(pipe(nothing) == 0);
    ends(sleeps);
    ends(takes);
    ends(reads);
    ends(tests);
    assert(atomic_load(&cleaned) >= 11 && atomic_load(&cleaned) <= 14);
    return 0;
}
