// expect: assertion
// `strtok` keeps where it was, one place for all threads.
// Fails when: the other thread begins with its text between the two calls of one.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *splits(void *arg) {
    char *text = arg;
    char *first = strtok(text, " "), *second = strtok(0, " ");
    assert(first && second && second[0] == first[0]);   // expect: assertion here
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
