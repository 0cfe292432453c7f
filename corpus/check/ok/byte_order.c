// The order of bytes is known: the variants for other machines are not built. Two names of a missing
// header are different.
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include "machine.h"

static int first;

#if MACHINE != MACHINE_OF_ONE_THREAD
static atomic_int second;
#else
static int second;
#endif

static void *work(void *data) {
#if BYTE_ORDER == BIG_ENDIAN || __BYTE_ORDER == __BIG_ENDIAN || BYTE_ORDER != __BYTE_ORDER__
    first++;
#endif
    second++;
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    first++;
    second++;
    pthread_join(t, 0);
    return first;
}
