// expect: nothing
// A stack whose push and pop are locked.
#include <assert.h>
#include <pthread.h>

enum { DEPTH = 4 };
int item[DEPTH];
int depth;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void push(int value) {
    pthread_mutex_lock(&mu);
    item[depth] = value;
    depth++;
    pthread_mutex_unlock(&mu);
}

static int pop(void) {
    pthread_mutex_lock(&mu);
    int value = item[--depth];
    pthread_mutex_unlock(&mu);
    return value;
}

void *pusher(void *arg) {
    push(3);
    return arg;
}

void *popper(void *arg) {
    int value = pop();
    assert(value == 2 || value == 3);
    return arg;
}

int main(void) {
    push(1);
    push(2);
    pthread_t a, b;
    pthread_create(&a, 0, pusher, 0);
    pthread_create(&b, 0, popper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(depth == 2);
    return 0;
}
