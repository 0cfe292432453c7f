// The first thread has long ended when the second starts, but nothing says so: main joins it only afterwards. A race in
// every mode. A detector that gives the second thread the first one's number, or its stack's shadow, misses it.
#include <pthread.h>
#include <unistd.h>

int shared;

void *first(void *arg) {
    shared = 1;                                         // expect: data-race write #1
    return arg;
}

void *second(void *arg) {
    shared = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    usleep(50000);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
