// Bit-fields beside each other are one memory location.
#include <pthread.h>

static struct { unsigned open : 1; unsigned dirty : 1; } flags;

static void *opener(void *arg) {
    flags.open = 1; // expect: data-race write #1
    return NULL;
}

static void *writer(void *arg) {
    flags.dirty = 1; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, opener, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
