// Two owners of a block; whoever leaves second frees it. The exchange is acq_rel, so the first owner's exchange happened before the
// free, however late the detector hears of it. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box { char pad[64]; atomic_bool left; };
enum { BOXES = 5000 };
static struct box *boxes[BOXES];
static pthread_barrier_t go;

static void leave(struct box *b) {
    if (atomic_exchange_explicit(&b->left, 1, memory_order_acq_rel)) free(b);
}

static void *owner(void *arg) {
    pthread_barrier_wait(&go);
    for (int i = 0; i < BOXES; i++) leave(boxes[i]);
    return arg;
}

int main(void) {
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < BOXES; i++) boxes[i] = calloc(1, sizeof **boxes);
        pthread_t a, b;
        pthread_barrier_init(&go, 0, 2);
        pthread_create(&a, 0, owner, 0);
        pthread_create(&b, 0, owner, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        pthread_barrier_destroy(&go);
    }
    return 0;
}
