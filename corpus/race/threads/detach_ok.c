// Detached threads report through a semaphore, an arc in every mode. Their stacks are reused by later threads, which must
// not look like races between the old and the new owner.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

sem_t done;
int results[200];

void *work(void *arg) {
    char scratch[2000]; // on the stack, at the same address as some earlier thread's
    memset(scratch, (int)(long)arg, sizeof scratch);
    results[(long)arg] = scratch[999] + 1;
    sem_post(&done);
    return 0;
}

int main(void) {
    sem_init(&done, 0, 0);
    for (long i = 0; i < 100; i++) {
        pthread_t t;
        pthread_create(&t, 0, work, (void *)i);
        pthread_detach(t);
        if (i % 3 == 0) sem_wait(&done);
    }
    for (int i = 0; i < 66; i++) sem_wait(&done);
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += results[i];
    return sum != 100 * 101 / 2;
}
