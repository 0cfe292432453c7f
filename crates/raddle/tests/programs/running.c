// The process ends while its threads race on.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

volatile int counter;

static void *spin(void *rounds) {
    for (;;) {
        counter++;
        atomic_fetch_add_explicit((atomic_int *)rounds, 1, memory_order_relaxed);
        usleep(100);
    }
    return 0;
}

int main(void) {
    static atomic_int rounds[2];
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, spin, &rounds[i]);
    }
    for (int i = 0; i < 2; i++) {
        while (atomic_load_explicit(&rounds[i], memory_order_relaxed) < 50) usleep(100);
    }
    exit(7);
}
