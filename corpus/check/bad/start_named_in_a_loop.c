// As the correct program, but the second thread is still running when `total` is read.
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
        total++; // expect: data-race write #1
    return arg;
}

int main(void) {
    static const int count = 2;
    static char *given[2] = {0, "data"};
    unsigned long threads[count];
    int i, result;
    for (i = 0; i < count; i++) {
        result = my_thread_create(&threads[i], work, given[i]);
        ASSERT_EQ(0, result);
        if (threads[i] != 0)
            ;
        else
            test_fail();
    }
    my_thread_join(threads[0]);
    return total; // expect: data-race read #1
}
