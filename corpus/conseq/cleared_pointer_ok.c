// expect: nothing
// The twin of cleared_pointer_bad.c: test and use are one section.
#include <pthread.h>
#include <stdio.h>

struct script {
    int lines;
};
struct script program = {3};
struct script *volatile current = &program;
int compiled;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *compile(void *arg) {
    pthread_mutex_lock(&lock);
    if (current)
        compiled += current->lines;
    pthread_mutex_unlock(&lock);
    return arg;
}

void *collect(void *arg) {
    pthread_mutex_lock(&lock);
    current = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, compile, 0);
    pthread_create(&b, 0, collect, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return compiled > 3;
}
