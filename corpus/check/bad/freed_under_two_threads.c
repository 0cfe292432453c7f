// Two threads use a block that is freed: a finding each, for either may be known or ignored alone.
#include <pthread.h>
#include <stdlib.h>

struct pair {
    int a, b;
};

static void *first(void *arg) {
    struct pair *pair = arg;
    pair->a = 1; // expect: data-race write #1
    return NULL;
}

static void *second(void *arg) {
    struct pair *pair = arg;
    pair->b = 1; // expect: data-race write #2
    return NULL;
}

int main(void) {
    struct pair *pair = malloc(sizeof *pair);
    pthread_t t, u;
    pthread_create(&t, NULL, first, pair);
    pthread_create(&u, NULL, second, pair);
    free(pair); // expect: data-race free #1, data-race free #2
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
