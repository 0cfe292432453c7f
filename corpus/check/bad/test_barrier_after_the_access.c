// As test_barrier_of_a_set_up.c, but the thread reads before it comes to the barrier.
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
    if (!expected) // expect: data-race read #1
        return 0;
    pthread_barrier_wait(&barrier);
    return arg;
}

static void test_client(void **state)
{
    pthread_t id;
    pthread_create(&id, 0, client, 0);
    expected = 1; // expect: data-race write #1
    pthread_barrier_wait(&barrier);
    pthread_join(id, 0);
}

int main(void)
{
    return run_tests(set_up, test_client);
}
