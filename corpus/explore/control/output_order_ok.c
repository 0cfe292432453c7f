// expect: nothing
//@ monitors: output
// The threads run in any order, and what they found is printed in one.
#include <pthread.h>
#include <stdio.h>

void *counts(void *arg) {
    return (char *)arg + 1;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, counts, (void *)i);
    printf("begun\n");
    for (int i = 0; i < 3; i++) {
        void *got;
        pthread_join(t[i], &got);
        printf("%ld\n", (long)got);
    }
    return 0;
}
