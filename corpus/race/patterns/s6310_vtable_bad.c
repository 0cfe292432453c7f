// 6.3.10 in C, with a table of functions by hand: `destroy` points the object at the base's table before it waits for
// the last user. Every mode reports the race on the table pointer.
#include <pthread.h>
#include <semaphore.h>

struct ops { void (*f)(void); };
static void base_f(void) {}
static void derived_f(void) {}
static const struct ops base_ops = {base_f}, derived_ops = {derived_f};

struct object { const struct ops *ops; sem_t done; } obj;

void *user(void *arg) {
    obj.ops->f();                                       // expect: data-race read #1
    sem_post(&obj.done);
    return arg;
}

void *destroyer(void *arg) {
    obj.ops = &base_ops;                                // expect: data-race write #1
    sem_wait(&obj.done);
    sem_destroy(&obj.done);
    return arg;
}

int main(void) {
    obj.ops = &derived_ops;
    sem_init(&obj.done, 0, 0);
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, destroyer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
