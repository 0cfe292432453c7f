// The error path jumps out past the unlock; the lock is never given back.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void parse(jmp_buf env, int bad) {
    pthread_mutex_lock(&lock); // expect: lock-leak #1
    value++;
    if (bad)
        longjmp(env, 1);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    jmp_buf env;
    if (setjmp(env) == 0)
        parse(env, 1);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    return 0;
}
