// Which thread is joined a function of another library knows. The counter is read before any join,
// and the last thread is one that nobody joins.
#include <pthread.h>

extern pthread_t thread_of(int which);

static int first, second, last;

static void *one(void *arg) {
    first = 1;
    return arg;
}

static void *three(void *arg) {
    last = 1; // expect: data-race #2
    return arg;
}

static void *two(void *arg) {
    pthread_t c;
    second = 1; // expect: data-race #1
    pthread_create(&c, 0, three, 0);
    pthread_detach(c);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    int sum = second; // expect: data-race #1
    pthread_join(thread_of(2), 0);
    pthread_join(thread_of(1), 0);
    last = 2; // expect: data-race #2
    return sum + first;
}
