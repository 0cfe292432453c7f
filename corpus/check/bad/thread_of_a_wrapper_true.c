// The twin whose wrapper returns true, too, but that writes beside the thread before it joins it.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

bool start_thread(pthread_t *thread, void *(*work)(void *), void *argument);

static pthread_t thread;
static int result;

static void *work(void *argument) {
    *(int *)argument = 1; // expect: data-race write #1
    return 0;
}

int main(void) {
    if (!start_thread(&thread, work, &result)) {
        perror("start_thread");
        return 1;
    }
    result = 2; // expect: data-race write #1
    pthread_join(thread, 0);
    return result;
}
