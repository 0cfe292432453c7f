// expect: crash
// After Mozilla's Javascript engine (figure 1a of the paper): a pointer that is tested, cleared elsewhere, and used.
#include <pthread.h>
#include <stdio.h>

struct script {
    int lines;
};
struct script program = {3};
struct script *volatile current = &program;
int compiled;

void *compile(void *arg) {
    if (current)
        compiled += current->lines;
    return arg;
}

void *collect(void *arg) {
    current = 0;
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
