// The names of the verification competition.
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int x, y;

static void *worker(void *arg) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n > 0);
    __VERIFIER_atomic_begin();
    x = n;
    __VERIFIER_atomic_end();
    y = n; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
