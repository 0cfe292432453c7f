// Without `_Atomic` the assignment of a record is many accesses.
#include <pthread.h>

struct pair { int a, b; };
static struct pair shared;

static void *worker(void *arg) {
    struct pair v = {1, 2};
    shared = v; // expect: data-race write #1
    return arg;
}

int main(void) {
    pthread_t t;
    struct pair v = {3, 4};
    pthread_create(&t, NULL, worker, NULL);
    shared = v; // expect: data-race write #1
    pthread_join(t, NULL);
    return 0;
}
