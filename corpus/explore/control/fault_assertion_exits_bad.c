// expect: assertion
//@ bound: 0
// The program's handler of `SIGABRT` ends it with a status: what failed is the assertion.
// Fails when: the checker comes before the setter.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ready;

static void leave(int signal) { _exit(signal); }

static void *checker(void *arg) {
    assert(atomic_load(&ready));
    return arg;
}

static void *setter(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    signal(SIGABRT, leave);
    pthread_t a, b;
    pthread_create(&a, 0, setter, 0);
    pthread_create(&b, 0, checker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
