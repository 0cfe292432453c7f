// expect: nothing
// `strtok_r` keeps where it was for its caller.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *splits(void *arg) {
    char *text = arg;
    char *rest, *first = strtok_r(text, " ", &rest), *second = strtok_r(0, " ", &rest);
    assert(first && second && second[0] == first[0]);
    return arg;
}

int main(void) {
    char one[] = "a1 a2", two[] = "b1 b2";
    pthread_t a, b;
    pthread_create(&a, 0, splits, one);
    pthread_create(&b, 0, splits, two);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
