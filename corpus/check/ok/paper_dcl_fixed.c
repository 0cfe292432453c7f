// Table 3, DCL Fixed: the pointer is atomic.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct singleton { int value; };
static _Atomic(struct singleton *) instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct singleton *get(void) {
    struct singleton *s = atomic_load_explicit(&instance, memory_order_acquire);
    if (s == NULL) {
        pthread_mutex_lock(&lock);
        s = atomic_load_explicit(&instance, memory_order_relaxed);
        if (s == NULL) {
            s = malloc(sizeof *s);
            s->value = 42;
            atomic_store_explicit(&instance, s, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return s;
}

static void *user(void *arg) {
    return (void *)(long)get()->value;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
