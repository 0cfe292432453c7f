// expect: assertion
//@ bound: 1
// Neighbouring bit-fields share a word: to write one is to read and write the other.
// Fails when: one thread reads the word, the other writes its bit, and the first writes the word.
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned open : 1, closing : 1, failed : 1;
} state = {1, 0, 0};

static void *closes(void *arg) {
    state.closing = 1;
    return arg;
}

static void *fails(void *arg) {
    state.failed = 1;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, closes, 0);
    pthread_create(&b, 0, fails, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(state.open && state.closing && state.failed); // expect: assertion here
    return 0;
}
