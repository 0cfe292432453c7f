// expect: nothing
// An eventfd as a counter and as a semaphore.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int counter, permits;

void *adds(void *arg) {
    assert(eventfd_write(counter, 3) == 0);
    assert(eventfd_write(permits, 2) == 0);
    return arg;
}

void *takes(void *arg) {
    eventfd_t value;
    assert(eventfd_read(permits, &value) == 0 && value == 1);
    return arg;
}

int main(void) {
    counter = eventfd(0, EFD_CLOEXEC);
    permits = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    pthread_t a, b, c;
    pthread_create(&b, 0, takes, 0);
    pthread_create(&c, 0, takes, 0);
    pthread_create(&a, 0, adds, 0);
    eventfd_t value;
    assert(eventfd_read(counter, &value) == 0 && value == 3);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    int empty = eventfd(0, EFD_NONBLOCK);
    assert(eventfd_read(empty, &value) == -1 && errno == EAGAIN);
    return 0;
}
