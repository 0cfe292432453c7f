// expect: nothing
// Two threads yield four times before they block, as a lock that spins does, and main wakes both.
// `yield_then_block_bad.c` is the twin.
#include <pthread.h>
#include <sched.h>

static int set;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static int is_set(void) {
    pthread_mutex_lock(&m);
    int is = set;
    pthread_mutex_unlock(&m);
    return is;
}

static void *waits(void *arg) {
    for (int i = 0; i < 4; i++) {
        if (is_set()) return arg;
        sched_yield();
    }
    pthread_mutex_lock(&m);
    while (!set) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, waits, 0);
    pthread_mutex_lock(&m);
    set = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
