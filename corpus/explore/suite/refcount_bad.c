// expect: use-after-free
//@ bound: 1
// A counted object: the last one out frees it; but a user takes its reference only after it has the pointer.
// Fails when: the taker has read the pointer; the owner drops the last reference and frees; the taker touches the freed block.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};
struct object *_Atomic shared;

static void drop(struct object *o) {
    if (atomic_fetch_sub(&o->references, 1) == 1) free(o);
}

void *taker(void *arg) {
    struct object *o = atomic_load(&shared);
    if (!o) return arg;
    atomic_fetch_add(&o->references, 1);                // expect: use-after-free here
    arg = (char *)arg + o->value;                       // expect: use-after-free here
    drop(o);
    return arg;
}

void *owner(void *arg) {
    struct object *o = atomic_exchange(&shared, 0);
    drop(o);
    return arg;
}

int main(void) {
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 1);
    o->value = 0;
    atomic_store(&shared, o);
    pthread_t a, b;
    pthread_create(&a, 0, taker, 0);
    pthread_create(&b, 0, owner, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
