// 6.3.4 in C: a configuration is published through a plain pointer. Every mode reports the pointer; main allocated and
// first wrote the configuration, so every mode reports its content too.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct config { int limit; };
struct config *current, *spare;

void *publisher(void *arg) {
    usleep(20000);
    spare->limit = 10;                                  // expect: data-race write #2
    current = spare;                                    // expect: data-race write #1
    return arg;
}

void *user(void *arg) {
    struct config *c;
    while (!(c = current))                              // expect: data-race read #1
        usleep(1000);
    return (void *)(long)(c->limit + (arg != 0));       // expect: data-race read #2
}

int main(void) {
    current = 0;
    spare = malloc(sizeof *spare);
    spare->limit = 0;
    pthread_t a, b;
    pthread_create(&a, 0, publisher, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(spare);
    return 0;
}
