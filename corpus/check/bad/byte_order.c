// The order of bytes is known, and so the variant that is built, in each way to ask for it. Two names
// of a missing header are different.
#include <endian.h>
#include <pthread.h>
#include "machine.h"

static int first, second, third;

static void *work(void *data) {
#if BYTE_ORDER == LITTLE_ENDIAN
    first++; // expect: data-race #1
#elif BYTE_ORDER == BIG_ENDIAN
    __atomic_fetch_add(&first, 2, __ATOMIC_SEQ_CST);
#endif
#if __BYTE_ORDER == __LITTLE_ENDIAN
    second++; // expect: data-race #2
#elif __BYTE_ORDER == __BIG_ENDIAN
    __atomic_fetch_add(&second, 2, __ATOMIC_SEQ_CST);
#endif
#if MACHINE != MACHINE_OF_ONE_THREAD
    third++; // expect: data-race #3
#endif
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    first++; // expect: data-race #1
    second++; // expect: data-race #2
    third++; // expect: data-race #3
    pthread_join(t, 0);
    return 0;
}
