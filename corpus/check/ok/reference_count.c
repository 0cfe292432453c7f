// The last one to let go frees; the count is released and acquired.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object { atomic_int references; int payload; };

static void put(struct object *o) {
    if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) == 1)
        free(o);
}

static void *worker(void *arg) {
    struct object *o = arg;
    int p = o->payload;
    put(o);
    return (void *)(long)p;
}

int main(void) {
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 3);
    o->payload = 9;
    pthread_t a, b;
    pthread_create(&a, NULL, worker, o);
    pthread_create(&b, NULL, worker, o);
    put(o);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
