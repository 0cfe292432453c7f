// Initialised on first use, by whoever comes first, or both.
#include <pthread.h>

static int initialised;
static int table[4];

static void init(void) {
    if (!initialised) { // expect: data-race read #1
        for (int i = 0; i < 4; i++)
            table[i] = i * i; // expect: data-race write #2
        initialised = 1; // expect: data-race write #1
    }
}

static void *worker(void *arg) {
    init();
    return (void *)(long)table[2]; // expect: data-race read #2
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
