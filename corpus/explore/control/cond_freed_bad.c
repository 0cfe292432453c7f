// expect: use-after-free
// What a condition variable lies in is freed while another thread may still signal it.
// Fails when: main has freed it before the signal.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int done;
static pthread_cond_t *cond;

static void *signals(void *arg) {
    atomic_store(&done, 1);
    pthread_cond_signal(cond);                          // expect: use-after-free here
    return arg;
}

int main(void) {
    cond = malloc(sizeof *cond);
    pthread_cond_init(cond, 0);
    pthread_t t;
    pthread_create(&t, 0, signals, 0);
    if (atomic_load(&done)) free(cond);
    pthread_join(t, 0);
    return 0;
}
