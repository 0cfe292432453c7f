// expect: assertion
//@ bound: 1
// 3 writers set a and then b, unlocked; a checker expects to see both or neither.
// Fails when: a writer sets a and is preempted; the checker reads a == 1, b == 0. The other 2 writers are in the way: once one of
// them is through, the checker sees nothing wrong.
#include <assert.h>
#include <pthread.h>

enum { WRITERS = 3 };
int a, b;

void *writer(void *arg) {
    a = 1;
    b = -1;
    return arg;
}

void *checker(void *arg) {
    int x = a, y = b;
    assert((x == 0 && y == 0) || (x == 1 && y == -1));  // expect: assertion here
    return arg;
}

int main(void) {
    pthread_t w[WRITERS], c;
    for (int i = 0; i < WRITERS; i++) pthread_create(&w[i], 0, writer, 0);
    pthread_create(&c, 0, checker, 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(w[i], 0);
    pthread_join(c, 0);
    return 0;
}
