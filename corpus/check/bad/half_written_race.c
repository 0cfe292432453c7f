// The race is found beside half a statement.
#include <pthread.h>

static int counter;

static int helper(int x) {
    return x +
}

static void *worker(void *arg) {
    undeclared_thing y = ;
    counter++; // expect: data-race write #1, data-race read #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
