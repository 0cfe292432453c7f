// expect: nothing
// Two hundred threads one after the other, and threads that start threads: what a thread leaves behind is used again.
#include <assert.h>
#include <pthread.h>

int ran;

void *leaf(void *arg) {
    ran++;
    return arg;
}

void *tree(void *arg) {
    pthread_t t;
    pthread_create(&t, 0, leaf, 0);
    pthread_join(t, 0);
    return arg;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 200; i++) {
        pthread_create(&t, 0, i % 10 ? leaf : tree, 0);
        pthread_join(t, 0);
    }
    assert(ran == 200);
    return 0;
}
