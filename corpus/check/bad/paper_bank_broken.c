// Table 3, Bank Broken: three transfers in a circle, each holding the lock the last one needs.
#include <pthread.h>

struct account { int balance; pthread_mutex_t sync; };
static struct account accounts[3] = {
    { 100, PTHREAD_MUTEX_INITIALIZER }, { 100, PTHREAD_MUTEX_INITIALIZER }, { 100, PTHREAD_MUTEX_INITIALIZER },
};

static void deposit(struct account *a, int amount) {
    pthread_mutex_lock(&a->sync); // expect: deadlock #1
    a->balance += amount;
    pthread_mutex_unlock(&a->sync);
}

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->sync);
    from->balance -= amount;
    deposit(to, amount);
    pthread_mutex_unlock(&from->sync);
}

static void *t1(void *x) { transfer(&accounts[0], &accounts[1], 5); return x; }
static void *t2(void *x) { transfer(&accounts[1], &accounts[2], 5); return x; }
static void *t3(void *x) { transfer(&accounts[2], &accounts[0], 5); return x; }

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_create(&c, NULL, t3, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
