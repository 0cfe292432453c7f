// expect: error-message
// After MySQL #3596: a connection's query is taken away between two looks at it, and the second says so.
#include <pthread.h>
#include <stdio.h>

const char *volatile query = "SELECT 1";
int shown;

void *show(void *arg) {
    if (query) {
        shown++;
        if (!query)
            fprintf(stderr, "error: connection without a query\n");
    }
    return arg;
}

void *done(void *arg) {
    query = 0;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, show, 0);
    pthread_create(&b, 0, done, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
