// expect: assertion
//@ bound: 0
// Two threads write one byte each; the reader takes it for granted that A comes first.
// Fails when: B runs first.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

int ends[2];

void *writer(void *arg) {
    assert(write(ends[1], arg, 1) == 1);
    return 0;
}

int main(void) {
    assert(pipe(ends) == 0);
    pthread_t a, b;
    pthread_create(&a, 0, writer, "A");
    pthread_create(&b, 0, writer, "B");
    char got[2];
    assert(read(ends[0], &got[0], 1) == 1 && read(ends[0], &got[1], 1) == 1);
    assert(got[0] == 'A' && got[1] == 'B');             // expect: assertion here
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
