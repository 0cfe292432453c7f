// expect: nothing
// Attributes and names: a stack of one's own, its size, the name, the identity of a thread.
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char stack[1 << 18] __attribute__((aligned(4096)));
pid_t ids[2];

void *on_own_stack(void *arg) {
    char here;
    assert(&here > stack && &here < stack + sizeof stack);
    pthread_setname_np(pthread_self(), "weaver");
    ids[0] = gettid();
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof name);
    assert(strcmp(name, "weaver") == 0);
    return arg;
}

void *deep(void *arg) {
    volatile char room[1 << 20];
    room[0] = room[sizeof room - 1] = 1;
    ids[1] = gettid();
    return room[0] ? arg : 0;
}

int main(void) {
    pthread_attr_t own, large;
    pthread_attr_init(&own);
    pthread_attr_init(&large);
    assert(pthread_attr_setstack(&own, stack, sizeof stack) == 0);
    assert(pthread_attr_setstacksize(&large, 4 << 20) == 0);
    pthread_t a, b;
    assert(pthread_create(&a, &own, on_own_stack, 0) == 0);
    assert(pthread_create(&b, &large, deep, 0) == 0);
    assert(!pthread_equal(a, b));
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(ids[0] != ids[1] && ids[0] != gettid() && ids[0] > 0);
    return 0;
}
