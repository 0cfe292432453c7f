// expect: output
// After MySQL #791: the log is closed and opened again to rotate it, and an insert that comes in between finds it closed and
// leaves no entry behind.
#include <pthread.h>
#include <stdio.h>

enum { CLOSED, OPEN };
volatile int log_state = OPEN;
int rows;

void *rotate(void *arg) {
    log_state = CLOSED;
    log_state = OPEN;
    return arg;
}

void *insert(void *arg) {
    rows++;
    if (log_state == OPEN)
        printf("insert of row %d\n", rows);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, rotate, 0);
    pthread_create(&b, 0, insert, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
