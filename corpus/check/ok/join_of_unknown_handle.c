// Which thread is joined a function of another library knows. It is the second one.
#include <pthread.h>

extern pthread_t thread_of(int which);

static int first, second;

static void *one(void *arg) {
    first = 1;
    return arg;
}

static void *two(void *arg) {
    second = 1;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(thread_of(2), 0);
    int sum = second;
    pthread_join(thread_of(1), 0);
    return sum + first;
}
