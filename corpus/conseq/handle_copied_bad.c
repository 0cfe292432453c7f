// expect: crash
// Closing a handle copies an empty one over it, between the look at it and its use.
#include <pthread.h>
#include <stdio.h>

struct handle { int *target; };

int value = 1;
struct handle slot = {&value};
struct handle empty;

void *use(void *arg) {
    if (slot.target) {
        puts("it is open");
        printf("%d\n", *slot.target);
    }
    return arg;
}

void *finish(void *arg) {
    slot = empty;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, finish, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
