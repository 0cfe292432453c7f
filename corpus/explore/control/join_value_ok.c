// expect: nothing
// The value of a thread comes through join, by return and by pthread_exit from deep inside; a thread is joined by another one than
// its creator.
#include <assert.h>
#include <pthread.h>

int value[2] = {1, 2};
pthread_t second;

static void leave(int *with) {
    pthread_exit(with);
}

void *returns(void *arg) {
    return arg;
}

void *exits(void *arg) {
    leave(arg);
    return 0;
}

void *joins(void *arg) {
    void *got;
    assert(pthread_join(second, &got) == 0);
    assert(got == &value[1]);
    return arg;
}

int main(void) {
    pthread_t first, third;
    void *got;
    pthread_create(&first, 0, returns, &value[0]);
    pthread_create(&second, 0, exits, &value[1]);
    pthread_create(&third, 0, joins, 0);
    assert(pthread_join(first, &got) == 0 && got == &value[0]);
    assert(pthread_join(third, 0) == 0);
    return 0;
}
