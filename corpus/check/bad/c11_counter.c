// C11 threads, no lock.
#include <threads.h>

static int counter;

static int worker(void *arg) {
    counter += 2; // expect: data-race write #1, data-race read #1
    return 0;
}

int main(void) {
    thrd_t a, b;
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return counter;
}
