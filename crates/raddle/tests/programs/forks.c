// Three processes, each with a race on a variable of its own.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int first, second, parent;

static void *bump(void *variable) {
    ++*(int *)variable;
    return 0;
}

static void race(int *variable) {
    pthread_t a, b;
    pthread_create(&a, 0, bump, variable);
    pthread_create(&b, 0, bump, variable);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

int main(void) {
    int *variables[] = {&first, &second};
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
