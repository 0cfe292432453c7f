// A static variable of a function is shared by all who call it.
#include <pthread.h>

static int next_id(void) {
    static int last;
    return ++last; // expect: data-race write #1, data-race read #1
}

static void *worker(void *arg) { return (void *)(long)next_id(); }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
