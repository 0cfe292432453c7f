// The counter of an event says that the value is there.
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event;
static int value;

static void *producer(void *arg) {
    uint64_t one = 1;
    value = 42;
    write(event, &one, sizeof one);
    return NULL;
}

int main(void) {
    pthread_t t;
    uint64_t n;
    event = eventfd(0, 0);
    pthread_create(&t, NULL, producer, NULL);
    int got = 0;
    if (read(event, &n, sizeof n) == sizeof n)
        got = value;
    pthread_join(t, NULL);
    return got;
}
