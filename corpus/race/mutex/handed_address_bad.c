// The address of an object is handed over under a lock, but one member is written after that, and another object is
// not handed over at all. `handed_address_ok.c` is the twin.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct object {
    _Alignas(64) long early, late;
} handed;
_Alignas(1024) long other;

static struct object *published; // under mu
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    handed.early = 1;
    other = 1;                                          // expect(hybrid fast): data-race write #2
    pthread_mutex_lock(&mu);
    published = &handed;
    pthread_mutex_unlock(&mu);
    handed.late = 1; /* too late */                     // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&mu);
    struct object *object = published;
    pthread_mutex_unlock(&mu);
    other = 2;                                          // expect(hybrid fast): data-race write #2
    object->late = 2;                                   // expect: data-race write #1
    object->early = 2;
    return arg;
}

int main(void) {
    handed.early = handed.late = other = 0;
    published = NULL;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
