// expect: use-after-free
//@ bound: 0
// A thread gives out the address of a variable of its own, and does not wait until it is used.
// Fails when: it ends before the other writes to the variable.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) place;

static void *lender(void *arg)
{
    volatile int mine = 0;
    place = (int *)&mine;
    return arg;
}

static void *borrower(void *arg)
{
    int *p = place;
    if (p) *p = 1;                                      // expect: use-after-free here
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, lender, 0);
    pthread_create(&b, 0, borrower, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
