// expect: nothing
// Progress is whatever it is: an atomic count is printed while another thread counts, and a carriage return ends a line.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int done;

static void *work(void *arg) {
    for (int i = 0; i < 4; i++)
        done++;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    for (int i = 0; i < 2; i++)
        printf("\r%d of 4", done);
    pthread_join(t, 0);
    printf("\r%d of 4\n", done);
    return 0;
}
