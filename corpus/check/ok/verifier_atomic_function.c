// By the rules of SV-COMP a function of such a name runs without interruption; one may call another.
#include <pthread.h>

static int n;
static void __VERIFIER_atomic_add(int by) { n += by; }
static void __VERIFIER_atomic_twice(void) {
    __VERIFIER_atomic_add(1);
    __VERIFIER_atomic_add(1);
}

static void *worker(void *arg) {
    __VERIFIER_atomic_twice();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    __VERIFIER_atomic_add(1);
    pthread_join(t, NULL);
    return 0;
}
