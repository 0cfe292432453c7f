// expect: nothing
// A work-stealing queue: the owner takes its item out first and looks at the head afterwards; when they are close it decides under
// the thieves' lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 2 };
int slot[ITEMS];
atomic_int taken[ITEMS];
atomic_int head, tail;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void run(int item) {
    assert(atomic_fetch_add(&taken[item], 1) == 0);
}

static void push(int item) {
    int t = atomic_load(&tail);
    slot[t] = item;
    atomic_store(&tail, t + 1);
}

static void pop(void) {
    int t = atomic_load(&tail) - 1;
    atomic_store(&tail, t);
    if (atomic_load(&head) <= t) {
        run(slot[t]);
        return;
    }
    pthread_mutex_lock(&mu); // no thief is half-way now
    if (atomic_load(&head) <= t) run(slot[t]);
    else atomic_store(&tail, t + 1);
    pthread_mutex_unlock(&mu);
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
