// expect: assertion
//@ bound: 1
// A home-made once: whoever finds the flag down raises it and initialises; who finds it up goes on, initialised or not.
// Fails when: A has raised the flag and is preempted before it has initialised; B goes on with nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_flag begun = ATOMIC_FLAG_INIT;
atomic_int table;

static void initialise(void) {
    atomic_store(&table, 42);
}

void *user(void *arg) {
    if (!atomic_flag_test_and_set(&begun)) initialise();
    assert(atomic_load(&table) == 42);                  // expect: assertion here
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
