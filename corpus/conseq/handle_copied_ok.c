// expect: nothing
// The twin of handle_copied_bad.c: a lock keeps the look and the use together.
#include <pthread.h>
#include <stdio.h>

struct handle { int *target; };

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int value = 1;
struct handle slot = {&value};
struct handle empty;

void *use(void *arg) {
    pthread_mutex_lock(&m);
    if (slot.target) {
        puts("it is open");
        printf("%d\n", *slot.target);
    }
    pthread_mutex_unlock(&m);
    return arg;
}

void *finish(void *arg) {
    pthread_mutex_lock(&m);
    slot = empty;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, finish, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
