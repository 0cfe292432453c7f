// A bit-field shares its memory location with the bit-fields beside it, not with a byte, nor past one of width zero.
#include <pthread.h>

static struct {
    unsigned char byte;
    unsigned bit : 1;
    unsigned char : 0;
    unsigned other : 1;
} s;

static void *worker(void *arg) {
    s.bit = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    s.byte = 1;
    s.other = 1;
    pthread_join(t, NULL);
    return s.bit;
}
