// expect(sc): nothing
// expect(c11): assertion
// A reference count lowered relaxed: the last one out may not see what the others wrote before they left.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int references = 2, written[2];
#define ORDER memory_order_relaxed

void *user(void *arg) {
    atomic_int *mine = arg;
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&references, 1, ORDER) == 1) {
        int both = 0;
        for (int i = 0; i < 2; i++) both += atomic_load_explicit(&written[i], memory_order_relaxed);
        assert(both == 2);                              // expect: assertion here
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, &written[0]);
    pthread_create(&b, 0, user, &written[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
