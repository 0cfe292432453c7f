// A thread-local variable is not shared.
#include <pthread.h>

static _Thread_local int last = 5;
static __thread char name[16];

static int next_id(void) {
    name[0] = 'x';
    return ++last;
}

static void *worker(void *arg) {
    long n = 0;
    for (int i = 0; i < 5; i++)
        n += next_id();
    return (void *)n;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
