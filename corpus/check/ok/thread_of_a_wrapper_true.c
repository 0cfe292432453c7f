// Wrappers that nobody defines here and that return true, or anything but 0, for success. The way
// of a failed start is not taken beside the thread.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

bool start_thread(pthread_t *thread, void *(*work)(void *), void *argument);
int worker_thread_create(pthread_t *thread, void *(*work)(void *), void *argument);
void worker_thread_join(pthread_t thread);

static pthread_t first, second, third;
static int results[3];

static void *work(void *argument) {
    *(int *)argument = 1;
    return 0;
}

static int start_second(void) {
    if (!worker_thread_create(&second, work, &results[1])) {
        fprintf(stderr, "no thread\n");
        perror("worker_thread_create");
        results[1] = -1;
        return -1;
    }
    return 0;
}

int main(void) {
    bool is_started = start_thread(&first, work, &results[0]);
    if (!is_started)
        results[0] = -1;
    else
        pthread_join(first, 0);
    if (start_second() == 0)
        pthread_join(second, 0);
    if (worker_thread_create(&third, work, &results[2]))
        pthread_join(third, 0);
    return results[0] + results[1] + results[2];
}
