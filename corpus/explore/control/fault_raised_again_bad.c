// expect: crash
//@ bound: 0
// A handler that reports a crash and then ends the process by the same signal.
// Fails when: the reader comes before the pointer is set.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static int value;
static _Atomic(int *) pointer;

static void report(int signal_number) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void *reader(void *arg) {
    return *atomic_load(&pointer) == 7 ? arg : NULL;    // expect: crash here
}

static void *setter(void *arg) {
    atomic_store(&pointer, &value);
    return arg;
}

int main(void) {
    signal(SIGSEGV, report);
    pthread_t a, b;
    pthread_create(&a, 0, setter, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
