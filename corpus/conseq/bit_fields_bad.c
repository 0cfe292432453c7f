// expect: assertion
// Two threads write to bit-fields that share a byte. Each write reads the byte first, so one can undo
// the other.
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned first : 4, second : 4;
} fields;

static void *sets_first(void *arg) {
    fields.first = 5;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, sets_first, 0);
    fields.second = 3;
    pthread_join(t, 0);
    assert(fields.first == 5 && fields.second == 3);
    return 0;
}
