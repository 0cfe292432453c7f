// expect: nothing
// A ticket lock whose tickets are drawn in one operation.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_uint next, now;
int entered, left;

void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        unsigned ticket = atomic_fetch_add(&next, 1);
        while (atomic_load(&now) < ticket)
            sched_yield();
        entered++;
        assert(entered - left == 1);
        left++;
        atomic_store(&now, ticket + 1);
    }
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
