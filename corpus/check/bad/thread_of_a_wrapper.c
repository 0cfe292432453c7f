// The twin that joins only after it has read: the thread of the wrapper still runs.
#include <pthread.h>

int start_worker_thread(pthread_t *thread, void *(*work)(void *), void *argument, const char *name);

static pthread_t worker;
static int result;

static void *work(void *argument) {
    result = *(int *)argument; // expect: data-race #1
    return 0;
}

int main(void) {
    static int input = 7;
    if (start_worker_thread(&worker, work, &input, "worker") != 0)
        return 1;
    int early = result; // expect: data-race #1
    pthread_join(worker, 0);
    return early;
}
