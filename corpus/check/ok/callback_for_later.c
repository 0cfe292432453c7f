// Threads hand a callback to a library, which calls it later, on a thread of its own.
#include <pthread.h>
#include <stddef.h>

struct callback;
void callback_init(struct callback **callback, void (*function)(void *), void *data);
void callback_schedule(struct callback *callback);

static unsigned calls;

static void called(void *data) {
    calls += 1;
}

static void *work(void *data) {
    struct callback *callback = NULL;
    callback_init(&callback, called, NULL);
    callback_schedule(callback);
    return data;
}

void run(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
