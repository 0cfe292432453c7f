// Two wait, one notification is given.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go_cond = PTHREAD_COND_INITIALIZER;
static int go;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!go)
        pthread_cond_wait(&go_cond, &lock); // expect: deadlock #1
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_signal(&go_cond);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL); // expect: deadlock #1
    pthread_join(b, NULL); // expect: deadlock #1
    return 0;
}
