// expect: assertion
//@ bound: 1
// A work-stealing queue: the owner pops at the tail, a thief steals at the head. The pop looks at the head before it takes its
// item out (it should take it out first and then look), so that both may get the last one.
// Fails when: the owner sees head < tail with one item left; the thief steals it; the owner takes it as well.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 2 };
int slot[ITEMS];
atomic_int taken[ITEMS];
atomic_int head, tail;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; // thieves

static void run(int item) {
    assert(atomic_fetch_add(&taken[item], 1) == 0);     // expect: assertion here
}

static void push(int item) {
    int t = atomic_load(&tail);
    slot[t] = item;
    atomic_store(&tail, t + 1);
}

static void pop(void) {
    int t = atomic_load(&tail) - 1;
    if (atomic_load(&head) <= t) { // too early
        atomic_store(&tail, t);
        run(slot[t]);
    }
}

static void steal(void) {
    pthread_mutex_lock(&mu);
    int h = atomic_load(&head);
    atomic_store(&head, h + 1);
    if (h < atomic_load(&tail)) run(slot[h]);
    else atomic_store(&head, h);
    pthread_mutex_unlock(&mu);
}

void *thief(void *arg) {
    steal();
    return arg;
}

int main(void) {
    push(0);
    push(1);
    pthread_t t;
    pthread_create(&t, 0, thief, 0);
    pop();
    pop();
    pthread_join(t, 0);
    return 0;
}
