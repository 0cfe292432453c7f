// expect: use-after-free
// A block that whoever lets go of it last gives back; the first thread uses it once more after it has let go.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    atomic_int count;
    int bytes[2];
} *block;

void let_go(struct block *b) {
    if (atomic_fetch_sub(&b->count, 1) == 1) free(b);
}

void *first(void *arg) {
    struct block *b = block;
    let_go(b);
    b->bytes[0] += 10;
    return arg;
}

void *second(void *arg) {
    struct block *b = block;
    b->bytes[1] += 20;
    let_go(b);
    return arg;
}

int main(void) {
    pthread_t a, b;
    block = calloc(1, sizeof *block);
    atomic_init(&block->count, 2);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
