// Three processes, each with a race on a variable of its own.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int first, second, parent;

static void *bump(void *variable) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) ++*(volatile int *)variable;
    return 0;
}

static void race(volatile int *variable) {
    pthread_t a, b;
    pthread_create(&a, 0, bump, (void *)variable);
    pthread_create(&b, 0, bump, (void *)variable);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

int main(void) {
    volatile int *variables[] = {&first, &second};
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            race(variables[i]);
            _exit(0);
        }
    }
    race(&parent);
    while (wait(0) > 0) continue;
    return 0;
}
