// Each of forty races that come from the same two lines is expected, and each is seen.
// expect(hb hybrid): nothing
// expect(fast): anything
#include <pthread.h>
#include "raddle/annotations.h"

int a[40 * 16];
int *p;

void *first(void *arg) {
    *p = 1;
    return arg;
}

void *second(void *arg) {
    *p = 2;
    return arg;
}

int main(void) {
    for (int i = 0; i < 40; i++) {
        pthread_t t[2];
        p = &a[i * 16];
        ANNOTATE_EXPECT_RACE(p, "wanted");
        pthread_create(&t[0], 0, first, 0);
        pthread_create(&t[1], 0, second, 0);
        pthread_join(t[0], 0);
        pthread_join(t[1], 0);
    }
    return 0;
}
