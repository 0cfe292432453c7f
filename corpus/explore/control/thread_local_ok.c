// expect: nothing
// errno and thread-local variables belong to each thread, whatever runs in between.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

_Thread_local int mine = 7;
_Thread_local int *self = 0;

void *worker(void *arg) {
    assert(mine == 7 && self == 0);
    mine = (int)(intptr_t)arg;
    self = &mine;
    errno = 100 + mine;
    sched_yield();
    assert(errno == 100 + mine);
    assert(mine == (int)(intptr_t)arg && self == &mine);
    return self;
}

int main(void) {
    pthread_t a, b;
    errno = 5;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    sched_yield();
    assert(errno == 5 && mine == 7);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(errno == 5 && mine == 7);
    return 0;
}
