// expect: nothing
// A counted object: the reference is taken under the lock that guards the pointer, by whoever hands it out.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};
struct object *_Atomic shared;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void drop(struct object *o) {
    if (atomic_fetch_sub(&o->references, 1) == 1) free(o);
}

void *taker(void *arg) {
    pthread_mutex_lock(&mu);
    struct object *o = atomic_load(&shared);
    if (o) atomic_fetch_add(&o->references, 1);
    pthread_mutex_unlock(&mu);
    if (!o) return arg;
    arg = (char *)arg + o->value;
    drop(o);
    return arg;
}

void *owner(void *arg) {
    pthread_mutex_lock(&mu);
    struct object *o = atomic_exchange(&shared, 0);
    pthread_mutex_unlock(&mu);
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
