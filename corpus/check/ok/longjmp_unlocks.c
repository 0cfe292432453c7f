// The error path jumps out, and where it comes back the lock is given up.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void parse(jmp_buf env, int depth) {
    if (depth == 0)
        longjmp(env, 7);
    value++;
    parse(env, depth - 1);
}

static void *worker(void *arg) {
    jmp_buf env;
    pthread_mutex_lock(&lock);
    if (setjmp(env) == 0)
        parse(env, 3);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return value;
}
