// expect: nothing
// pthread_once: one of three initialises, all see the result.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3 };
pthread_once_t once = PTHREAD_ONCE_INIT;
int calls, table;

static void initialise(void) {
    calls++;
    table = 42;
}

void *user(void *arg) {
    pthread_once(&once, initialise);
    assert(table == 42);
    return arg;
}

int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, user, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    assert(calls == 1);
    return 0;
}
