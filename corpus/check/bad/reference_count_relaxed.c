// The count is relaxed, so that the free is not ordered after the other's last use.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object { atomic_int references; int payload; };

static void put(struct object *o) {
    if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_relaxed) == 1) // expect: data-race atomic-write #2
        free(o); // expect: data-race free #1, data-race free #2
}

static void *worker(void *arg) {
    struct object *o = arg;
    o->payload++; // expect: data-race write #1
    put(o);
    return NULL;
}

int main(void) {
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 2);
    o->payload = 9;
    pthread_t a;
    pthread_create(&a, NULL, worker, o);
    put(o);
    pthread_join(a, NULL);
    return 0;
}
