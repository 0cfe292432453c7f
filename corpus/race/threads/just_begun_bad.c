// main returns as soon as it has started a thread: the thread gets to run before the process ends.
// expect(fast): anything
#include <pthread.h>

int shared;

void *work(void *arg) {
    shared = 1; // expect(hb hybrid): data-race write #1
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    shared = 2; // expect(hb hybrid): data-race write #1
    return 0;
}
