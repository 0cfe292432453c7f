// A thread makes a named semaphore: whoever finds it comes after. It finds the one that is there when it opens it again.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static char name[64];
static int ready;

static void *makes(void *arg) {
    ready = 1;
    sem_t *s = sem_open(name, O_CREAT, 0600, 3);
    int value = 0;
    if (s == SEM_FAILED || sem_getvalue(s, &value) || value != 3) return "failed";
    // A second time, with a value that nobody wants any more.
    sem_t *again = sem_open(name, O_CREAT, 0600, 7);
    return again != s || sem_getvalue(again, &value) || value != 3 ? "failed" : arg;
}

static void *opens(void *arg) {
    while (sem_open(name, 0) == SEM_FAILED) usleep(100);
    return ready != 1 ? "failed" : arg;
}

int main(void) {
    snprintf(name, sizeof name, "/raddle-made-%d", (int)getpid());
    pthread_t a, b;
    void *first, *second;
    pthread_create(&a, 0, makes, 0);
    pthread_create(&b, 0, opens, 0);
    pthread_join(a, &first);
    pthread_join(b, &second);
    sem_unlink(name);
    return first || second;
}
