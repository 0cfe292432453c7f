// The destructors of two threads add to one total without a lock. They run after the threads' functions have returned, and
// are part of the threads all the same. Every mode reports.
#include <pthread.h>

pthread_key_t key;
long total;

static void destroy(void *value) {
    total += (long)value;                               // expect: data-race write write #1 | read write #1
}

void *work(void *arg) {
    pthread_setspecific(key, arg);
    return 0;
}

int main(void) {
    total = 0;
    pthread_key_create(&key, destroy);
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)1);
    pthread_create(&b, 0, work, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
