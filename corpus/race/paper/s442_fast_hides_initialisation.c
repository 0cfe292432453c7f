// 4.4.2: fast ignores a cache line until a second thread touches it. The creator fills an object and hands it
// over under a lock, once: a false report in hybrid (the code is correct), none in fast, since the creator's
// accesses were ignored and the user's is the first to be recorded. hb is silent because of the lock.
// expect(hb fast): nothing
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct object { int value; char rest_of_line[60]; };
struct object *published;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *creator(void *arg) {
    struct object *o = aligned_alloc(64, sizeof *o);    // expect(hybrid): data-race write #1 | allocate #1
    o->value = 42;                                      // expect(hybrid): data-race write #1
    pthread_mutex_lock(&mu);
    published = o;
    pthread_mutex_unlock(&mu);
    return arg;
}

void *user(void *arg) {
    struct object *o = 0;
    while (!o) {
        usleep(100);
        pthread_mutex_lock(&mu);
        o = published;
        pthread_mutex_unlock(&mu);
    }
    return (void *)(long)(o->value + (arg != 0));       // expect(hybrid): data-race read #1
}

int main(void) {
    pthread_t a, b;
    void *value;
    pthread_create(&a, 0, creator, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, &value);
    free(published);
    return (long)value != 42;
}
