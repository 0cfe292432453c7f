// The result is read before the join.
#include <pthread.h>

static int result;

static void *compute(void *arg) {
    result = 42; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, compute, NULL);
    int r = result; // expect: data-race read #1
    pthread_join(t, NULL);
    return r;
}
