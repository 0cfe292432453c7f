// A record that is atomic as a whole is assigned and read at once.
#include <pthread.h>

struct pair { int a, b; };
static _Atomic struct pair shared;

static void *worker(void *arg) {
    struct pair v = {1, 2};
    shared = v;
    return arg;
}

int main(void) {
    pthread_t t;
    struct pair v = {3, 4};
    pthread_create(&t, NULL, worker, NULL);
    shared = v;
    v = shared;
    pthread_join(t, NULL);
    return v.a;
}
