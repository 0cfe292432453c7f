// expect: nothing
// Bit-fields on both sides of a zero width lie in words of their own.
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned closing : 1;
    unsigned : 0;
    unsigned failed : 1;
} state;

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
    assert(state.closing && state.failed);
    return 0;
}
