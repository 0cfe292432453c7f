// expect: nothing
// A thread gives out the address of a variable of its own, and waits until it has been used.
#include <pthread.h>
#include <semaphore.h>

static int *place;
static sem_t lent, returned;

static void *lender(void *arg)
{
    int mine = 0;
    place = &mine;
    sem_post(&lent);
    sem_wait(&returned);
    return mine == 1 ? arg : 0;
}

static void *borrower(void *arg)
{
    sem_wait(&lent);
    *place = 1;
    sem_post(&returned);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    void *result;
    sem_init(&lent, 0, 0);
    sem_init(&returned, 0, 0);
    pthread_create(&a, 0, lender, &lent);
    pthread_create(&b, 0, borrower, 0);
    pthread_join(a, &result);
    pthread_join(b, 0);
    return result != &lent;
}
