// A test framework calls the set-up, which initialises the barrier, and then the test.
#include <pthread.h>

extern int run_tests(int (*set_up)(void), void (*test)(void **));

static pthread_barrier_t barrier;
static int expected;

static int set_up(void)
{
    return pthread_barrier_init(&barrier, 0, 2);
}

static void *client(void *arg)
{
    pthread_barrier_wait(&barrier);
    return expected ? arg : 0;
}

static void test_client(void **state)
{
    pthread_t id;
    pthread_create(&id, 0, client, 0);
    expected = 1;
    pthread_barrier_wait(&barrier);
    pthread_join(id, 0);
}

int main(void)
{
    return run_tests(set_up, test_client);
}
