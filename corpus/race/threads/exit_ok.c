// pthread_exit from deep inside, with cleanup handlers: all of it happens before the return from pthread_join. Also the
// main thread leaves by pthread_exit, and the last thread ends the process.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

int cleaned[4];

static void clean(void *arg) { *(int *)arg += 1; }

static void inner(int *slot) {
    pthread_cleanup_push(clean, slot);
    pthread_exit(slot);
    pthread_cleanup_pop(0);
}

static void outer(int *slot) {
    pthread_cleanup_push(clean, slot);
    inner(slot);
    pthread_cleanup_pop(0);
}

void *work(void *arg) {
    outer(arg);
    return 0;
}

void *last(void *arg) {
    pthread_t *others = arg;
    for (int i = 0; i < 4; i++) {
        void *slot;
        pthread_join(others[i], &slot);
        if (*(int *)slot != 2) abort();
    }
    exit(0);
}

int main(void) {
    static pthread_t t[4], end;
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, &cleaned[i]);
    pthread_create(&end, 0, last, t);
    pthread_exit(0);
}
