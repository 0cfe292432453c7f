// expect: assertion
//@ bound: 1
// A parallel quicksort: a thread that splits its part hands one half to an idle helper. Whether the helper is idle is asked without
// the lock and taken for granted under it.
// Fails when: two sorters see the helper idle; both hand it their half; the second overwrites the first, which stays unsorted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int number[8] = {4, 1, 3, 2, 8, 5, 7, 6};
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
atomic_int busy;
int *task, closed; // two numbers to put in order

static void sort2(int *n) {
    int low = n[0] < n[1] ? n[0] : n[1], high = n[0] < n[1] ? n[1] : n[0];
    n[0] = low, n[1] = high;
}

static void sort4(int *n) {
    for (int i = 0; i < 2; i++) // split: the lower two to the left
        for (int j = i + 1; j < 4; j++)
            if (n[j] < n[i]) n[i] ^= n[j], n[j] ^= n[i], n[i] ^= n[j];
    int idle = !atomic_load(&busy);
    pthread_mutex_lock(&mu);
    if (idle) {
        atomic_store(&busy, 1);
        task = n + 2;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mu);
    if (!idle) sort2(n + 2);
}

void *helper(void *arg) {
    pthread_mutex_lock(&mu);
    for (;;) {
        while (!task && !closed) pthread_cond_wait(&changed, &mu);
        if (!task) break;
        sort2(task);
        task = 0;
        atomic_store(&busy, 0);
    }
    pthread_mutex_unlock(&mu);
    return arg;
}

void *sorter(void *arg) {
    sort4(arg);
    return 0;
}

int main(void) {
    pthread_t h, a, b;
    pthread_create(&h, 0, helper, 0);
    pthread_create(&a, 0, sorter, number);
    pthread_create(&b, 0, sorter, number + 4);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_mutex_lock(&mu);
    closed = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mu);
    pthread_join(h, 0);
    for (int i = 0; i + 1 < 8; i++) assert(number[i] < number[i + 1]); // expect: assertion here
    return 0;
}
