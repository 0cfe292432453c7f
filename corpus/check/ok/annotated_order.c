// The program says itself what orders it, and which race does no harm.
#include <pthread.h>
#include <stdatomic.h>
#include "raddle/annotations.h"

static int data, hits;
static atomic_int step;

static void *worker(void *arg) {
    data = 1;
    ANNOTATE_HAPPENS_BEFORE(&step);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    hits++;
    return arg;
}

int main(void) {
    pthread_t t;
    ANNOTATE_BENIGN_RACE_SIZED(&hits, sizeof hits, "only a statistic");
    pthread_create(&t, NULL, worker, NULL);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {}
    ANNOTATE_HAPPENS_AFTER(&step);
    data++;
    hits++;
    pthread_join(t, NULL);
    return data;
}
