// expect: nothing
// Two threads write to bit-fields that a field of no width keeps apart. `bit_fields_bad.c` is the
// twin.
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned first : 4, : 0, second : 4;
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
