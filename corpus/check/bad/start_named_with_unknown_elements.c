// Nobody declares the functions for threads, and the type of the handles stands in a header that is
// missing. The threads race with each other and with `main`, which reads before it joins them.
#include "compat.h"

static int total;

static void test_fail(void) {
    compat_log("failed");
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
    total++; // expect: data-race #1
    return arg;
}

int main(void) {
    static const int count = 2;
    compat_thread threads[count];
    int i, result, early;
    for (i = 0; i < count; i++) {
        result = compat_thread_create(&threads[i], work, "data");
        ASSERT_EQ(0, result);
    }
    early = total; // expect: data-race #1
    for (i = 0; i < count; i++) {
        result = compat_thread_join(threads[i]);
        ASSERT_EQ(0, result);
    }
    return early;
}
