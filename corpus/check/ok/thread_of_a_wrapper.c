// A function that nobody defines here starts a thread as pthread_create does: it leaves a handle
// behind its first argument and returns 0. The way of a failed start is not taken beside the thread.
#include <pthread.h>

int start_worker_thread(pthread_t *thread, void *(*work)(void *), void *argument, const char *name);

static pthread_t worker;
static int is_running, result;

static void *work(void *argument) {
    if (is_running)
        result = *(int *)argument;
    return 0;
}

int main(void) {
    static int input = 7;
    is_running = 1;
    if (start_worker_thread(&worker, work, &input, "worker") != 0) {
        is_running = 0;
        result = -1;
        return 1;
    }
    pthread_join(worker, 0);
    return result;
}
