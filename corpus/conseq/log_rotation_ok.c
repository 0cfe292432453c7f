// expect: nothing
// The twin of log_rotation_bad.c: rotating and inserting keep each other out.
#include <pthread.h>
#include <stdio.h>

enum { CLOSED, OPEN };
volatile int log_state = OPEN;
int rows;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *rotate(void *arg) {
    pthread_mutex_lock(&lock);
    log_state = CLOSED;
    log_state = OPEN;
    pthread_mutex_unlock(&lock);
    return arg;
}

void *insert(void *arg) {
    pthread_mutex_lock(&lock);
    rows++;
    if (log_state == OPEN)
        printf("insert of row %d\n", rows);
    pthread_mutex_unlock(&lock);
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
