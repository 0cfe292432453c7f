// 6.3.3, notification: a plain flag tells another thread that work is done. A race on the flag, and one on what the
// flag was to protect: the compiler may keep either out of memory. Every mode reports both.
#include <pthread.h>
#include <unistd.h>

long done, result; // two words: each is a race of its own

void *waiter(void *arg) {
    while (!done)                                       // expect: data-race read #1
        usleep(1000);
    return (void *)(long)(result + (arg != 0));         // expect: data-race read #2
}

void *worker(void *arg) {
    usleep(20000); // so that the waiter has looked at least once
    result = 42;                                        // expect: data-race write #2
    done = 1;                                           // expect: data-race write #1
    return arg;
}

int main(void) {
    done = result = 0;
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
