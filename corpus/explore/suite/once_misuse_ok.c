// expect: nothing
// pthread_once: whoever comes while the first is at work waits for it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_once_t begun = PTHREAD_ONCE_INIT;
atomic_int table;

static void initialise(void) {
    atomic_store(&table, 42);
}

void *user(void *arg) {
    pthread_once(&begun, initialise);
    assert(atomic_load(&table) == 42);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
