// Functions that nobody defines get the address of a first member that is a record, and that of an
// array at the end. The one may know the whole object, the other how long the array is: both set
// what decides whether a thread is started.
#include <pthread.h>
#include <stdlib.h>

struct stream {
    int fd;
};

struct connection {
    struct stream base;
    int is_open;
    int count;
    int rest;
    char items[];
};

static struct connection *c;
static int total;

static void *work(void *arg) {
    c->count++; // expect: data-race #1
    total++;    // expect: data-race #2
    return arg;
}

int main(void) {
    pthread_t t;
    c = calloc(1, sizeof *c + 16);
    stream_open(&c->base);
    if (c->is_open) {
        pthread_create(&t, NULL, work, NULL);
        c->count++; // expect: data-race #1
        pthread_join(t, NULL);
    }
    stream_fill(c->items);
    if (c->items[7]) {
        pthread_create(&t, NULL, work, NULL);
        total++; // expect: data-race #2
        pthread_join(t, NULL);
    }
    return 0;
}
