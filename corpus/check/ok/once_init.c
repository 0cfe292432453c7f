// Initialised once.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table[4];

static void init(void) {
    for (int i = 0; i < 4; i++)
        table[i] = i * i;
}

static void *worker(void *arg) {
    pthread_once(&once, init);
    return (void *)(long)table[2];
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
