// Nobody declares the functions for threads, and the type of the handles stands in a header that is
// missing. An element of the array has room for a handle, so the starts return 0 and are joined.
#include "compat.h"

static int total;

static void test_fail(void) {
    total = -1;
}

#define ASSERT_EQ(a, b)                                                                            \
    do {                                                                                           \
        unsigned long x = (a), y = (b);                                                            \
        if (x == y)                                                                                \
            ;                                                                                      \
        else                                                                                       \
            test_fail();                                                                           \
    } while (0)

static void *work(void *arg) {
    if (arg)
        total++;
    return arg;
}

int main(void) {
    static const int count = 2;
    static char *given[2] = {0, "data"};
    compat_thread threads[count];
    int i, result;
    for (i = 0; i < count; i++) {
        result = compat_thread_create(&threads[i], work, given[i]);
        ASSERT_EQ(0, result);
    }
    for (i = 0; i < count; i++) {
        result = compat_thread_join(threads[i]);
        ASSERT_EQ(0, result);
    }
    return total;
}
